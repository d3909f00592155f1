"""What a run says to a claim whose load ran on the server's cores."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lab.analysis.compare import verdict_of
from lab.analysis.summary import summarise
from lab.model.comparison import Between, Comparison
from lab.model.plan import Better
from studies.articles import show
from studies.articles.claim import Band, Claim, Decision
from studies.articles.decide import decide, decision_of
from tests.analysis.test_shared_cores import LIMITED, shared
from tests.kit import builders as make

CLAIM = Claim("x", "article", "b is faster", "fib", "a", "b", ratio=1.5)
SAME = replace(CLAIM, ratio=None, band="alike", meaning=Band("near", 0.95, 1.05))
ABOVE = replace(CLAIM, ratio=None, direction="above")
LOSS = replace(CLAIM, ratio=0.5)


@pytest.mark.parametrize(
    ("claim", "low", "high", "decision"),
    [
        (CLAIM, 0.55, 0.93, "opposite"),
        (CLAIM, 0.60, 1.33, "not seen"),
        (CLAIM, 1.10, 1.35, "smaller"),
        (CLAIM, 1.10, 2.00, "inconclusive"),
        (CLAIM, 1.55, 2.00, "reproduced"),
        (CLAIM, 1.70, 2.00, "larger"),
        (CLAIM, 0.80, 2.00, "inconclusive"),
        (CLAIM, 1.20, None, "inconclusive"),
        (CLAIM, 1.60, None, "reproduced"),
        (CLAIM, 1.70, None, "larger"),
        (CLAIM, None, 1.30, "not seen"),
        (CLAIM, None, 0.80, "opposite"),
        (CLAIM, None, 1.60, "inconclusive"),
        (LOSS, 0.46, 0.55, "reproduced"),
        (LOSS, 0.30, 0.43, "larger"),
        (LOSS, 0.30, 0.80, "inconclusive"),
        (LOSS, 0.60, 0.80, "smaller"),
        (LOSS, 0.60, None, "not seen"),
        (LOSS, 1.20, None, "opposite"),
        (LOSS, None, 0.40, "larger"),
        (LOSS, None, 0.50, "reproduced"),
        (LOSS, None, 0.80, "inconclusive"),
        (ABOVE, 1.10, None, "reproduced"),
        (ABOVE, None, 1.10, "inconclusive"),
        (ABOVE, None, 0.90, "opposite"),
        (SAME, 1.10, None, "larger"),
        (SAME, None, 0.90, "larger"),
        (SAME, 0.90, None, "inconclusive"),
        (SAME, 0.98, 1.02, "reproduced"),
    ],
)
def test_of_ends_only_that_is_said_which_all_ratios_between_have_in_common(
    claim, low, high, decision
):
    """With a floor of 5 %; an end of which nothing is known excludes nothing."""
    verdict = verdict_of(low or 0.0, high or float("inf"), 0.05, Better.HIGHER)
    comparison = Comparison(
        "throughput", "a", "b", verdict, None, between=Between(low, high, 10, 0.95)
    )
    assert decision_of(claim, comparison, 0.05) == decision


def bound(*names, cores=1.0):
    """Return a run of b at a third of a's CPU, with the load at its limit beside *names*."""
    run = make.ladder_run({"a": (2000, 450e-6), "b": (4000, 150e-6)}, blocks=4)
    trials = []
    for trial in run.trials:
        windows, readings = trial.windows, {"server.cores": cores, "machine.cores": 2.0}
        if trial.slot.arm.name in names:
            windows = tuple(replace(window, **LIMITED) for window in windows)
            readings |= {"server.busiest": 0.3}
            if trial.slot.arm.name == "a":  # it waits, too
                readings |= {"server.cpu_user": 0.6, "server.cpu_system": 0.2}
        trials.append(replace(trial, windows=windows, readings=trial.readings | readings))
    return replace(run, trials=tuple(trials))


def said(claim, run):
    """Return what *run* says to *claim*."""
    return decide(claim, summarise(run))


def test_where_the_load_kept_the_faster_side_its_cpu_is_a_lower_bound():
    """It needs less CPU per request when it is busy, so the ratio may be larger."""
    verdict = said(replace(CLAIM, ratio=2.8), bound("b"))
    assert verdict.decision is Decision.REPRODUCED
    assert verdict.sentence.startswith("by CPU per request, at least 2.9")
    assert "b saturated the load generator: the ratio may be larger" in verdict.sentence.lower()
    assert said(replace(CLAIM, ratio=4.0), bound("b")).decision is Decision.INCONCLUSIVE
    assert said(LOSS, bound("b")).decision is Decision.OPPOSITE
    assert said(SAME, bound("b")).decision is Decision.LARGER


def test_where_the_load_kept_the_reference_its_cpu_is_an_upper_bound():
    """What is claimed above it is excluded, and what lies below it is not."""
    verdict = said(replace(CLAIM, ratio=9.0), bound("a"))
    assert verdict.decision is Decision.NOT_SEEN
    assert verdict.sentence.startswith("by CPU per request, at most 1.")
    assert said(ABOVE, bound("a")).decision is Decision.INCONCLUSIVE
    assert said(replace(CLAIM, ratio=1.2), bound("a")).decision is Decision.INCONCLUSIVE


@pytest.mark.parametrize("run", [bound("a", "b"), bound("b", cores=2.0)], ids=["both", "two cores"])
def test_without_a_bound_the_gate_has_the_word(run):
    """Both sides were kept; or the server had cores that not every server can fill."""
    verdict = said(CLAIM, run)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "generator-bound" in verdict.sentence


def test_a_claim_on_shared_cores_is_told_with_its_ends():
    """In the sentence, the table and the JSON; what it takes is a core, and no more blocks."""
    verdict = said(replace(CLAIM, ratio=3.08), shared())
    assert verdict.decision is Decision.OPPOSITE
    assert verdict.sentence.startswith("between 0.549x and 0.929x where the article says 3.08x")
    (row,) = show.verdict_table([verdict]).rows
    assert "between 0.549x and 0.929x" in {cell.text for cell in row}
    (content,) = json.loads(show.render_json([verdict]))["verdicts"]
    assert content["between"]["low"] == pytest.approx(0.549, abs=1e-3)
    wide = said(replace(CLAIM, ratio=0.7), shared())
    assert (wide.decision, wide.takes) == (
        Decision.INCONCLUSIVE,
        ("lab run a b", "a core of its own for the load"),
    )
