"""What a gate says of a trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate that fired: why a trial does not count, and what to do about it."""

    gate: str
    reason: str
    advice: str
    withholds: frozenset[str] | None = None
    """Names of the metrics that it makes meaningless; None for all of them."""

    outside: bool = False
    """Whether the cause lies outside the experiment, so that the trial may be repeated."""
