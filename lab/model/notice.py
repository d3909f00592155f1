"""A fact of a run that a reader is to know, with its sentence and what would mend it."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Means(enum.Enum):
    """What a remedy takes; `lab.report.remedies` has the words, with the options of a command."""

    BLOCKS = enum.auto()
    """About so many; a quieter machine would do as well."""
    QUIETER_MACHINE = enum.auto()
    """Nothing else would do."""
    MINUTES = enum.auto()
    """So many in all."""
    LATER_WINDOWS = enum.auto()
    """Windows that begin later and are longer."""
    ENGINE = enum.auto()
    """The lab's engine for the load; this and the next three give a load more than it had."""
    GENERATORS = enum.auto()
    """So many, if the load generator has a CPU for each of them."""
    PROCESSES = enum.auto()
    """The same, of another generator than the lab's."""
    CORES = enum.auto()


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would mend what a notice tells."""

    means: Means
    number: int | None = None
    """How many it takes; None where the means has no number."""


class Notice:
    """One fact, and its sentence: a plain text that is the same in each form of a report."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """Name in `summary.json`: a class that is renamed keeps its earlier one."""
        return type(self).__name__

    @property
    def remedy(self) -> Remedy | None:
        """What would mend it; None where nothing would, or where the sentence tells it."""
        return None

    def sentence(self) -> str:
        """Return the fact in words that name no option of a command."""
        raise NotImplementedError(self.kind)
