"""The warnings of several reports, each kind of them said once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from lab.analysis.health import NOISY


def by_kind(warned: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, ...], str]]:
    """
    Yield where each kind of warning stands, and its words; of several places those of the first.

    A kind is what a warning begins with, up to a colon. The exit status is left out: it is that of
    the whole run, and not of a place.

    Args:
        warned: The place of each warning, and its text.

    >>> list(by_kind([("1k", "Noisy: by 3%."), ("10k", "Noisy: by 9%."), ("10k", "Failed: a.")]))
    [(('1k', '10k'), 'Noisy: by 3%.'), (('10k',), 'Failed: a.')]
    """
    kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for place, text in dict.fromkeys(warned):
        kinds[text.partition(":")[0]][place].append(text.removesuffix(f" {NOISY}"))
    for places in kinds.values():
        for text in next(iter(places.values())):
            yield tuple(places), text


def example(places: Sequence[str]) -> str:
    """Say whose words stand for all *places*; nothing where there is one place alone."""
    return f" (the words are those of {places[0]})" if len(places) > 1 else ""
