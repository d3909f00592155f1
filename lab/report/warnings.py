"""The text of a warning, and the warnings of several reports, merged by kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lab.analysis.warning import Failing, NeverStarted, Noise, NothingCompared
from lab.model.notice import Notice
from lab.report.remedies import with_remedy

STATUS_3 = " Exit status 3: inconclusive because of this noise."

POINTERS: Mapping[type[Notice], str] = {
    NeverStarted: "The reason is below.",
    Failing: "The reason is below.",
    NothingCompared: "The reasons are below.",
}
"""Class of warning -> sentence that points to the reasons, which the report prints below."""


def with_status(warning: Notice) -> str:
    """Return the text of a warning, with the exit status if the warning decides it."""
    decides = isinstance(warning, Noise) and warning.decides
    return text_of(warning) + STATUS_3 * decides


def text_of(warning: Notice) -> str:
    """Return the text of a warning, without the exit status, which belongs to the whole run."""
    pointer = POINTERS.get(type(warning))
    return with_remedy(warning) if pointer is None else f"{with_remedy(warning)} {pointer}"


def by_kind(warnings: Iterable[tuple[str, Notice]]) -> Iterator[tuple[tuple[str, ...], str]]:
    """
    Yield the reports that have a kind of warning, and the text in the first of these reports.

    Args:
        warnings: The name of a report, such as the value of a sweep, and a warning of it.

    >>> from lab.analysis.warning import EndedEarly
    >>> list(by_kind([("1k", EndedEarly(1, 9)), ("10k", EndedEarly(2, 9))]))
    [(('1k', '10k'), 'Ended early: 1 of 9 planned trials were measured.')]
    """
    kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for report, warning in warnings:
        texts, text = kinds[warning.kind][report], text_of(warning)
        if text not in texts:
            texts.append(text)
    for reports in kinds.values():
        for text in next(iter(reports.values())):
            yield tuple(reports), text


def text_source(reports: Sequence[str]) -> str:
    """Return which of several reports a text of `by_kind` is from; empty for a single report."""
    return f" (figures of {reports[0]})" if len(reports) > 1 else ""
