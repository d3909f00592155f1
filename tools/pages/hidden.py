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
    said = UNSEEN.sub("", text)
    if kind in SENTENCES:
        return tuple(_of_sentence(kind, rest, said))
    warned = (each for each in _banners(directive) if markdown.warnings([each]).strip() not in text)
    drawn = _of_picture(rest, image) if kind == "figure" else ()
    return (*warned, *drawn)


def of_one_core(own: str, directives: Iterable[str]) -> tuple[str, ...]:
    """
    Return the runs that a page quotes and whose server had one core, if the page hides that.

    Args:
        own: The page without what its directives put into it.
        directives: All of them.
    """
    if ONE_CORE.search(" ".join(UNSEEN.sub("", own).split())):
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


def _bound(found: Comparison) -> Iterator[str]:
    """Yield what must be said of a ratio that the load limited; nothing of another."""
    ends = found.between
    if ends is not None:
        yield "at most" if ends.low is None else "at least" if ends.high is None else "between"
    if found.may_be is not None:
        yield BOUNDS[found.may_be]


def _told_first(found: RunConclusion) -> Iterator[Comparison]:
    """Yield the comparisons that the first sentence of a report tells."""
    if found.sweep is not None:
        yield from (each.most for each in (*found.sweep.gains, *found.sweep.differences))
        return
    if (moved := found.points[0].moved) is None:
        return
    parts = (moved.settings, moved.application, moved.further)
    yield from filter(None, parts if moved.application else (moved.whole,))


def _of_picture(figure: str, image: str) -> Iterator[str]:
    texts = [each.text or "" for each in ET.fromstring(image).iter(f"{SVG}text")]  # noqa: S314 - ours
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
    yield from (each for each in dict.fromkeys(needed) if each not in " ".join(texts))


def _of_sweep(run: RunConclusion, texts: Collection[str]) -> Iterator[str]:
    """Yield what the picture of a sweep must say."""
    assert run.sweep is not None
    yield from caveats_of_sweep(run.sweep)
    if "throughput" in run.sweep.measured:
        for profile in (each for each in run.sweep.profiles if each in texts):
            found = (reading(each, profile, "throughput") for each in run.summaries)
            yield from ("at least" for each in found if each is not None and each.least)


def _of_load(found: Conclusion, name: str, texts: Collection[str]) -> Iterator[str]:
    """Yield what a picture of one load must say; only `forest` has ratios."""
    yield from caveats(found)
    for step in found.summary.steps:
        if name == "forest" and step.profile in texts:
            sides = (step.step, step.baseline)
            drawn = (side[found.metric].may_be for side in sides if found.metric in side)
            yield from (BOUNDS[each] for each in drawn if each is not None)


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
    return settled([each for each in verdicts() if each.claim.source == source])


def _runs(directive: str) -> Iterator[str]:
    """Yield the runs of which a directive has figures, or a few words."""
    kind, _, rest = directive.partition(" ")
    if kind in SENTENCES | {"run", "figure", "printed"} and rest not in WITHOUT_RUN | {"stress"}:
        yield rest.partition(": ")[0]
    yield from (each.run for each in _verdicts(directive) if each.run is not None)


def _warnings(found: RunConclusion) -> Iterator[Notice]:
    if found.sweep is None:
        yield from found.points[0].warnings
    else:
        yield from found.sweep.warnings
        yield from (warning for _, warning in found.sweep.warned)


def _on_one_core(found: RunConclusion) -> bool:
    told: SweepConclusion | Conclusion = found.sweep or found.points[0]
    return told.single_core if isinstance(told, SweepConclusion) else told.on_one_core


@functools.cache
def _concluded(run: str) -> RunConclusion:
    return conclude_run((summary(run),) if " at " in run else swept(run))
