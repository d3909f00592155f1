"""What stands behind the sentence of a warning, and the warnings of several reports by kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lab.analysis.warning import Failing, NeverStarted, Noise, NothingCompared
from lab.model.notice import Notice
from lab.report.remedies import with_remedy

STATUS = " Exit status 3: inconclusive because of this noise."

REASONS: Mapping[type[Notice], str] = {
    NeverStarted: "The reason is below.",
    Failing: "The reason is below.",
    NothingCompared: "The reasons are below.",
}
"""Warnings whose reasons a reader needs, and finds below -> the words of that."""


def told(warning: Notice) -> str:
    """Return a warning of a whole run, with what the exit status has to do with it."""
    decides = isinstance(warning, Noise) and warning.decides
    return words(warning) + STATUS * decides


def words(warning: Notice) -> str:
    """Return a warning without the exit status, which is that of the whole run."""
    reason = REASONS.get(type(warning))
    return with_remedy(warning) if reason is None else f"{with_remedy(warning)} {reason}"


def by_kind(warned: Iterable[tuple[str, Notice]]) -> Iterator[tuple[tuple[str, ...], str]]:
    """
    Yield where each kind of warning stands, and its words; of several places those of the first.

    Args:
        warned: The place of each warning, and the warning.

    >>> from lab.analysis.warning import EndedEarly
    >>> list(by_kind([("1k", EndedEarly(1, 9)), ("10k", EndedEarly(2, 9))]))
    [(('1k', '10k'), 'Ended early: 1 of 9 planned trials were measured.')]
    """
    kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for place, warning in warned:
        said, text = kinds[warning.kind][place], words(warning)
        if text not in said:
            said.append(text)
    for places in kinds.values():
        for text in next(iter(places.values())):
            yield tuple(places), text


def example(places: Sequence[str]) -> str:
    """Say whose words stand for all *places*; nothing where there is one place alone."""
    return f" (the words are those of {places[0]})" if len(places) > 1 else ""
