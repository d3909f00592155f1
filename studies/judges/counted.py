"""What the judges said of a recording, as it is stored in studies/results/judges.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from studies.judges.counts import CountedInstructions
from studies.judges.made import MoodMade


@dataclass(frozen=True, slots=True)
class Counted:
    """What one judge said of all comparisons of one kind."""

    comparisons: int
    """That it has decided."""
    red: int
    """Of them those in which it called the new version slower."""
    untold: int
    """Those in which it said that it cannot tell."""
    unfinished: int
    """Further ones that the recording's end cut off: they count for nothing."""
    minutes: float | None
    """Median of what a verdict took, by its own trials; None without any."""
    longest: float | None
    """The longest."""


@dataclass(frozen=True, slots=True)
class JudgesResult:
    """The whole; `lab.bench.store.folder.read_json` reads it from its file."""

    FORMAT: ClassVar[int] = 1
    WHAT: ClassVar[str] = "result of studies.judges"

    format: int
    command: str
    seed: int
    sizes: Mapping[str, float]
    turns: Mapping[str, int]
    request: float
    """CPU seconds of a request of the old version."""
    machine: Mapping[str, Any]
    recorded: Mapping[str, MoodMade]
    """Mood -> what was recorded."""
    moods: Mapping[str, Mapping[str, Mapping[str, Counted]]]
    """Mood, or "all", -> judge -> what is planted -> what it said."""
    instructions: CountedInstructions | None = None
    """Of a request of each version; None where they were not counted."""
