"""A configuration that is read once, and what the rules find in it, each of which is asked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from lab.config.configuration import Config, Known
from lab.lint.case import Case
from lab.lint.flaw import Flaw
from lab.lint.rules.rule import RULES


class Reading:
    """One reading of a file, which is passed to whoever asks what it says."""

    def __init__(self, config: Config) -> None:
        self.case = Case.of(config)
        self._found: dict[str, tuple[Flaw, ...]] = {}
        self._is_on_a_machine = False

    def found(self, codes: Iterable[str]) -> Iterator[Flaw]:
        """Yield what these rules find; what is known of the machine, they may know or not."""
        for code in codes:
            if code not in self._found:
                self._found[code] = tuple(RULES[code].flaws(self.case))
            yield from self._found[code]

    def found_on(self, known: Callable[[], Known]) -> list[Flaw]:
        """
        Return what all rules find.

        Args:
            known: Says what is known of the machine; it is asked once, and its answer kept.
        """
        if not self._is_on_a_machine:
            self.case = replace(self.case, known=known())
            self._is_on_a_machine = True
        return list(self.found(sorted(RULES)))
