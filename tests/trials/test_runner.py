"""The runner, with scripted parts: the order of events is compared as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.bench.trials.replies import capture
from lab.bench.trials.runner import run, run_trial
from lab.bench.trials.schedule import Pilot
from lab.errors import GeneratorError, LoadGivenUpError, UsageError
from lab.model.plan import Better, CounterRun, Load, Role, Slot
from lab.model.request import Expectation
from lab.model.workload import Wire
from tests.kit.scripted import Script, arm, plan


def test_a_trial_happens_in_this_order():
    """Server, warm-up, probes, window, probes in reverse, stop: nothing else, nothing sooner."""
    script = Script()
    run_trial(plan("a"), Slot(0, 0, arm("a")), 0, script.parts(), script)
    assert "\n".join(script.events) == (
        "start a on (1,)\n"
        "session 9 on (0,)\n"
        "warm-up 0.5 s, 400 requests\n"
        "outer probe starts on 42\n"
        "inner probe starts on 42\n"
        "window 3.0 s\n"
        "inner probe stops\n"
        "outer probe stops\n"
        "session ends\n"
        "stop"
    )


def test_every_block_runs_each_profile_once_and_the_reference_twice():
    """Three profiles make four trials a block, in an order that the seed fixes."""
    scripts = [Script(), Script()]
    for script in scripts:
        run(plan("a", "b", "c", blocks=2), script.parts(), script)
    slots = [trial.slot for trial in scripts[0].trials]
    for block in (0, 1):
        names = sorted((s.arm.name, s.arm.role) for s in slots if s.block == block)
        assert names == [
            ("a", Role.AA),
            ("a", Role.PROFILE),
            ("b", Role.PROFILE),
            ("c", Role.PROFILE),
        ]
    assert slots == [trial.slot for trial in scripts[1].trials]


def test_a_trial_is_recorded_before_the_next_one_starts():
    """What has been measured is on disk whatever happens next."""
    script = Script()
    run(plan("a"), script.parts(), script)
    kept = [e for e in script.events if e.startswith(("start", "recorded"))]
    assert kept == ["start a on (1,)", "recorded"] * 2


def test_a_profile_that_cannot_start_does_not_stop_the_others():
    """The block goes on; after two failures the profile is not tried again, but still counted."""
    script = Script(broken=["b"])
    run(plan("a", "b", blocks=3), script.parts(), script)
    failures = [t.failure or "" for t in script.trials if t.slot.arm.name == "b"]
    assert [f.splitlines()[0] for f in failures] == [
        "ended with status 1",
        "ended with status 1",
        "not started again: it failed to start 2 times in a row",
    ]
    logs = [t.log for t in script.trials if t.slot.arm.name == "b"]
    assert logs == [("no such module",), ("no such module",), None]
    assert sum(not t.failure for t in script.trials) == 6


def test_failed_starts_end_a_profile_only_in_a_row():
    """A start that succeeds between them wipes out the one before."""
    script = Script(broken=["b"])
    record = script.parts().record

    def mend(trial):
        record(trial)
        seen = sum(past_trial.slot.arm.name == "b" for past_trial in script.trials)
        script.broken = [] if seen in {1, 3} else ["b"]

    run(plan("a", "b", blocks=5), replace(script.parts(), record=mend), script)
    failures = [t.failure or "" for t in script.trials if t.slot.arm.name == "b"]
    ended = "ended with status 1"
    assert failures == [ended, "", ended, "", ended]


@pytest.mark.parametrize("error", [GeneratorError, LoadGivenUpError])
def test_a_load_that_was_given_up_is_told_from_a_server_that_did_not_start(error):
    """Its failure begins with the one phrase that the gates know."""
    script = Script()

    def measure(_seconds):
        raise error("it broke")

    script.measure = measure
    run(plan("a"), script.parts(), script)
    assert [t.failure for t in script.trials] == ["the load was given up: it broke"] * 2
    assert script.events[-1] == "finished a ['no load']"


def test_a_server_that_ends_in_the_window_fails_its_trial():
    """Its readings are kept, its log's end is shown, and it counts as failed."""
    script = Script(dies=["a"])
    run(plan("a"), script.parts(), script)
    assert script.trials[0].failure == (
        "the server ended before the window's end: uwsgi ended with signal 11"
    )
    assert script.trials[0].log == ("segmentation fault",)
    assert script.trials[0].windows


def test_a_trial_disturbed_from_outside_is_repeated():
    """Foreign CPU in the first attempt makes a second one; both are recorded."""
    script = Script(foreign={("b", 0): 0.5})
    run(plan("a", "b"), script.parts(), script)
    attempts = [t.attempt for t in script.trials if t.slot.arm.name == "b"]
    assert attempts == [0, 1]


def test_what_disturbs_a_trial_is_for_the_parts_to_say():
    """Who plants strangers on the CPU does not want the trial again for them."""
    script = Script(foreign={("b", 0): 0.5})
    run(plan("a", "b"), replace(script.parts(), judge=lambda _trial: ()), script)
    assert [t.attempt for t in script.trials if t.slot.arm.name == "b"] == [0]
    assert script.events[-1].endswith(" []")


def test_a_trial_is_repeated_at_most_twice():
    """On a machine that stays busy the run ends all the same."""
    busy = {("b", attempt): 0.5 for attempt in range(9)}
    script = Script(foreign=busy)
    run(plan("a", "b"), script.parts(), script)
    assert [t.attempt for t in script.trials if t.slot.arm.name == "b"] == [0, 1, 2]


def test_repeats_are_a_tenth_of_the_run_at_most():
    """Twenty blocks of two on a busy machine make 4 repeats, not 80."""
    busy = {("a", attempt): 0.5 for attempt in range(99)}
    script = Script(foreign=busy)
    run(plan("a", blocks=20), script.parts(), script)
    assert sum(t.attempt > 0 for t in script.trials) == 4


class TestCapture:
    """What a user's application answers first is what it must answer always."""

    def test_the_first_reply_is_required_from_then_on(self):
        """Its body becomes the exact expectation."""
        the_plan = plan("a", body=None)
        server = Script().parts().server
        workload = capture(
            the_plan.workload, the_plan.profiles, server, lambda *_, **__: (200, {}, b"hello")
        )
        assert workload.expect == Expectation(body=b"hello")

    def test_a_reference_line_is_not_asked(self):
        """It answers with a reply of its own, which is not the application's."""
        script, both = Script(), plan("line", "a", body=None)
        line, served = both.profiles
        line = replace(line, reply="x")
        server = script.parts().server
        capture(both.workload, (line, served), server, lambda *_, **__: (200, {}, b"hello"))
        assert [e for e in script.events if e.startswith("start")] == ["start a on None"] * 2
        alone = capture(both.workload, (line,), server, lambda *_, **__: (200, {}, b""))
        assert alone == both.workload

    def test_a_reply_of_which_nothing_stays_is_refused_with_the_way_out(self):
        """A page that is a clock needs --check."""
        bodies = iter([b"10:00", b"10:01", b"10:01", b"10:02"])
        the_plan, server = plan("a", body=None), Script().parts().server
        with pytest.raises(UsageError, match="--check"):
            capture(
                the_plan.workload,
                the_plan.profiles,
                server,
                lambda *_, **__: (200, {}, next(bodies)),
            )

    def test_nothing_is_started_where_the_reply_is_known(self):
        """An exact body needs no capture."""
        script = Script()
        known, server = plan("a"), script.parts().server
        workload = capture(known.workload, known.profiles, server, lambda *_, **__: (500, {}, b""))
        assert workload == known.workload
        assert script.events == []

    def test_an_echo_is_known(self):
        """What is to come back is what is sent, so no server is started to find it out."""
        script = Script()
        workload = replace(plan("a").workload, expect=Expectation(), wire=Wire.ECHO, size=8)
        server = script.parts().server
        assert (
            capture(workload, plan("a").profiles, server, lambda *_, **__: (500, {}, b""))
            == workload
        )
        assert script.events == []

    def test_a_pattern_is_tried_once(self):
        """One that matches nothing is found before the first trial, and not in each of them."""
        script = Script()
        known, server = plan("a", "b"), script.parts().server
        workload = replace(known.workload, expect=Expectation(pattern="^ok"))
        assert (
            capture(workload, known.profiles, server, lambda *_, **__: (500, {}, b"")) == workload
        )
        assert script.events == ["start a on None", "stop"]


def counter(of, load=None):
    """Return a counter-run of the arm *of*, under another load if there is one."""
    toggled = replace(arm(f"{of}~http-socket"), role=Role.COUNTER)
    values = {
        "of": of,
        "cause": "router",
        "toggle": "http-socket",
        "arm": toggled if load is None else replace(toggled, load=load),
        "metric": "throughput",
        "expects": Better.HIGHER,
    }
    return CounterRun(**values)


def confirmed(plan, script, confirm):
    """Run *plan* with the counter-runs that *confirm* finds in its pilot."""
    run(plan, script.parts(), script, Pilot(plan, confirm, script.confirming))


def test_counter_runs_join_the_blocks_after_the_pilot():
    """Two of five blocks show the causes; the other three hold each counter-run once."""
    script, seen = Script(), []

    def confirm(trials):
        seen.append(len(trials))
        return (counter("b"),)

    confirmed(plan("a", "b", blocks=5), script, confirm)
    assert seen == [6]
    counters = [t.slot for t in script.trials if t.slot.arm.role is Role.COUNTER]
    assert [slot.block for slot in counters] == [2, 3, 4]
    positions = [(t.slot.block, t.slot.position) for t in script.trials]
    assert len(set(positions)) == len(positions) == 18
    assert script.events.count("confirming ['router']") == 1


def test_without_counter_runs_the_order_is_the_same():
    """A run that looks for causes and finds none is the run that never looked."""
    scripts = [Script(), Script()]
    confirmed(plan("a", "b", blocks=5), scripts[0], lambda _trials: ())
    run(plan("a", "b", blocks=5), scripts[1].parts(), scripts[1])
    assert scripts[0].events == scripts[1].events


def test_few_blocks_are_not_divided():
    """With fewer than five there would be too few pairs to confirm anything."""
    script = Script()
    confirmed(plan("a", blocks=4), script, lambda _trials: (counter("a"),))
    assert not [t for t in script.trials if t.slot.arm.role is Role.COUNTER]


def test_a_counter_run_may_have_another_load():
    """Its session is opened with its own load, and its profile is the variant."""
    script = Script()
    loads = []
    session = script.session

    def noting(endpoint, workload, load, cores):
        loads.append(load.connections)
        return session(endpoint, workload, load, cores)

    script.session = noting
    confirm = lambda _trials: (counter("a", load=Load(connections=1)),)  # noqa: E731
    confirmed(plan("a", blocks=5), script, confirm)
    assert sorted(loads) == [1, 1, 1] + [2] * 10
    assert "start a~http-socket on (1,)" in script.events
