"""What a metric was at one value of a sweep, whether it counts or not."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.metrics import derive
from lab.analysis.summary import Summary


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric of one profile at one value, in SI units."""

    median: float
    trials: tuple[float, ...]
    """What *median* is of."""
    counts: bool
    """False where a gate withholds it in every trial: then it is shown, and nothing follows."""


def reading(summary: Summary, profile: str, metric: str) -> Measured | None:
    """Return what *metric* was in the trials that count, else in all; None where it was in none."""
    own = [item for item in summary.observations if item.trial.is_own(profile)]
    found = tuple(item.metrics[metric] for item in own if metric in item.metrics)
    counts = bool(found)
    if not counts:
        derived = (derive(item.trial) for item in own)
        found = tuple(each[metric] for each in derived if metric in each)
    return Measured(statistics.median(found), found, counts) if found else None


def value_of(summary: Summary) -> tuple[str, str]:
    """Return the quantity that is swept, and its value in this part of the run."""
    ((name, value),) = summary.run.plan.arms[0].at.items()
    return name, value


def shown(found: Sequence[Summary]) -> tuple[str, ...]:
    """Return the metrics that a sweep is told by; errors where there was one, `system` so, too."""
    rows = [row for summary in found for row in summary.rows]
    system = ("system",) if any("system" in row.values for row in rows) else ()
    errors = ("errors",) if any(row.values.get("errors") for row in rows) else ()
    return ("throughput", "cpu", *system, "p99", *errors)


def order_of(values: list[str]) -> list[float] | None:
    """
    Return the values as numbers to place them by; None where they are none.

    >>> order_of(["1k", "10k"]), order_of(["50%", "80%"]), order_of(["a", "b"])
    ([1024.0, 10240.0], [50.0, 80.0], None)
    """
    found = []
    for value in values:
        number, kilo = value.removesuffix("%").removesuffix("/s"), 1
        if number.endswith("k"):
            number, kilo = number[:-1], 1024
        try:
            found.append(float(number) * kilo)
        except ValueError:
            return None
    return found
