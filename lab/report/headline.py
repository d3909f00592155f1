"""What a report opens with: who won and by how much, whether that trustworthy, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lab.analysis.conclusion import BaselineDistance, Conclusion, Trust
from lab.analysis.health import NoiseCheck
from lab.model.comparison import Comparison, MayBe, Verdict
from lab.model.diagnosis import Standing
from lab.model.metric import METRICS
from lab.model.numbers import bounded, centre, figure, interval, ratio, share
from lab.model.wording import UNKNOWN

ANOTHER = "another application"
"""What is said beside a comparison of two profiles that do not serve the same one."""

Trusted = Literal["trustworthy", "with care", "not trustworthy"]

TRUSTED: Mapping[Trust, Trusted] = {
    Trust.YES: "trustworthy",
    Trust.CARE: "with care",
    Trust.NO: "not trustworthy",
}
"""How far a run can be believed, in words; `summary.json` has them, too."""


@dataclass(frozen=True, slots=True)
class HeadlineFigure:
    """A figure of the run as a whole."""

    label: str
    value: str
    note: str = ""


def sentence(conclusion: Conclusion) -> str:
    """
    Return the verdict in one sentence, after another on whom it does not speak of.

    What changed most, what limits that, and whether the machine passed the noise check.
    """
    first = "" if conclusion.uncounted is None else f"{conclusion.uncounted.sentence()} "
    won = _won(conclusion)
    parts = (won, _limit(conclusion), _noise(conclusion.noise))
    return f"{first}{'; '.join(filter(None, parts))}."


def first(conclusion: Conclusion) -> str:
    """Return what changed most, or what the run cannot tell, as a sentence by itself."""
    return f"{_won(conclusion)}."


def facts(conclusion: Conclusion) -> tuple[HeadlineFigure, ...]:
    """Return what the verdict rests on."""
    summary = conclusion.summary
    plan = summary.run.plan
    names = ("cpu",) if plan.load.rate is not None else ("throughput", "cpu")
    headline_figures = []
    for name in names:
        aa = summary.aa[name].ratio
        value, within = (centre(aa), f"{interval(aa)}, ") if aa is not None else (UNKNOWN, "")
        note = f"{within}{plan.reference} against itself"
        headline_figures.append(HeadlineFigure(f"Noise check, {METRICS[name].title}", value, note))
    known = (share(summary.floors[name]) if summary.aa[name].ratio else UNKNOWN for name in names)
    floors = ", ".join(known)
    titles = ", ".join(METRICS[name].title for name in names)
    note = f"{titles}: the noise, at least 2%; the whole interval of a difference lies outside it"
    headline_figures.append(HeadlineFigure("Floor", floors, note))
    if conclusion.detectable is not None:
        note = f"in {METRICS[conclusion.metric].title}, with 80% power; the median step's"
        headline_figures.append(
            HeadlineFigure("Smallest detectable change", f"{figure(conclusion.detectable)}x", note)
        )
    valid, total = (sum(getattr(row, key) for row in summary.rows) for key in ("valid", "total"))
    headline_figures.append(
        HeadlineFigure(
            "Valid trials",
            f"{valid} of {total}",
            f"{summary.measured} of {summary.planned} planned trials were made, including the "
            "noise check",
        )
    )
    again = str(summary.run.made_again)
    headline_figures.append(
        HeadlineFigure("Repeated trials", again, "after a disturbance from outside the run")
    )
    return tuple(headline_figures)


def nothing_compared(conclusion: Conclusion) -> str:
    """Say why a run compares nothing."""
    if conclusion.alone:
        return f"{conclusion.baseline} ran alone, so there is nothing to compare it with"
    return "Nothing can be compared"


def _won(conclusion: Conclusion) -> str:
    baseline, title = conclusion.baseline, METRICS[conclusion.metric].title
    if not conclusion.compared:
        return nothing_compared(conclusion)
    if conclusion.moved is None:
        return f"No measurable difference from {baseline} by {title}"
    text = _moved(conclusion.moved)
    if conclusion.moved.whole.verdict is Verdict.WORSE:
        return f"No profile is better than {baseline} by {title}, and {text}"
    if conclusion.moved.application is not None:
        return f"{text[0].upper()}{text[1:]}"
    if conclusion.cpu is not None and conclusion.cpu.ratio is not None:
        text += f", for {ratio(conclusion.cpu.ratio)} the CPU per request"
    return text


def _moved(moved: BaselineDistance) -> str:
    """Say how a profile compares with the baseline, as the subject of a sentence."""
    if moved.application is None:
        return _times(moved.whole)
    if moved.application is moved.whole:
        return f"by {ANOTHER} and more, {_times(moved.whole)}"
    more = f" and more ({moved.missing} is not in this run)" if moved.missing else ""
    parts = [f"by {ANOTHER}{more}, {_times(moved.application)}"]
    if moved.settings is not None:
        parts.insert(0, f"by settings, {_times(moved.settings)}")
    if moved.further is not None:
        parts.append(_times(moved.further))
    return "; ".join(parts)


def _limit(conclusion: Conclusion) -> str:
    """Say what limits what changed most, else the baseline; nothing where that is not known."""
    who = conclusion.baseline if conclusion.moved is None else conclusion.moved.whole.changed
    if conclusion.limit is None:
        return ""
    if conclusion.limit.standing is Standing.CONFIRMED:
        return f"{who} is limited by {conclusion.limit.cause.name}"
    return f"{who} is probably limited by {conclusion.limit.cause.name}"


def _noise(noise_check: NoiseCheck | None) -> str:
    if noise_check is None:
        return "the noise of this machine is unknown, so no difference here is trustworthy"
    noise = same_twice(noise_check)
    if noise_check.passed:
        return f"noise check passed: {noise}"
    return f"noise check failed: {noise}, more than wanted, so only larger differences are reported"


def same_twice(noise_check: NoiseCheck) -> str:
    """Say how large the noise is, and by which metric."""
    title = METRICS[noise_check.metric].title
    return f"{share(noise_check.within)} noise in {title}, same server twice"


def _times(comparison: Comparison) -> str:
    """Say how a profile compares, as the subject of a sentence."""
    title = METRICS[comparison.metric].title
    if comparison.ratio is None:
        return f"{comparison.changed} cannot be compared with {comparison.reference}"
    verb = "serves" if comparison.metric == "throughput" else "takes"
    differs = comparison.verdict.differs
    times = bounded(comparison) + ("" if differs else f" ({comparison.verdict_text})")
    aside = ", both saturated the load generator" if comparison.may_be is MayBe.EITHER else ""
    return f"{comparison.changed} {verb} {times} the {title} of {comparison.reference}{aside}"
