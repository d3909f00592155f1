"""What a self-test found, as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

RIGHT = 0.9
"""Share of a case's judged trials that must be right: the goal that the rules are made for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the lab says of a trial."""

    found: str
    """Name of a cause, of a gate, or `UNEXPLAINED`."""
    evidence: str
    figures: Mapping[str, float]
    """Metrics and readings of the trial: they show on which of them a miss hung."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What was said of one planted fault."""

    name: str
    expected: str
    summary: str
    """What was planted."""
    found: Mapping[str, int]
    """What was said -> number of trials."""
    disturbed: int = 0
    """Trials that something outside disturbed, and that were repeated or count for nothing."""
    evidence: str = ""
    """Of a trial that was right."""
    misses: tuple[Answer, ...] = ()
    """Where something else was said than was planted."""
    skipped: str | None = None
    """Why it could not be made here."""

    @property
    def right(self) -> int:
        """Trials of which the right thing was said."""
        return self.found.get(self.expected, 0)

    @property
    def judged(self) -> int:
        """Valid trials."""
        return sum(self.found.values())

    @property
    def wrong(self) -> int:
        """Trials of which something else was said."""
        return self.judged - self.right


@dataclass(frozen=True, slots=True)
class EffectResult:
    """A planted difference, or none, between two profiles."""

    name: str
    expected: str
    """Verdict."""
    found: str
    """Verdict."""
    ratio: tuple[float, float, float] | None
    """Value, low and high: of CPU per request, changed over reference, or of what the name says."""
    blocks: int
    """Pairs behind it."""
    right: bool | None
    """None where this machine was too noisy to decide."""


@dataclass(frozen=True, slots=True)
class SelfTestResult:
    """A whole self-test; `lab.bench.store.folder.read_json` reads it from its file."""

    FORMAT: ClassVar[int] = 1
    """1: the first."""
    WHAT: ClassVar[str] = "result of a self-test"

    format: int
    quick: bool
    machine: Mapping[str, Any]
    """CPU, kernel and Python of `lab.bench.store.environment`."""
    cases: tuple[CaseResult, ...]
    effects: tuple[EffectResult, ...] = ()

    @property
    def status(self) -> int:
        """
        Exit status: 0 when the lab may be trusted there, 1 when it was wrong, 3 when unproved.

        In full, nine of ten trials of each case must be right, and every effect. The quick form has
        too few trials for a share: one of all may be wrong, one case may be unproved, and an effect
        that five blocks leave undecided is no failure. Without one judged trial nothing is proved.
        """
        made = [case for case in self.cases if case.skipped is None]
        unproved = sum(not case.judged for case in made)
        wrong = sum(effect.right is False for effect in self.effects)
        only_effects = not self.cases and any(effect.right is not None for effect in self.effects)
        if not only_effects and not any(case.judged for case in made):
            return 1 if wrong else 3
        if self.quick:
            wrong += sum(case.wrong for case in made)
            return 1 if wrong > 1 else 3 if unproved > 1 else 0
        wrong += sum(case.right < RIGHT * case.judged for case in made)
        unproved += sum(effect.right is None for effect in self.effects)
        return 1 if wrong else 3 if unproved else 0
