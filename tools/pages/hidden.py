"""
What a quotation hides of its run: then its page is refused.

Judged by what the run found, and by none of the functions that write a quotation, so that a mistake
in those is seen: a figure that the load limited is called a bound, a run that warns is quoted with
its warning, a picture has what changes its reading, and a page says that a server had one core.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from xml.etree import ElementTree as ET

from lab.analysis.conclusion import Conclusion
from lab.analysis.sweep import RunConclusion, SweepConclusion, conclude_run
from lab.analysis.sweep_values import reading
from lab.cli.stress.text import banners as stress_banners
from lab.model.comparison import Comparison, MayBe
from lab.model.notice import Notice
from lab.report import markdown
from lab.report.caveats import caveats, caveats_of_sweep
from lab.report.svg import SVG
from studies.articles import show
from studies.articles.claim import ClaimVerdict
from studies.pages.claims import settled, verdicts
from tools.pages.figures import WITHOUT_RUN
from tools.pages.files import document, summary, swept
from tools.pages.proofs import stress_result
from tools.pages.runs import WARNED

SENTENCES = frozenset({"busiest", "ratio", "value", "decision", "limit", "headline"})
"""Directives of a figure, or of a few words, within a sentence."""

BOUNDS = {MayBe.LARGER: "at least", MayBe.SMALLER: "at most", MayBe.EITHER: "saturated"}
"""What must be said of a ratio that the load limited."""

ONE_CORE = re.compile(r"\bone core\b", re.IGNORECASE)
"""What a page says in its own words where a server had no more."""

UNSEEN = re.compile(r"```.*?```|<!--.*?-->|\*", re.DOTALL)
"""What is no visible word of a page: blocks of code, comments, and marks of emphasis."""


def hidden(directive: str, text: str, image: str = "") -> tuple[str, ...]:
    """
    Return what a quotation hides.

    Args:
        directive: What the page asks for.
        text: What it has in its place, with what stands below a picture.
        image: The picture as SVG.
    """
    kind, _, rest = directive.partition(" ")
    visible_text = UNSEEN.sub("", text)
    if kind in SENTENCES:
        return tuple(_of_sentence(kind, rest, visible_text))
    warned = (
        banner for banner in _banners(directive) if markdown.warnings([banner]).strip() not in text
    )
    drawn = _of_picture(rest, image) if kind == "figure" else ()
    return (*warned, *drawn)


def of_one_core(page_text: str, directives: Iterable[str]) -> tuple[str, ...]:
    """
    Return the runs that a page quotes and whose server had one core, if the page hides that.

    Args:
        page_text: The page without what its directives put into it.
        directives: All of them.
    """
    if ONE_CORE.search(" ".join(UNSEEN.sub("", page_text).split())):
        return ()
    runs = dict.fromkeys(chain.from_iterable(map(_runs, directives)))
    return tuple(run for run in runs if _on_one_core(_concluded(run)))


def _of_sentence(kind: str, rest: str, text: str) -> Iterator[str]:
    run, _, what = rest.partition(": ")
    if any(_warnings(_concluded(run))) and WARNED not in text:
        yield WARNED
    needed = Counter(_bounds(kind, run, what))
    yield from (words for words, times in needed.items() if text.count(words) < times)


def _bounds(kind: str, run: str, what: str) -> Iterator[str]:
    """Yield what must be said of each figure of a sentence that the load limited."""
    if kind == "value":
        metric, profile = what.split(" of ")
        rows = (row for row in summary(run).rows if row.profile.name == profile)
        yield from ("at least" for row in rows if row.known(metric)[1])
    elif kind == "ratio":
        metric, changed, reference = re.split(" of | / ", what)
        yield from _bound(summary(run).compare(metric, changed, reference))
    elif kind == "headline":
        yield from chain.from_iterable(map(_bound, _told_first(_concluded(run))))


def _bound(comparison: Comparison) -> Iterator[str]:
    """Yield what must be said of a ratio that the load limited; nothing of another."""
    ends = comparison.between
    if ends is not None:
        yield "at most" if ends.low is None else "at least" if ends.high is None else "between"
    if comparison.may_be is not None:
        yield BOUNDS[comparison.may_be]


def _told_first(run: RunConclusion) -> Iterator[Comparison]:
    """Yield the comparisons that the first sentence of a report tells."""
    if run.sweep is not None:
        yield from (difference.most for difference in (*run.sweep.gains, *run.sweep.differences))
        return
    if (moved := run.points[0].moved) is None:
        return
    parts = (moved.settings, moved.application, moved.further)
    yield from filter(None, parts if moved.application else (moved.whole,))


def _of_picture(figure: str, image: str) -> Iterator[str]:
    texts = [element.text or "" for element in ET.fromstring(image).iter(f"{SVG}text")]  # noqa: S314 - ours
    run, _, name = figure.partition(": ")
    needed: Sequence[str]
    if figure == "stress":
        needed = stress_banners(stress_result())
    elif figure in WITHOUT_RUN:
        needed = ()
    elif name == "sweep":
        needed = [*_of_sweep(_concluded(run), texts)]
    else:
        needed = [*_of_load(_concluded(run).points[0], name, texts)]
    yield from (words for words in dict.fromkeys(needed) if words not in " ".join(texts))


def _of_sweep(run: RunConclusion, texts: Collection[str]) -> Iterator[str]:
    """Yield what the picture of a sweep must say."""
    assert run.sweep is not None
    yield from caveats_of_sweep(run.sweep)
    if "throughput" in run.sweep.measured:
        for profile in (name for name in run.sweep.profiles if name in texts):
            sweep_values = (
                reading(run_summary, profile, "throughput") for run_summary in run.summaries
            )
            yield from (
                "at least"
                for sweep_value in sweep_values
                if sweep_value is not None and sweep_value.least
            )


def _of_load(conclusion: Conclusion, name: str, texts: Collection[str]) -> Iterator[str]:
    """Yield what a picture of one load must say; only `forest` has ratios."""
    yield from caveats(conclusion)
    for step in conclusion.summary.steps:
        if name == "forest" and step.profile in texts:
            sides = (step.step, step.baseline)
            drawn = (side[conclusion.metric].may_be for side in sides if conclusion.metric in side)
            yield from (BOUNDS[may_be] for may_be in drawn if may_be is not None)


def _banners(directive: str) -> Sequence[str]:
    """Return what a table, or the words below a picture, must warn of."""
    kind, _, rest = directive.partition(" ")
    if kind == "stress" or directive == "figure stress":
        return stress_banners(stress_result(rest or "stress"))
    if kind == "figure" and rest in WITHOUT_RUN:
        return ()
    if kind in {"run", "figure", "printed"}:
        return document(rest.partition(": ")[0]).banners
    return show.banners(_verdicts(directive))


def _verdicts(directive: str) -> Sequence[ClaimVerdict]:
    """Return the verdicts whose figures a table of claims has; none of another directive."""
    kind, _, source = directive.partition(" ")
    if kind != "statements":
        return ()
    return settled([verdict for verdict in verdicts() if verdict.claim.source == source])


def _runs(directive: str) -> Iterator[str]:
    """Yield the runs of which a directive has figures, or a few words."""
    kind, _, rest = directive.partition(" ")
    if kind in SENTENCES | {"run", "figure", "printed"} and rest not in WITHOUT_RUN | {"stress"}:
        yield rest.partition(": ")[0]
    yield from (verdict.run for verdict in _verdicts(directive) if verdict.run is not None)


def _warnings(run: RunConclusion) -> Iterator[Notice]:
    if run.sweep is None:
        yield from run.points[0].warnings
    else:
        yield from run.sweep.warnings
        yield from (warning for _, warning in run.sweep.warned)


def _on_one_core(run: RunConclusion) -> bool:
    conclusion: SweepConclusion | Conclusion = run.sweep or run.points[0]
    return (
        conclusion.single_core
        if isinstance(conclusion, SweepConclusion)
        else conclusion.on_one_core
    )


@functools.cache
def _concluded(run: str) -> RunConclusion:
    return conclude_run((summary(run),) if " at " in run else swept(run))
