"""A ceiling that several profiles share, and what only looks like one."""

import pytest

from lab.analysis.ceiling import shared_ceiling
from lab.analysis.compare import LEAST_FLOOR
from lab.analysis.observations import observe
from lab.model.plan import Load
from lab.report.warnings import text_of
from tests.kit import builders as make

EQUAL = {"router": (1800.0, 300e-6), "direct": (1805.0, 200e-6), "tuned": (1796.0, 120e-6)}
"""Three servers, none at its limit: requests per second, CPU seconds a request."""


def ceiling(speeds, load=None, busiest=0.5, noise=LEAST_FLOOR):
    """Return what a run of such profiles shows."""
    run = make.ladder_run(speeds, noise=0.002, load=load)
    trials = [
        make.trial(
            *trial.windows,
            block=trial.slot.block,
            position=trial.slot.position,
            of=trial.slot.arm.profile,
            role=trial.slot.arm.role,
            load=load,
            readings={**trial.readings, "server.busiest": busiest},
        )
        for trial in run.trials
    ]
    run = make.run(run.plan, trials)
    return shared_ceiling(observe(run), run.plan, noise)


def test_servers_that_work_differently_and_come_out_the_same():
    """With 120 to 300 µs a request none reaches the others' rate by its own strength."""
    rate_ceiling = ceiling(EQUAL)
    assert rate_ceiling is not None
    text = text_of(rate_ceiling)
    assert text.startswith("3 profiles reach the same throughput within 0.")
    assert "120 to 300 µs" in text


@pytest.mark.parametrize(
    "speeds",
    [
        {name: (rate, 200e-6) for name, (rate, _) in EQUAL.items()},
        {"a": (1800.0, 300e-6), "b": (1805.0, 120e-6), "c": (2400.0, 200e-6)},
        {"a": (1700.0, 300e-6), "b": (1800.0, 120e-6), "c": (1900.0, 200e-6)},
    ],
    ids=["the same work", "two", "5 % apart"],
)
def test_what_only_looks_like_a_ceiling(speeds):
    """Steps that change nothing are equal too, and two may be so by chance."""
    assert ceiling(speeds) is None


def test_a_server_at_its_own_limit_sets_its_own_rate():
    """One process that fills its core is limited by that, whatever the others reach."""
    assert ceiling(EQUAL, busiest=0.95) is None


def test_work_that_differs_by_no_more_than_the_noise_is_the_same_work():
    """The run's own A/A arm says how far CPU moves by itself."""
    assert ceiling(EQUAL, noise=1.0) is not None
    assert ceiling(EQUAL, noise=1.5) is None


def test_an_open_loops_rate_is_the_plans():
    """There equal throughput is what was asked for."""
    assert ceiling(EQUAL, load=Load(rate=1800.0)) is None
