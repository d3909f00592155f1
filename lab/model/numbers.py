"""Numbers as they are printed: three significant figures, the unit in the header."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from lab.model.comparison import Comparison, Estimate, MayBe
from lab.model.metric import METRICS
from lab.model.wording import UNKNOWN


def figure(value: float) -> str:
    """
    Return *value* with three significant figures, and separators between thousands.

    >>> [figure(value) for value in (5371.2, 12.34, 0.99951, 0.01234, 0)]
    ['5,370', '12.3', '1.00', '0.0123', '0']
    """
    rounded = float(f"{value:.3g}")
    if rounded == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def count(value: float) -> str:
    """
    Return a count in full; the median of two counts may have a half.

    >>> count(12345), count(2.5)
    ('12,345', '2.5')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def quantity(name: str, value: float | None) -> str:
    """Return a metric's *value*, in SI units, scaled to the unit that its header names."""
    if value is None:
        return UNKNOWN
    metric = METRICS[name]
    return count(value) if metric.exact else figure(value * metric.scale)


def ratio(estimate: Estimate) -> str:
    """
    Return a ratio with its interval.

    >>> ratio(Estimate(1.4217, 1.309, 1.5501, 10))
    '1.42x [1.31, 1.55]'
    """
    return f"{centre(estimate)} {interval(estimate)}"


def bounded(comparison: Comparison) -> str:
    """Return what is known of a ratio: itself, or a bound or the ends of it; `-` for nothing."""
    if comparison.ratio is None:
        return UNKNOWN if comparison.between is None else str(comparison.between)
    return f"{comparison.bound}{ratio(comparison.ratio)}"


def judged(comparison: Comparison) -> str:
    """Return what is known of a ratio with its verdict, and what weakens that; or `-`."""
    if comparison.ratio is None:
        bounds = bounded(comparison)
        return bounds if comparison.between is None else f"{bounds}, {comparison.verdict_text}"
    fragile = ", fragile" if comparison.fragile else ""
    both = ", both limited" if comparison.may_be is MayBe.EITHER else ""
    return f"{bounded(comparison)} {comparison.verdict_text}{fragile}{both}"


def centre(estimate: Estimate) -> str:
    """
    Return a ratio alone, and `~` before it when its interval holds 1.

    >>> centre(Estimate(1.01, 0.98, 1.04, 10))
    '~1.01x'
    """
    about = "~" if estimate.low <= 1 <= estimate.high else ""
    return f"{about}{figure(estimate.value)}x"


def interval(estimate: Estimate, written: Callable[[float], str] = figure) -> str:
    """
    Return the interval of a ratio, its ends as *written* writes them.

    >>> interval(Estimate(1.01, 0.98, 1.04, 10))
    '[0.980, 1.04]'
    """
    return f"[{written(estimate.low)}, {written(estimate.high)}]"


def percent(level: float) -> str:
    """
    Return the level of an interval as it is printed.

    >>> percent(0.995), percent(0.96)
    ('99.5%', '96%')
    """
    return f"{100 * level:g}%"


def levels(confidence_levels: Sequence[float]) -> str:
    """
    Return the levels of intervals.

    >>> levels((0.96, 0.995))
    '96% or 99.5%'
    """
    return " or ".join(map(percent, confidence_levels))


def share(value: float) -> str:
    """
    Return a share in percent.

    >>> share(0.0312)
    '3.1%'
    """
    return f"{value:.1%}" if value < 0.1 else f"{value:.0%}"
