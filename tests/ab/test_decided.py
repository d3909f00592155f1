"""When a run of two versions ends: each limit is crossed beyond doubt, or excluded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.analysis.judging import FAILED
from lab.analysis.summary import summarise
from lab.analysis.thresholds import parse
from lab.experiment.minutes import with_minutes
from lab.experiment.pair import decided, ending
from tests.kit import builders as make


@pytest.mark.parametrize(
    ("cpu", "limit", "over"),
    [(1.00, 1.10, True), (1.30, 1.10, True), (1.10, 1.10, False)],
    ids=["excluded", "crossed", "open"],
)
def test_a_run_ends_when_its_limit_is_decided(cpu, limit, over):
    """And goes on while the interval holds the limit."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, cpu * 1e-4)}, noise=0.02)
    threshold = parse(f"cpu(new/old) > {limit}")
    assert decided([threshold])([summarise(run)]) is over


def test_every_limit_has_to_be_decided():
    """One that is open keeps the run going."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, 1.1e-4)}, noise=0.02)
    limits = [parse(f"cpu(new/old) > {limit}") for limit in (1.5, 1.1)]
    assert decided(limits[:1])([summarise(run)])
    assert not decided(limits)([summarise(run)])


@pytest.mark.parametrize(
    ("cpu", "limit", "blocks", "status"),
    [(1.00, 1.10, 6, 0), (1.30, 1.10, 6, FAILED), (1.10, 1.10, 10, 0)],
    ids=["excluded", "crossed", "open"],
)
def test_recorded_trials_are_judged_as_a_run_is(cpu, limit, blocks, status):
    """They say after which of their blocks it would have ended, and with what."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, cpu * 1e-4)}, noise=0.01)
    plan = replace(with_minutes(run.plan, 60), against_both=True)
    found = ending(replace(run, plan=plan, ended=True), [parse(f"cpu(new/old) > {limit}")])
    assert (found.blocks, found.status) == (blocks, status)
