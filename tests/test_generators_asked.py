"""How many processes of the engine make the load, and on which CPUs: what is asked, and said."""

from __future__ import annotations

import os

import pytest

from lab.bench.trials.announcement import announcement
from lab.bench.trials.conduct import PreparedRun
from lab.bench.trials.cores import count_generators
from lab.errors import UsageError
from tests.kit.lab_process import SMALL, compare, header, trials
from tests.kit.scripted import plan

EIGHT = ((0, 1, 2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize(
    ("wanted", "connections", "cores", "words"),
    [
        (0, 64, EIGHT, "--generators 0: at least one process"),
        (5, 64, EIGHT, "--generators 5: .* the generator has 4 here; --no-pin"),
        (3, 2, EIGHT, "--generators 3: .* a connection of the load's 2"),
        (10_000, 20_000, None, "--generators 10000: each process needs a CPU"),
    ],
)
def test_more_than_there_is_room_for_are_refused(wanted, connections, cores, words):
    """Each needs a CPU and a connection; the message says what there is."""
    with pytest.raises(UsageError, match=words):
        count_generators(wanted, connections, cores)


@pytest.mark.parametrize(("wanted", "connections"), [(1, 1), (1, 64), (4, 4), (4, 64)])
def test_as_many_as_there_is_room_for_are_taken(wanted, connections):
    """Down to a connection each."""
    assert count_generators(wanted, connections, EIGHT) == wanted


AS_ROOT = "as root, the server can have both (--server-share)"


@pytest.mark.parametrize(
    ("cores", "generators", "said"),
    [
        (
            ((0,), (1,)),
            1,
            f"CPUs: server on 0, load generator on 1; {AS_ROOT}",
        ),
        (EIGHT, 1, "CPUs: server on 0-3, load generator on 4-7"),
        (EIGHT, 2, "CPUs: server on 0-3, 2 load generators on 4-5 and 6-7"),
        (
            ((0, 4, 1, 5), (2, 6, 3, 7)),
            2,
            "CPUs: server on 0-1,4-5, 2 load generators on 2,6 and 3,7",
        ),
        (None, 2, "CPUs: server and 2 load generators on any CPU"),
    ],
)
def test_who_runs_where_is_said_before_the_run(cores, generators, said):
    """The server's CPUs, and those of each process that makes the load."""
    assert said in announcement(PreparedRun(plan("a"), {}, 10.0, cores, generators))


@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two processes need two CPUs")
def test_two_generators_load_a_server(tmp_path):
    """The run says that there were two, and every trial has the window of each."""
    command = ("lab", "run", "tuned", *SMALL, "--no-pin", "--generators", "2", "--no-confirm")
    done = compare(*command, cwd=tmp_path)
    assert "CPUs: server and 2 load generators on any CPU" in done.stderr
    assert "generator: engine x2" in done.stdout
    assert header(tmp_path)["generator"] == "engine x2"
    for trial in trials(tmp_path):
        assert [len(window["replies"]) for window in trial["windows"]] == [32, 32]
        assert all(window["ok"] > 0 for window in trial["windows"])
