"""The legend of a report: its terms and marks in a few lines."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence

from lab.analysis.conclusion import Conclusion
from lab.analysis.descent import reference_lines
from lab.analysis.stats import CONFIDENCE
from lab.model.numbers import levels, percent
from lab.model.plan import Plan


class Term(enum.StrEnum):
    """A word or a mark of a report that a reader may want explained."""

    MEDIAN = "median"
    RATIO = "ratio"
    BOTH = "both"
    """A reference that is the mean of its two trials of a block."""
    VERDICT = "verdict"
    BELOW = "below"
    ALL_REQUESTS = "all requests"
    """The time of a counted load."""
    DUE = "due"
    """Percentiles of an open loop."""
    SATURATED = "saturated"
    """Percentiles of a load without a pause."""
    REFERENCE_LINE = "reference line"


def lines(plan: Plan) -> tuple[str, ...]:
    """Return the names of the reference lines."""
    return tuple(profile.name for profile in reference_lines(plan))


def terms(plan: Plan) -> Iterator[Term]:
    """Yield what the report of a run says that needs a legend."""
    yield from (Term.MEDIAN, Term.RATIO)
    if plan.against_both:
        yield Term.BOTH
    yield from (Term.VERDICT, Term.BELOW)
    if plan.load.requests is not None:
        yield Term.ALL_REQUESTS
    else:
        yield Term.SATURATED if plan.load.rate is None else Term.DUE
    if reference_lines(plan):
        yield Term.REFERENCE_LINE


def of_both(plan: Plan) -> str:
    """Say what the ratios of a plan are of that has its reference's two trials count."""
    name = plan.reference
    return (
        f"Each ratio is to the mean of {name}'s two trials in a block (to the valid one, if only "
        "one is valid); the mean leaves out an eighth of the blocks at each end."
    )


def legend(conclusion: Conclusion) -> tuple[str, ...]:
    """Explain the tables in a few lines."""
    plan = conclusion.summary.run.plan
    explanations = {
        Term.MEDIAN: (
            "Medians of the trials in which a figure counts; -: unknown, or it counts in none. "
            "Valid trials: all figures count; the second trials of "
            f"{plan.reference} are not among them."
        ),
        Term.RATIO: (
            "1.42x [1.31, 1.55]: mean of the ratios within each block (not of the medians above) "
            f"and its {_level_words(conclusion.levels)} over n blocks; ~: it may be 1."
        ),
        Term.BOTH: of_both(plan),
        Term.VERDICT: (
            "better, worse: the whole interval lies outside the noise (at least 2%); "
            "inconclusive: it does not."
        ),
        Term.BELOW: (
            "no difference (< 5%): a change of 5% or more is excluded. "
            "gain < 5%, loss possible: a gain of 5% or more is excluded, a loss is not."
        ),
        Term.ALL_REQUESTS: (
            "all requests: time until the last request ended; also shown for invalid trials."
        ),
        Term.DUE: (
            "p50, p90, p99: from the time at which a request was due; service: from sending it."
        ),
        Term.SATURATED: ("p50, p99: measured at saturation, so higher than at normal load."),
        Term.REFERENCE_LINE: (
            f"{', '.join(lines(plan))}: reference lines: the same reply to every request, so "
            "what the server alone needs."
        ),
    }
    return tuple(explanations[term] for term in terms(plan))


def _level_words(confidence_levels: Sequence[float]) -> str:
    """Say which level the intervals have, as in a legend: the noise check's where it is another."""
    usual, steps = percent(CONFIDENCE), levels(confidence_levels)
    if steps == usual:
        return f"{usual} interval"
    return f"interval ({steps}; the noise check's {usual})"
