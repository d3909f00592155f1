"""How far a run is, and how long the rest takes."""

from __future__ import annotations

import pytest

from lab.experiment.plan import orders
from lab.experiment.progress import Course
from lab.model import Better, CounterRun, Slot
from tests.kit.scripted import arm, plan


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
