"""The footnotes of a run, in the order in which they are printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.analysis import footnotes
from lab.analysis.limits import no_effect
from lab.analysis.load_limit import bounded_ratios, load_at_limit
from lab.analysis.summary import Summary
from lab.analysis.undecided import left_early, outlook, undecided
from lab.model.metric import shown
from lab.model.notice import Notice


def notices(summary: Summary, metric: str) -> tuple[Notice, ...]:
    """
    Return the notices of some of a run's figures; those of the gates come before them.

    Args:
        summary: What was found.
        metric: By which the run is judged.
    """
    metrics = shown(summary.run.plan.load)
    return tuple(notice for notice in _every(summary, metric, metrics) if notice is not None)


def _every(summary: Summary, metric: str, metrics: Sequence[str]) -> Iterator[Notice | None]:
    run = summary.run
    yield footnotes.made_again(run)
    yield left_early(summary, metrics)
    yield outlook(summary, metric)
    yield from undecided(summary, metrics)
    yield footnotes.fragile(summary, metrics)
    yield load_at_limit(summary)
    yield bounded_ratios(summary, metrics)
    yield footnotes.sent_again(summary)
    yield footnotes.busiest_worker(run)
    yield from footnotes.several_settings(summary)
    yield footnotes.sent_late(run)
    yield from footnotes.varying_replies(run)
    yield footnotes.telling_values(run)
    yield from no_effect(summary.inert)
    yield footnotes.protocols(run)
    yield from footnotes.around(run)
