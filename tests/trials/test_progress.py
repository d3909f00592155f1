"""How far a run is, and what is said of it where it is no terminal."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from lab.analysis.gates import machine, open_loop
from lab.analysis.gates.replies import RECONNECTS
from lab.bench.trials.announcement import announcement
from lab.bench.trials.conduct import PreparedRun
from lab.bench.trials.minutes import with_minutes
from lab.bench.trials.plan import orders
from lab.bench.trials.progress import Course, Progress
from lab.model.comparison import Comparison, Departure, Estimate, Verdict
from lab.model.finding import Finding
from lab.model.plan import Better, CounterRun, Role, Slot
from tests.kit import builders as make
from tests.kit.scripted import arm, plan


@pytest.mark.parametrize(
    ("names", "blocks", "said"),
    [
        (["a"], 1, "1 profile, 1 block with a twice in it, "),
        (["a", "b"], 1, "2 profiles, 1 block with a twice in it, "),
        (["a", "b"], 10, "2 profiles, 10 blocks with a twice in each, "),
    ],
)
def test_one_is_not_several(names, blocks, said):
    """A run of one profile in one block is announced as that."""
    plan = make.plan(*map(make.profile, names), blocks=blocks)
    line, _cpus = announcement(PreparedRun(plan, {}, 60.0, None))
    assert line.startswith(said)


def test_minutes_are_announced_as_the_most_that_there_are():
    """Together with what may end a run before."""
    plan = with_minutes(make.plan(make.profile("a"), make.profile("b")), 15)
    line, _cpus = announcement(PreparedRun(plan, {}, 900.0, None))
    assert line == (
        "2 profiles, a twice in each block, windows of 2 s, seed 7. This takes at most 15 min: "
        "after 6, 9, 13, ... blocks profiles with a decided comparison are left out."
    )


def printed(findings, again=()):
    """Return what is printed of a block with these *findings*; its first trial is made *again*."""
    stream = io.StringIO()
    run = make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}, blocks=1)
    progress = Progress(run.plan, Console(file=stream, width=40))
    for number, (trial, trial_findings) in enumerate(zip(run.trials, findings, strict=True)):
        progress.finished(trial, trial_findings)
        for attempt, later in enumerate(again if not number else (), start=1):
            progress.finished(replace(trial, attempt=attempt), later)
    return stream.getvalue()


NOTHING = frozenset()
OVERLOAD = Finding(open_loop.OVERLOAD, "", "")
MACHINE = Finding(machine.MACHINE, "", "", frozenset({"cpu"}))
MILD = Finding(RECONNECTS, "", "", NOTHING)


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([[], [], []], "done, 0 of 3 trials invalid, "),
        ([[OVERLOAD], [], []], "done, 1 of 3 trials invalid (overload), "),
        (
            [[OVERLOAD], [MACHINE, OVERLOAD], []],
            "done, 2 of 3 trials invalid (overload, machine), ",
        ),
        ([[MILD], [], []], "done, 0 of 3 trials invalid, "),
    ],
)
def test_invalid_trials_are_counted_with_the_reasons(findings, said):
    """Each gate once; a finding that withholds nothing makes no trial invalid."""
    assert said in printed(findings)


def test_of_a_trial_and_its_repeats_the_last_counts():
    """So no more trials are invalid than the block has."""
    assert "0 of 3 trials invalid" in printed([[MACHINE], [], []], again=([MACHINE], []))
    assert "1 of 3 trials invalid (machine)" in printed(
        [[MACHINE], [], []], again=([MACHINE], [MACHINE])
    )


def test_a_block_is_one_line():
    """Also where a CI log is said to be narrow."""
    assert printed([[OVERLOAD], [MACHINE], []]).count("\n") == 1


CROWDED = Finding(machine.MACHINE, "other programs used 1.72 cores", "Stop other work.", None)


def test_a_first_block_in_vain_is_a_warning():
    """With why and what to do: nobody waits for minutes in which nothing can count."""
    lines = printed([[CROWDED]] * 3).splitlines()
    assert "3 of 3 trials invalid (machine)" in lines[0]
    assert lines[1:] == [
        "warning: no valid trial so far. machine: other programs used 1.72 cores. Stop other work."
    ]


@pytest.mark.parametrize("findings", [[[CROWDED], [CROWDED, CROWDED], []], [[MACHINE]] * 3])
def test_a_block_of_which_something_counts_is_none(findings):
    """One trial, or one metric of each."""
    assert "warning" not in printed(findings)


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that stands still until it is set."""
    now = [0.0]
    monkeypatch.setattr("lab.bench.trials.progress.time.monotonic", lambda: now[0])
    return now


def slots(the_plan):
    """Return the places of the first block."""
    return [Slot(0, position, the_arm) for position, the_arm in enumerate(next(orders(the_plan)))]


def test_a_trial_that_is_made_again_counts_once(clock):
    """So that what is done never exceeds what is planned."""
    course = Course(plan("a", "b"))
    first, second, *_ = slots(plan("a", "b"))
    assert [course.finished(slot) for slot in (first, first, second)] == [True, False, True]
    assert (course.done, course.in_block) == (2, 3)


def test_the_rest_takes_as_long_as_the_trials_so_far(clock):
    """From the pace that is seen; before the first trial, from what a trial should take."""
    the_plan = plan("a", "b")
    course = Course(the_plan)
    assert course.left().endswith(" s left")
    clock[0] = 250.0
    course.finished(slots(the_plan)[0])
    minutes, seconds = divmod(250 * (course.planned - 1), 60)
    assert course.left() == f"{minutes} min {seconds} s left"


def test_a_run_of_minutes_lasts_as_long_as_they_do(clock):
    """How many trials they hold is told by the pace so far."""
    the_plan = with_minutes(plan("a", "b"), 10)
    course = Course(the_plan)
    clock[0] = 60.0
    course.finished(slots(the_plan)[0])
    assert course.left() == "at most 9 min 0 s left"
    assert course.planned == 10


def test_a_run_of_minutes_has_no_more_blocks_than_looks_allow(clock):
    """However much time is left."""
    the_plan = with_minutes(plan("a", "b"), 600)
    course = Course(the_plan)
    clock[0] = 1.0
    course.finished(slots(the_plan)[0])
    assert course.planned == 80 * course.in_block


def test_what_leaves_is_in_no_block_any_more(clock):
    """And what it leaves with is said."""
    stream = io.StringIO()
    run = make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}, blocks=1)
    plan = with_minutes(run.plan, 10)
    progress = Progress(plan, Console(file=stream, width=40))
    ratio = Estimate(1.01, 0.98, 1.04, 6, 0.995)
    comparison = Comparison("cpu", "a", "b", Verdict.INCONCLUSIVE, ratio, below=0.05)
    progress.leaving([Departure("b", Role.PROFILE, 6, comparison)])
    for trial in run.trials[:2]:
        progress.finished(trial, [])
    departure, block = stream.getvalue().splitlines()
    assert departure == "b: decided after 6 blocks (below 5%); its time goes to the others"
    assert block == "block 1 done, 0 of 2 trials invalid, at most 10 min 0 s left"


def test_counter_runs_join_the_blocks_that_are_left(clock):
    """Each is one more trial in every block after the pilot."""
    the_plan = plan("a", "b", blocks=10)
    course = Course(the_plan)
    before = course.planned
    course.confirming([CounterRun("a", "router", "x", arm("a+x"), "cpu", Better.LOWER)])
    assert (course.in_block, course.planned - before) == (4, 6)
