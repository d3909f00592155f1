"""Blocks for as long as there are minutes, with scripted parts."""

# ruff: noqa: D102 - each is the method of the same name in tests.kit.scripted

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.analysis.conclude import conclude
from lab.analysis.judging import judge_run
from lab.analysis.summary import summarise
from lab.analysis.thresholds import parse
from lab.analysis.undecided import outlook
from lab.bench.trials.minutes import Minutes, with_minutes
from lab.bench.trials.runner import run
from lab.bench.trials.schedule import Blocks, Pilot
from lab.errors import Interrupted, UsageError
from lab.model.measurement import Run
from lab.model.plan import Better, CounterRun, Role
from lab.report import terminal
from lab.report.remedies import with_remedy
from lab.report.warnings import with_status
from tests.kit import builders as make
from tests.kit.golden import check_golden
from tests.kit.scripted import Script, arm
from tests.kit.scripted import plan as plan_of

GOLDEN = Path(__file__).parent / "golden"

SPEEDS = {"a": 2000, "b": 2000, "c": 4000, "d": 2000, "c~toggled": 8000}


class Server(Script):
    """Serves as fast as SPEEDS says, but for what a trial moves it; a trial takes 2 s."""

    def __init__(self, moved=0.15, noise=0.01):
        super().__init__()
        self.moved = moved
        """Share by which b and d are faster and slower in turn; c moves by a hundredth."""
        self.noise = noise
        """The same of a, which is the reference."""
        self.now = 0.0
        self.stopped_in = None
        """Block in which somebody stops the run, from 0."""

    def stage(self, slot, attempt, stage):
        if slot.block == self.stopped_in:
            raise Interrupted("SIGINT")

    def measure(self, seconds):
        name, number = self._profile, self._attempts[self._profile]
        shares = {"a": self.noise, "b": self.moved, "d": -self.moved, "c~toggled": 0.05}
        moved = shares.get(name, 0.01)
        self.now += 2.0
        return make.paced(SPEEDS[name] * (1 + moved * (-1) ** number), 4e-4).windows

    def parts(self):
        return replace(super().parts(), clock=lambda: 100.0 + self.now)


def lab(server, minutes, *, pilot=None, stay=()):
    """Carry out a run of a, b, c and d, and return it as it would be read back."""
    plan = plan_of("a", "b", "c", "d")
    names = [the_arm.name for the_arm in plan.arms]
    arms = [
        replace(the_arm, profile=replace(the_arm.profile, against=before))
        for before, the_arm in zip([None, *names], plan.arms, strict=False)
    ]
    plan = with_minutes(replace(plan, arms=tuple(arms)), minutes)
    counters = ()

    def so_far(trials):
        return Run("x", "lab run", plan, {}, tuple(trials), counters=counters)

    def find(trials):
        nonlocal counters
        counters = pilot
        return counters

    blocks = Pilot(plan, find, server.confirming) if pilot else Blocks(plan)
    schedule = Minutes(plan, blocks, so_far, server.leaving, stay=stay, clock=lambda: server.now)
    try:
        run(plan, server.parts(), server, schedule)
    except Interrupted:
        return so_far(server.trials)
    return replace(so_far(server.trials), ended=True)


def last_blocks(the_run):
    """Return the number of the last block of each arm, from 1."""
    last = {}
    for trial in the_run.trials:
        last[trial.slot.arm.name, trial.slot.arm.role] = trial.slot.block + 1
    return last


def report(server, the_run):
    """Return what was said to who watches, and what the report says beside its tables."""
    summary = summarise(the_run)
    events = [event for event in server.events if "decided" in event]
    lines = terminal.render(conclude(summary), 160).splitlines()
    start = lines.index("Each step, against the profile above it")
    return "\n".join((*events, "", *map(with_status, summary.warnings), *lines[start:])) + "\n"


def test_an_arm_that_is_decided_gives_its_time_to_the_others():
    """Of four arms one is twice as fast: its last trials are in block 6; the rest has the time."""
    server = Server()
    the_run = lab(server, 5)
    last = last_blocks(the_run)
    assert last.pop(("c", Role.PROFILE)) == 6
    assert set(last.values()) == {the_run.blocks}
    # Six blocks of five arms, and of four for the rest of the five minutes, 2 s each.
    assert the_run.blocks == 6 + (300 - 60) // 8
    check_golden(GOLDEN / "decided.txt", report(server, the_run))


def test_what_the_report_of_stored_trials_says_is_what_the_run_was_told():
    """Who left is told from the trials and the plan alone."""
    server = Server()
    steps = {step.profile: step for step in summarise(lab(server, 5)).steps}
    for comparison in (steps["c"].step["cpu"], steps["d"].step["throughput"]):
        assert (comparison.ratio.n, comparison.ratio.level) == (6, 0.995)
    assert steps["b"].step["cpu"].ratio.level == 0.96


def test_the_report_says_what_more_minutes_would_do():
    """From the pace of the run itself, for the step that is nearest to an end."""
    summary = summarise(lab(Server(moved=0.12), 3))
    assert with_remedy(outlook(summary, "throughput")) == (
        "2 decided or below 5%; 1 inconclusive: the closest to a decision, b, is between 0.935x "
        "and 1.06x; "
        "3 more minutes would decide it. Use --minutes 6."
    )
    summary = summarise(lab(Server(moved=0.06), 3))
    assert with_remedy(outlook(summary, "throughput")) == "All 3 steps decided or below 5%."


def test_a_run_ends_when_all_is_decided():
    """After six blocks, minutes before its time."""
    server = Server(moved=0.01)
    the_run = lab(server, 60)
    assert the_run.blocks == 6
    assert server.events[-1].endswith("the run ends")


def test_a_run_does_not_end_while_its_noise_check_fails():
    """It would end with status 3, with minutes left that may mend that."""
    server = Server(moved=0.01, noise=0.1)
    the_run = lab(server, 5)
    assert last_blocks(the_run)["c", Role.PROFILE] == 6
    assert the_run.blocks > 9


def test_a_profile_that_is_not_started_any_more_keeps_nobody():
    """No block decides anything of it."""
    server = Server(moved=0.01)
    server.broken = ("d",)
    assert lab(server, 60).blocks == 6


def test_a_run_that_is_stopped_is_judged_more_strictly():
    """After seven blocks: 98.76 % for what was open."""
    server = Server()
    server.stopped_in = 7
    the_run = lab(server, 60)
    assert the_run.blocks == 7
    check_golden(GOLDEN / "stopped.txt", report(server, the_run))


def test_a_block_is_begun_only_if_it_ends_in_time():
    """By what the trials really take."""
    server = Server()
    lab(server, 4)
    assert 240 - 8 < server.now <= 240


def test_the_first_look_is_reached_however_slow_the_trials_are():
    """What began is worth nothing before it."""
    server = Server()
    measure = server.measure

    def slowly(seconds):
        server.now += 30.0
        return measure(seconds)

    server.measure = slowly
    assert lab(server, 5).blocks == 6
    assert server.now > 300


def counter(of):
    """Return a counter-run of the arm *of*."""
    return CounterRun(
        of, "router", "toggled", replace(arm(f"{of}~toggled"), role=Role.COUNTER),
        "throughput", Better.HIGHER,
    )  # fmt: skip


def test_a_counter_run_keeps_its_profile_in_the_run_until_it_is_decided():
    """It joins after four blocks, so that it has two pairs at the first look, then five."""
    server = Server()
    the_run = lab(server, 5, pilot=(counter("c"),))
    last = last_blocks(the_run)
    assert last["c", Role.PROFILE] == last["c~toggled", Role.COUNTER] == 9
    first = min(t.slot.block for t in the_run.trials if t.slot.arm.role is Role.COUNTER)
    assert first == 4
    decided = [event.split(" (")[0] for event in server.events if "decided" in event]
    assert decided == ["c: decided after 9 blocks", "c~toggled: decided after 9 blocks"]


def test_a_profile_that_a_threshold_is_on_stays_to_the_end():
    """The table has its verdict at the look that ended it; the limit has all pairs, at 96 %."""
    server = Server(moved=0.01)
    the_run = lab(server, 5, stay=("c",))
    last = last_blocks(the_run)
    assert last["c", Role.PROFILE] == the_run.blocks > 9
    assert last["d", Role.PROFILE] == 6
    summary = summarise(the_run)
    assert summary.compare("cpu", "c", "a").ratio.n == 6
    limit = judge_run(parse("cpu(c/a) < 0.6"), summary)
    assert (limit.why.ratio.n, limit.why.ratio.level) == (the_run.blocks, 0.96)
    left = judge_run(parse("cpu(d/a) < 0.6"), summary)
    assert (left.why.ratio.n, left.why.ratio.level) == (6, 0.995)


def test_each_rate_of_a_run_is_looked_at_by_itself():
    """An arm leaves by its own name; the reference of every rate stays."""
    server = Server()
    plan = plan_of("a", "b", "c")
    arms = [
        replace(the_arm, name=f"{the_arm.name}@{rate}", at={"rate": rate})
        for rate in ("50%", "80%")
        for the_arm in plan.arms
    ]
    plan = with_minutes(replace(plan, arms=tuple(arms)), 5)

    def so_far(trials):
        return Run("x", "lab run", plan, {}, tuple(trials))

    clock = lambda: server.now  # noqa: E731
    schedule = Minutes(plan, Blocks(plan), so_far, server.leaving, clock=clock)
    run(plan, server.parts(), server, schedule)
    last = last_blocks(so_far(server.trials))
    early = {name for (name, _), block in last.items() if block == 6}
    assert early == {"c@50%", "c@80%"}
    assert len(set(last.values()) - {6}) == 1


def test_a_run_of_one_profile_takes_its_time():
    """There is nothing to decide, and whoever gave it minutes wants them used."""
    server = Server()
    plan = with_minutes(plan_of("a"), 2)
    schedule = Minutes(
        plan,
        Blocks(plan),
        lambda trials: Run("x", "lab run", plan, {}, tuple(trials)),
        server.leaving,
        clock=lambda: server.now,
    )
    run(plan, server.parts(), server, schedule)
    assert server.now > 110


REFUSED = (
    "--minutes 1: a block of 5 trials takes 20 s, and nothing is told before 6 blocks: "
    "--minutes 2, or --quick"
)


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (1, REFUSED),
        (float("nan"), "--minutes nan: write a number of minutes above 0 and up to 1,440"),
        (-5, "--minutes -5: write a number of minutes above 0"),
        (100_000, "up to 1,440"),
    ],
)
def test_minutes_that_reach_no_look_are_refused(minutes, words):
    """With how many would, computed from the plan."""
    with pytest.raises(UsageError, match=words):
        with_minutes(plan_of("a", "b", "c", "d"), minutes)
