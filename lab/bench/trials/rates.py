"""
Arrival rates of an open loop: requests per second, or shares of a measured capacity.

A closed loop says how much a server can do; what its users feel, they feel below that. A share is
of the slowest profile's capacity, so that every profile gets the same rate and can keep it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lab.analysis.summary import Summary
from lab.bench.trials.conduct import Measurement, Outcome
from lab.bench.trials.plan import validate_rate
from lab.errors import UnmeasuredError, UsageError

CAPACITY_BLOCKS = 3
"""Blocks of the closed loop that capacity is taken from: a share needs no interval."""

LIKE_A_SHARE = 100
"""Below this number a rate that stands alone may have been meant in percent."""


@dataclass(frozen=True, slots=True)
class Rate:
    """One entry of `--rate`."""

    value: float
    """Requests per second, or a share of the capacity."""
    is_share: bool

    def __str__(self) -> str:
        return f"{self.value:.0%}" if self.is_share else f"{self.value:g}/s"

    def of(self, capacity: float) -> float:
        """Return the rate in requests per second."""
        return self.value * capacity if self.is_share else self.value


def parse_rates(text: str) -> tuple[Rate, ...]:
    """
    Parse rates separated by commas.

    Raises:
        UsageError: One of them is no rate.

    >>> [str(rate) for rate in parse_rates("50%, 80%,2000")]
    ['50%', '80%', '2000/s']
    """
    rates = []
    for word in (part.strip() for part in text.split(",")):
        if not word and "," in text:
            raise UsageError(f"--rate {text!r}: a rate is missing beside a comma; write 50%,80%")
        match = re.fullmatch(r"(\d+\.?\d*)(%|/s)?", word)
        if match is None or not float(match[1]):
            raise UsageError(f"--rate {word!r}: write requests per second, as in 2000, or 50%,80%")
        is_share = match[2] == "%"
        value = float(match[1]) / (100 if is_share else 1)
        if not is_share:
            validate_rate(value)
        elif not 0.01 <= value <= 2:
            raise UsageError(f"--rate {word}: between 1% and 200% of the measured capacity")
        rates.append(Rate(value, is_share))
    return tuple(rates)


def check_units(text: str) -> None:
    """
    Refuse a rate that may as well be meant as a share: 50 of 50/s and 50%.

    Args:
        text: As `parse_rates` takes it.

    Raises:
        UsageError: A number below `LIKE_A_SHARE` stands alone.
    """
    for word in (part.strip() for part in text.split(",")):
        if re.fullmatch(r"\d+\.?\d*", word) and float(word) < LIKE_A_SHARE:
            raise UsageError(
                f"--rate {word}: write {word}% for a share of the slowest profile's capacity, or "
                f"{word}/s for requests per second"
            )


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a share is of."""

    profile: str
    """The slowest of those that are known."""
    rate: float
    """Its requests per second."""
    unknown: tuple[str, ...]
    """Profiles whose throughput is withheld in every trial: any of them may be slower still."""

    def __str__(self) -> str:
        text = f"{self.profile}, the slowest, answers {self.rate:,.0f} a second"
        if self.unknown:
            text += f"; not known, and left out: {', '.join(self.unknown)}"
        return text


def capacity(summary: Summary) -> Capacity:
    """
    Return what the slowest profile of a closed loop can do.

    Raises:
        UnmeasuredError: No trial says how much any of them can do.
    """
    known = {
        row.profile.name: row.values["throughput"]
        for row in summary.rows
        if "throughput" in row.values
    }
    if not known:
        seen = {
            tally.gate.name: tally.example.reason for row in summary.rows for tally in row.tallies
        }
        reasons = "; ".join(f"{gate}: {reason}" for gate, reason in seen.items())
        raise UnmeasuredError(
            f"no profile's capacity could be measured, so it has no share ({reasons}); close other "
            "programs and repeat, or give the rate in requests per second, as in --rate 2000/s"
        )
    slowest = min(known, key=lambda name: known[name])
    unknown = [row.profile.name for row in summary.rows if row.profile.name not in known]
    return Capacity(slowest, known[slowest], tuple(unknown))


def planned(
    rates: Sequence[Rate],
    options: Measurement,
    compare: Callable[[Measurement], Outcome],
    say: Callable[[str], None],
) -> dict[str, float]:
    """
    Return what each rate is called -> requests per second; the capacity is measured for shares.

    Args:
        rates: As they were asked for.
        options: What else was.
        compare: Carries out a comparison.
        say: Told in a line what comes next.

    Raises:
        LabError: The narrow one that says what ended that comparison.
    """
    measured = 0.0
    if any(rate.is_share for rate in rates):
        say("capacity first, in a closed loop:")
        sizes = replace(options.sizes, blocks=min(CAPACITY_BLOCKS, options.sizes.blocks))
        closed = replace(options, sizes=sizes, minutes=None, confirm=False, thresholds=())
        (summary,) = compare(closed).conclusion.summaries
        measured_capacity = capacity(summary)
        measured = measured_capacity.rate
        say(f"capacity: {measured_capacity}")
    planned = {str(rate): rate.of(measured) for rate in rates}
    for name, rate in planned.items():
        say(f"open loop at {name}: {rate:,.0f} requests/s")
    return planned
