"""When a run of two versions ends, and what it says to its limits then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from lab.analysis import sweep_values
from lab.analysis.compare import LEAST_FLOOR, differs
from lab.analysis.health import HEADLINE
from lab.analysis.judging import (
    STATUSES,
    UNJUDGED,
    CountReading,
    Judgement,
    RatioReading,
    ThresholdOutcome,
    exit_code,
    is_excluded,
    judge_own,
    judge_ratio,
)
from lab.analysis.looks import ended_early
from lab.analysis.summary import Summary
from lab.model.comparison import Comparison, Estimate
from lab.model.measurement import Run

METRICS = ("cpu", "throughput", "p99", "memory")
"""One of which decides where there are no limits."""

MOST_BLOCKS = 10
"""Times those of a run: more are not offered."""


def is_over(summaries: Sequence[Summary], judgements: Sequence[Judgement] | None = None) -> bool:
    """
    Return whether a run of two versions has said what it is for.

    That is whether each limit is crossed beyond doubt, or excluded; without any limit, whether by
    the deciding metric new is better, worse, or surely within 5 % of old.

    Args:
        summaries: What was found.
        judgements: What it says to each limit; None to judge the plan's.
    """
    if judgements is None:
        judgements = [judgement for summary in summaries for judgement in judge_own(summary)]
    return (
        all(map(is_decided, judgements))
        if judgements
        else all(map(ended_early, _to_old(summaries)))
    )


def is_decided(judgement: Judgement) -> bool:
    """Return whether a limit is crossed beyond doubt, or excluded; of a count whether it is not."""
    passed = judgement.outcome is ThresholdOutcome.PASSED and isinstance(
        judgement.why, CountReading
    )
    return judgement.outcome is ThresholdOutcome.FAILED or passed or is_excluded(judgement)


def exit_status(summaries: Sequence[Summary], judgements: Sequence[Judgement]) -> int:
    """
    Return the exit status of a run, with what it says to its limits.

    Of two versions a noise check that fails for want of blocks makes none by itself: what is
    decided needs no quieter machine.
    """
    status = exit_code(judgements, sweep_values.exit_code(summaries))
    of_versions = summaries[0].run.plan.deciding is not None
    if status != UNJUDGED or not of_versions or any(map(_unlike, summaries)):
        return status
    return 0 if is_over(summaries, judgements) else status


def inconclusive(summaries: Sequence[Summary], judgements: Sequence[Judgement]) -> Iterator[str]:
    """Yield why a run with exit status 3 is inconclusive."""
    if sweep_values.exit_code(summaries) == UNJUDGED:
        yield "too few valid trials" if any(map(_has_too_few, summaries)) else "too noisy"
    if any(STATUSES[judgement.outcome] == UNJUDGED for judgement in judgements):
        yield "a limit is inconclusive"


def _has_too_few(summary: Summary) -> bool:
    measurable = sum(HEADLINE in row.values for row in summary.rows)
    return summary.aa[HEADLINE].ratio is None or measurable < min(2, len(summary.rows))


def blocks_to_tell(judgement: Judgement, run: Run) -> int | None:
    """
    Return about how many blocks would cross or exclude a limit, should its ratio stay where it is.

    The interval and the noise shrink with the root of their number. None where the most that there
    may be would not do, and where the ratio is a bound of the true one, which no block changes.

    Args:
        judgement: Of a limit that is open.
        run: That has left it so.
    """
    ratio_reading = judgement.why
    if not isinstance(ratio_reading, RatioReading) or judgement.bound is not None:
        return None
    ratio = ratio_reading.ratio
    half = math.log(ratio.high / ratio.low) / 2
    most = MOST_BLOCKS * run.blocks if run.plan.minutes is None else run.plan.blocks
    for blocks in range(run.blocks + 1, most + 1):
        shrunk = math.sqrt(run.blocks / blocks)
        there = Estimate(
            ratio.value,
            ratio.value * math.exp(-half * shrunk),
            ratio.value * math.exp(half * shrunk),
            blocks,
            ratio.level,
        )
        floor = max(LEAST_FLOOR, ratio_reading.floor * shrunk)
        if is_decided(judge_ratio(judgement.threshold, there, floor, 1.0)):
            return blocks
    return None


def _to_old(summaries: Sequence[Summary]) -> Iterator[Comparison]:
    for summary in summaries:
        old, metric = summary.run.plan.reference, summary.run.plan.deciding or METRICS[0]
        others = (profile.name for profile in summary.run.plan.profiles if profile.name != old)
        yield from (summary.compare(metric, name, old) for name in others)


def _unlike(summary: Summary) -> bool:
    """Return whether old is not known to be as old again."""
    ratio = summary.aa[HEADLINE].ratio
    return ratio is None or differs(ratio)
