"""The self-test of shared cores: what is made of its figures, and a real run."""

import pytest
from rich.console import Console

from studies.selftest.bounds import LADDER, judged
from studies.selftest.result import SelfTestResult
from studies.selftest.run import selftest
from studies.selftest.show import sentence

TRIED = {
    "baseline": ((5490, 181e-6), (4920, 160e-6)),
    "processes-threads": ((4270, 234e-6), (4040, 200e-6)),
    "http-socket": ((7780, 128e-6), (6380, 113e-6)),
    "tuned": ((13000, 76e-6), (10900, 61e-6)),
}
"""Requests/s and CPU seconds per request: with the load on another core, and on the same."""


def blocks(tried=TRIED, count=10):
    """Return *count* blocks of such figures."""
    alone = {name: {"throughput": rate, "cpu": cpu} for name, ((rate, cpu), _) in tried.items()}
    shared = {
        name: {"served": rate, "cpu": cpu, "capacity": 1 / cpu}
        for name, (_, (rate, cpu)) in tried.items()
    }
    return [(alone, shared)] * count


def test_the_truth_of_one_core_lies_between_the_ends():
    """4270 / 5490 = 0.778, between 4040 x 160 us = 0.646 and 1 / 200 us / 4920 = 1.016."""
    effects = judged(blocks())
    assert all(effect.right for effect in effects)
    first = effects[0]
    assert first.name == "requests/s of processes-threads / baseline"
    assert first.ratio == pytest.approx((0.778, 0.646, 1.016), abs=1e-3)
    assert (first.found, first.blocks) == ("10 of 10", 10)
    assert effects[3].name == "CPU per request of baseline, on a shared core / alone"
    assert effects[3].ratio[0] == pytest.approx(160 / 181)


def test_one_in_twenty_may_lie_beyond():
    """Of all pairs together: 2 of 30 are one too many, 1 is none."""
    outside = blocks({**TRIED, "tuned": ((19_000, 76e-6), TRIED["tuned"][1])}, 1)
    for many, right in ((1, True), (2, False)):
        effects = judged(blocks(count=10 - many) + outside * many)
        assert [effect.right for effect in effects[:3]] == [right] * 3
        assert effects[2].found == f"{10 - many} of 10"


def test_a_shared_core_may_not_make_a_request_a_quarter_dearer():
    """For the upper end rests on it; each profile is told by itself."""
    dear = {**TRIED, "tuned": ((13000, 76e-6), (10900, 96e-6))}
    effects = judged(blocks(dear))[3:]
    assert [effect.name for effect in effects if not effect.right] == [
        "CPU per request of tuned, on a shared core / alone"
    ]


def test_what_was_not_measured_is_open():
    """No block without both arrangements; then the self-test proves nothing."""
    nothing = {name: {} for name in LADDER}
    effects = judged([(nothing, nothing)] * 3)
    assert {effect.right for effect in effects} == {None}
    result = SelfTestResult(1, False, {}, (), effects)
    assert result.status == 3
    assert sentence(result).endswith("0 of 7 comparisons were right.")
    assert SelfTestResult(1, False, {}, (), judged(blocks())).status == 0


@pytest.mark.slow
def test_the_ends_hold_here():
    """Or this machine was too busy to tell."""
    assert selftest(quick=True, names=["bounds"], console=Console(quiet=True)) in {0, 3}
