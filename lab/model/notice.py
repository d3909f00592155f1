"""`Notice`: a fact that a reader has to know, with its sentence and its remedy."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Means(enum.Enum):
    """The kinds of remedies; `lab.report.remedies` has the texts, with options of commands."""

    BLOCKS = enum.auto()
    """About *number* blocks, or a quieter machine."""
    QUIETER_MACHINE = enum.auto()
    """A quieter machine; nothing else helps."""
    MINUTES = enum.auto()
    """A time limit of *number* minutes."""
    LATER_WINDOWS = enum.auto()
    """Longer warm-ups and windows."""
    ENGINE = enum.auto()
    """The lab's own load generator; this and the next three make more load possible."""
    GENERATORS = enum.auto()
    """*number* processes of the lab's load generator, if it has a CPU for each."""
    PROCESSES = enum.auto()
    """*number* processes of another load generator, if it has a CPU for each."""
    CORES = enum.auto()


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a reader can do about a notice."""

    means: Means
    number: int | None = None
    """The number in it; None: this kind has no number."""


class Notice:
    """One fact, and its sentence, which is the same in every form of a report."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The name in `summary.json`: it stays if the class is renamed."""
        return type(self).__name__

    @property
    def remedy(self) -> Remedy | None:
        """What a reader can do about it; None: nothing, or the sentence says it."""
        return None

    def sentence(self) -> str:
        """Return the fact as a sentence without options of commands."""
        raise NotImplementedError(self.kind)
