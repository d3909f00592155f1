"""The sentence that a report opens with."""

from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from lab.model import Estimate
from lab.report import headline
from tests.kit import builders as make

LADDER = {"baseline": (2000, 480e-6), "listen": (2000, 480e-6), "tuned": (8000, 60e-6)}


@pytest.fixture
def bound():
    """Return the summary of a run in which the generator is the limit of `tuned`."""
    run = make.ladder_run(LADDER)
    trials = [
        replace(
            each,
            windows=(replace(each.windows[0], cpu=1.99, wait=0.0),),
            readings=each.readings | {"server.busiest": 0.5},
        )
        if each.slot.arm.name == "tuned"
        else each
        for each in run.trials
    ]
    return summarise(replace(run, trials=tuple(trials)))


def test_who_is_not_spoken_of_is_named_first(bound):
    """`tuned` is four times as fast, and says nothing of what the others allow to be said."""
    assert headline.metric(bound) == "throughput"
    said = headline.sentence(bound)
    assert said.startswith("Requests/s of tuned do not count (generator-bound). No profile can be")


def test_a_reference_line_is_not_missed(bound):
    """Its throughput is no profile's."""
    plan = bound.run.plan
    *others, tuned = plan.profiles
    line = replace(tuned, reply="Pong!")
    summary = summarise(replace(bound.run, plan=make.altered(plan, profiles=(*others, line))))
    assert headline.sentence(summary).startswith("No profile can be told from baseline")


def test_the_machine_stayed_within_what_its_interval_reaches(bound):
    """An interval off the middle reaches further than its half-width: 1.055x [1.012, 1.1]."""
    off = replace(bound.aa["throughput"], ratio=Estimate(1.055, 1.012, 1.1, 10))
    summary = replace(bound, aa=bound.aa | {"throughput": off})
    assert "the same server twice stayed within 10% of itself" in headline.sentence(summary)


def test_what_can_be_found_is_what_would_get_a_verdict(bound):
    """Told from 1 is not enough: a verdict needs the floor as well."""
    step = replace(bound.steps[0].step["throughput"], detectable=1.1)
    steps = (replace(bound.steps[0], step={"throughput": step}),)
    summary = replace(bound, steps=steps, floors=bound.floors | {"throughput": 0.2})
    assert {fact.label: fact.value for fact in headline.facts(summary)}["Can be found"] == "1.32x"
