"""What limited a profile, and how far that is proved."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from lab.model.comparison import Comparison
from lab.model.plan import CounterRun


@dataclass(frozen=True, slots=True)
class Cause:
    """What limited one trial."""

    name: str
    """See `lab.analysis.diagnose`: "router", "accept queue", "server CPU", ..."""

    evidence: str
    """The readings that show it, with their numbers."""

    rules_out: str = ""
    """What speaks against the other causes, with numbers."""


class Standing(enum.StrEnum):
    """How far a cause is proved."""

    CONSISTENT = "consistent with"
    """The readings fit; nothing was toggled, or the result is undecided."""
    CONFIRMED = "cause"
    """With the one setting toggled the metric moved as predicted, beyond the noise."""
    WITHDRAWN = "withdrawn"
    """With the one setting toggled the metric stayed where it was, or moved the other way."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A cause over the trials of one profile."""

    profile: str
    cause: Cause
    """As one of its trials shows it: the one in the middle."""
    trials: int
    """Trials that show it."""
    of: int
    """Trials that could."""
    standing: Standing
    counter: CounterRun | None = None
    effect: Comparison | None = None
    """The counter-run over the profile itself, by the counter-run's metric."""
