"""The CPUs of server and load, as they are named on the command line."""

import json
import os

import pytest

from lab.bench.trials import cores
from lab.bench.trials.cores import assign_cores, parse_cores
from lab.errors import UsageError
from tests.kit.lab_process import SMALL, compare, trials

HERE = sorted(os.sched_getaffinity(0))


@pytest.fixture
def _four(monkeypatch):
    """This process may use CPUs 0, 1, 2 and 5."""
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda _pid: {0, 1, 2, 5})


@pytest.mark.usefixtures("_four")
@pytest.mark.parametrize(
    ("server", "generator", "found"),
    [
        (None, None, None),
        ("0,1", None, ((0, 1), (2, 5))),
        (None, "1-2", ((0, 5), (1, 2))),
        ("5,0-1", "2", ((0, 1, 5), (2,))),
        ("0,1", "1", ((0, 1), (1,))),
        ("2", "2", ((2,), (2,))),
    ],
)
def test_the_side_that_is_not_named_gets_the_rest(server, generator, found):
    """Both named may have CPUs in common."""
    assert parse_cores(server, generator, pin=True) == found


@pytest.mark.usefixtures("_four")
@pytest.mark.parametrize(
    ("server", "generator", "pin", "problem"),
    [
        ("0,3", None, True, "--server-cores 0,3: no CPU 3 here; there are 0-2,5"),
        (None, "x", True, "--generator-cores x: no list of CPUs; write 0,2-3"),
        ("0-", None, True, "--server-cores 0-: no list of CPUs"),
        ("2-1", None, True, "--server-cores 2-1: no list of CPUs"),
        ("0-2,5", None, True, "--server-cores 0-2,5: no CPU is left; name both"),
        ("0", "1", False, "--server-cores 0 --generator-cores 1 --no-pin: say one of them"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_line(server, generator, pin, problem):
    """With what to write instead."""
    with pytest.raises(UsageError) as caught:
        parse_cores(server, generator, pin=pin)
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


def test_servers_count_the_cores_that_they_were_given(monkeypatch):
    """Those of the load are not theirs; two workers at the least."""
    for named, processes in ((((0, 1, 2), (5,)), "3"), (((0,), (1,)), "2")):
        monkeypatch.delenv("PROCESSES", raising=False)
        assert assign_cores(named) == named
        assert os.environ["PROCESSES"] == processes


@pytest.mark.slow
@pytest.mark.skipif(len(HERE) < 2, reason="a server on two cores needs two")
def test_a_server_on_all_cores_with_the_load_on_one_of_them(tmp_path):
    """The run, its trials and its report have the arrangement; a gate says what it withholds."""
    both, one = f"{HERE[0]},{HERE[1]}", str(HERE[1])
    named = ("--server-cores", both, "--generator-cores", one)
    done = compare("lab", "run", "tuned", *SMALL, *named, "--no-confirm", cwd=tmp_path)
    (folder,) = tmp_path.glob("results/*")
    plan = json.loads((folder / "run.json").read_text())["plan"]
    assert cores.parse_cpu_list(plan["server_cores"]) == set(HERE[:2])
    assert plan["generator_cores"] == one
    for trial in trials(tmp_path):
        seen = trial["readings"]
        assert (seen["server.cores"], seen["cores.shared"]) == (2, 1)
    assert f"load on {one}, shared cores" in " ".join(done.stdout.split())
    assert "shared cores (tuned " in done.stdout
