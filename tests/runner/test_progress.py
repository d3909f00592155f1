"""How far a run is, and what is said of it where it is no terminal."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from lab.experiment.conduct import Prepared
from lab.experiment.plan import orders
from lab.experiment.progress import Course, Progress, announcement
from lab.model import Better, CounterRun, Finding, Slot
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
    line, _cpus = announcement(Prepared(plan, {}, 60.0, None))
    assert line.startswith(said)


def printed(findings, again=()):
    """Return what is printed of a block with these *findings*; its first trial is made *again*."""
    stream = io.StringIO()
    run = make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}, blocks=1)
    progress = Progress(run.plan, Console(file=stream, width=40))
    for number, (trial, found) in enumerate(zip(run.trials, findings, strict=True)):
        progress.finished(trial, found)
        for attempt, later in enumerate(again if not number else (), start=1):
            progress.finished(replace(trial, attempt=attempt), later)
    return stream.getvalue()


NOTHING = frozenset()
OVERLOAD, MACHINE = Finding("overload", "", ""), Finding("machine", "", "", frozenset({"cpu"}))
MILD = Finding("remark", "", "", NOTHING)


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([[], [], []], "done, 0 invalid trials, "),
        ([[OVERLOAD], [], []], "done, 1 invalid trial (overload), "),
        ([[OVERLOAD], [MACHINE, OVERLOAD], []], "done, 2 invalid trials (overload, machine), "),
        ([[MILD], [], []], "done, 0 invalid trials, "),
    ],
)
def test_invalid_trials_are_counted_with_the_reasons(findings, said):
    """Each gate once; a finding that withholds nothing makes no trial invalid."""
    assert said in printed(findings)


def test_of_a_trial_and_its_repeats_the_last_counts():
    """So no more trials are invalid than the block has."""
    assert "0 invalid trials" in printed([[MACHINE], [], []], again=([MACHINE], []))
    assert "1 invalid trial (machine)" in printed([[MACHINE], [], []], again=([MACHINE], [MACHINE]))


def test_a_block_is_one_line():
    """Also where a CI log is said to be narrow."""
    assert printed([[OVERLOAD], [MACHINE], []]).count("\n") == 1


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that stands still until it is set."""
    now = [0.0]
    monkeypatch.setattr("lab.experiment.progress.time.monotonic", lambda: now[0])
    return now


def slots(the_plan):
    """Return the places of the first block."""
    return [Slot(0, position, each) for position, each in enumerate(next(orders(the_plan)))]


def test_a_trial_that_is_made_again_counts_once(clock):
    """So that what is done never exceeds what is planned."""
    course = Course(plan("a", "b"))
    first, second, *_ = slots(plan("a", "b"))
    assert [course.finished(each) for each in (first, first, second)] == [True, False, True]
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


def test_counter_runs_join_the_blocks_that_are_left(clock):
    """Each is one more trial in every block after the pilot."""
    the_plan = plan("a", "b", blocks=10)
    course = Course(the_plan)
    before = course.planned
    course.confirming([CounterRun("a", "router", "x", arm("a+x"), "cpu", Better.LOWER)])
    assert (course.in_block, course.planned - before) == (4, 6)
