"""Several servers at once, loaded in turns: the order of events, and a trial of several turns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.bench.trials.plan import validate
from lab.bench.trials.runner import Silent, run
from lab.bench.trials.turns import joined_readings, joined_windows
from lab.errors import GeneratorError, UsageError
from lab.model.backing import BackingRole, BackingService
from lab.model.measurement import Answers, Failure
from lab.model.plan import Load
from tests.kit import builders
from tests.kit.lab_process import compare, trials
from tests.kit.scripted import Script, plan

REDIS = BackingService(
    summary="A store", role=BackingRole.BACKEND, run=(), ready="http", name="redis"
)


def in_turns(*names, turns=3, blocks=1):
    """Return a plan of windows of 3 s."""
    return replace(plan(*names, blocks=blocks), turns=turns)


def test_all_servers_are_started_before_the_first_window():
    """A block of two profiles has three trials, with three windows of a second each."""
    script = Script()
    run(in_turns("a", "b"), script.parts(), script)
    events = [event.split()[0] for event in script.events if event.startswith(("start", "window"))]
    assert events == ["start"] * 3 + ["window"] * 9
    assert {event for event in script.events if event.startswith("window")} == {"window 1.0 s"}
    assert [trial.total("ok") for trial in script.trials] == [3 * builders.window().ok] * 3


def test_only_the_server_whose_turn_it_is_is_loaded():
    """The load of all others has ended, and each turn begins with load that is not measured."""
    script = Script()
    run(in_turns("a", "b"), script.parts(), script)
    loads = [e for e in script.events if e.startswith(("warm-up", "window", "pause"))]
    turn = ["warm-up 0.25 s, 0 requests", "window 1.0 s", "pause"]
    assert loads == ["warm-up 0.5 s, 400 requests", "pause"] * 3 + turn * 9


def test_a_server_that_does_not_start_leaves_the_others_their_turns():
    """Its trial fails, and no other."""
    script = Script(broken=["b"])
    run(in_turns("a", "b", "c"), script.parts(), script)
    failed = {trial.slot.arm.name: trial.failed for trial in script.trials}
    assert failed == {"a": None, "b": Failure.SERVER, "c": None}


def test_a_load_that_was_given_up_in_one_turn_leaves_the_others_theirs():
    """What was measured of it before is no trial."""
    script = Script()
    measure, calls = script.measure, []

    def breaks(seconds):
        calls.append(seconds)
        if len(calls) == 2:
            raise GeneratorError("it broke")
        return measure(seconds)

    script.measure = breaks
    run(in_turns("a", "b"), script.parts(), script)
    assert sorted(str(trial.failure) for trial in script.trials) == [
        "None",
        "None",
        "the load was given up: it broke",
    ]


def test_what_was_disturbed_is_not_repeated():
    """It would be alone then, at another time than those that it is compared with."""
    script = Script()
    parts = replace(script.parts(), judge=lambda _trial: ["disturbed"], again=bool)
    run(in_turns("a", "b", "c"), parts, Silent())
    assert [trial.attempt for trial in script.trials] == [0] * 4


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"turns": 13}, "--turns 13: at most 12 in a window of 3 s"),
        ({"backing": (REDIS,)}, "all servers at once would share redis; leave it out"),
        ({"load": Load(requests=100)}, "--turns is for a load that lasts"),
        ({"load": Load(rate=100.0)}, "--turns is for a load that lasts"),
    ],
)
def test_turns_that_cannot_be_measured_are_refused(changed, problem):
    """Too short ones, and those of a load that cannot be interrupted."""
    load = changed.pop("load", Load())
    refused = replace(in_turns("a"), **changed)
    arms = tuple(replace(arm, load=load) for arm in refused.arms)
    with pytest.raises(UsageError, match=problem):
        validate(replace(refused, arms=arms))


def test_windows_of_a_process_add_up():
    """What one engine counted in two turns is one window."""
    first = {100: 10}
    one = builders.window(ok=10, wall=1.0, errors={"reset": 1}, latency=first, replies=(4, 6))
    one = replace(one, requests=(Answers({100: 10}, {}),), rtt=0.002)
    two = builders.window(
        ok=5, wall=0.5, errors={"reset": 2}, latency={100: 2, 200: 3}, replies=(5, 0)
    )
    two = replace(two, requests=(Answers({100: 2}, {"status": 1}),), rtt=0.001, sample="reset: x")
    (joined,) = joined_windows([[one], [two]])
    assert (joined.ok, joined.wall, joined.errors) == (15, 1.5, {"reset": 3})
    assert (joined.latency, joined.replies) == ({100: 12, 200: 3}, (9, 6))
    assert joined.requests == (Answers({100: 12}, {"status": 1}),)
    assert (joined.rtt, joined.sample) == (0.001, "reset: x")


def test_readings_are_sums_or_means_or_the_last_ones():
    """A mean is weighted by the time, and is over the turns that have it."""
    turns = [
        {"elapsed": 1.0, "server.cpu_user": 0.5, "machine.idle": 1.0, "server.processes": 2.0},
        {"elapsed": 3.0, "server.cpu_user": 0.7, "machine.idle": 0.0, "server.processes": 3.0},
        {"elapsed": 1.0, "pressure.cpu_some": 0.5},
    ]
    assert joined_readings(turns) == pytest.approx(
        {
            "elapsed": 5.0,
            "server.cpu_user": 1.2,
            "machine.idle": 0.25,
            "server.processes": 3.0,
            "pressure.cpu_some": 0.5,
        }
    )


def test_real_servers_take_turns(tmp_path):
    """Each has its whole window, and no request is lost between two turns."""
    sizes = ("--blocks", "1", "--window", "3", "--warmup", "0.1", "--connections", "64")
    done = compare("lab", "run", "one-thread", "tuned", "--turns", "12", *sizes, cwd=tmp_path)
    made = trials(tmp_path)
    assert len(made) == 3
    for trial in made:
        (window,) = trial["windows"]
        assert window["wall"] >= 3
        assert window["ok"]
        assert window["errors"] == {}
        assert trial["readings"]["elapsed"] >= window["wall"]
    assert "of 3 s in 12 turns" in done.stdout
