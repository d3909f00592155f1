"""
The picture of the README: what a ladder's profiles serve, as multiples of its first one.

One metric, few rows, and text that is still read on a phone. Filled: the stored run, with its
interval, or a bar without a dot where only the ends of a ratio are known. Hollow: what the article
has published of the same configuration. The words at the right are what is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from lab.analysis.conclude import conclude
from lab.analysis.summary import Summary
from lab.analysis.undecided import levels as levels_of
from lab.errors import ResultsError
from lab.model.comparison import Comparison, Verdict
from lab.model.numbers import bounded, figure, levels
from lab.report.caveats import caveats
from lab.report.headline import ANOTHER
from lab.report.palette import LIGHT
from lab.report.plots.forest import BOUNDS, COLOURS, SAME, draw_ratio
from lab.report.plots.layout import (
    MARGIN,
    MUTED,
    SMALL,
    WIDTH,
    area,
    aside,
    foot,
    foot_height,
    head,
    head_height,
    mark,
    note,
    panel,
    paper,
)
from lab.report.svg import STYLE, Picture
from studies import articles
from tools.pages.files import RUNS

METRIC = "throughput"

ARTICLE = "microsecond"
"""Whose figures are the hollow marks."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "The article's five configurations": (
        "baseline",
        "processes-threads",
        "disable-logging",
        "max-worker-lifetime",
        "cython",
    ),
    "Further settings": ("http-socket", "safety"),
    f"The same settings, {ANOTHER}": ("tuned",),
}

NOTHING = (None, None)
"""Ends of a ratio of which nothing is known."""

ROW, BELOW, LABELS, WORDS = 0.27, 0.5, 1.65, 1.45
"""Inches: a row, the axis, the names at the left, the words at the right."""
BAR = 5.0
"""Points: how thick it is."""
TICKS = (0.5, 1, 2, 3, 5)


@mpl.rc_context(STYLE)
def draw(summary: Summary) -> Picture:
    """
    Return the figure.

    Raises:
        ResultsError: The run has not all of its profiles.
    """
    found, published = _comparisons(summary), _published()
    notes = caveats(conclude(summary))
    level = levels(levels_of(summary))
    entries = _key(found, level)
    rows = len(GROUPS) + sum(map(len, GROUPS.values()))
    bottom = BELOW + foot_height(notes)
    canvas = paper(head_height(entries) + rows * ROW + bottom)
    axes = panel(canvas, LABELS / WIDTH, bottom, 1 - (LABELS + WORDS) / WIDTH, rows * ROW)
    _scale(axes, [*found.values()], [*published.values()], rows)
    floor = summary.floors[METRIC]
    axes.axvspan(1 / (1 + floor), 1 + floor, color=LIGHT["band"], linewidth=0, zorder=0)
    place = 0
    for group, names in GROUPS.items():
        if place:
            _rule(axes, place - 0.5)
        _write(axes, place, group, MARGIN, color=MUTED, fontsize=SMALL)
        for name in names:
            place += 1
            _row(axes, place, name, found.get(name), published.get(name))
        place += 1
    first = summary.run.plan.profiles[0].name
    title = f"Requests/s of each profile against {first}"
    head(canvas, title, entries)
    foot(canvas, notes)
    return Picture(title, _describe(found, level, notes), canvas, notes)


def _comparisons(summary: Summary) -> dict[str, Comparison]:
    """Return how each profile compares with the first one, which is left out."""
    here = {profile.name for profile in summary.run.plan.profiles}
    names = [name for group in GROUPS.values() for name in group]
    if missing := [name for name in names if name not in here]:
        raise ResultsError(RUNS / summary.run.name, f"has no profile {missing[0]}")
    return {name: summary.compare(METRIC, name, names[0]) for name in names[1:]}


def _published() -> dict[str, float]:
    """Return what the article has published of each profile, as a multiple of the first one."""
    figures: dict[str, float] = {}
    for claim in articles.load():
        if (claim.source, claim.metric) == (ARTICLE, METRIC) and claim.published is not None:
            figures[claim.reference], figures[claim.changed] = claim.published
    first = next(iter(GROUPS.values()))[0]
    return {name: value / figures[first] for name, value in figures.items() if name != first}


def _scale(axes: Axes, found: Iterable[Comparison], published: Iterable[float], rows: int) -> None:
    shown = [end for each in found for end in _ends(each) if end is not None]
    shown += [*published, 1.0]
    axes.set_xscale("log")
    axes.set_xlim(min(shown) / 1.12, max(shown) * 1.12)
    axes.set_ylim(rows - 0.5, -0.5)
    low, high = axes.get_xlim()
    ticks = [tick for tick in TICKS if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}x" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks([])
    axes.tick_params(length=4, width=0.8)
    axes.spines.left.set_visible(False)
    axes.set_xlabel("ratio, log scale; better: right")
    axes.axvline(1, color=MUTED, linewidth=1, zorder=1)


def _row(
    axes: Axes, place: int, name: str, said: Comparison | None, published: float | None
) -> None:
    _write(axes, place, name, MARGIN + 0.12)
    if published is not None:
        axes.plot([published], [place], **_published_mark(), zorder=3)
        aside(axes, f"{figure(published)}x", (published, place), -7, fontsize=SMALL)
    if said is None:
        axes.plot([1.0], [place], SAME, color=MUTED, markersize=6)
    elif said.between is not None and said.ratio is None:
        edges = zip(_ends(said), axes.get_xlim(), strict=True)
        span = [edge if end is None else end for end, edge in edges]
        style: dict[str, Any] = {"color": COLOURS[said.verdict], "solid_capstyle": "butt"}
        axes.plot(span, [place, place], linewidth=BAR, **style)
    else:
        draw_ratio(axes, said, place, SAME, filled=True)
    words = "1x" if said is None else certain(said, published)
    colour = MUTED if said is None else COLOURS[said.verdict]
    _write(axes, place, words, None, color=colour, fontsize=9)


def certain(said: Comparison, published: float | None) -> str:
    """
    Return what is certain of a ratio, in a few words.

    Of one of which the ends are known that is one of them: the upper one where it is below what
    was published, or below 1; the lower one where it is above 1; else both.
    """
    low, high = _ends(said)
    told = said.verdict.differs
    if said.ratio is not None:
        return f"{said.bound}{figure(said.ratio.value)}x{f' {said.verdict}' if told else ''}"
    if high is not None and ((published or 0) > high or said.verdict is Verdict.WORSE or not low):
        return f"at most {figure(high)}x"
    if low is None:
        return "invalid"
    if high is None or said.verdict is Verdict.BETTER:
        return f"at least {figure(low)}x"
    return f"{figure(low)}x to {figure(high)}x"


def _ends(said: Comparison) -> tuple[float | None, float | None]:
    """Return what is known of the ends of a ratio, such as its interval; None for an open one."""
    known = said.ratio or said.between
    return NOTHING if known is None else (known.low, known.high)


def _published_mark() -> dict[str, Any]:
    style: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 6}
    return style | {"color": LIGHT["ink"], "markerfacecolor": LIGHT["paper"]}


def _write(axes: Axes, place: int, text: str, left: float | None, **style: Any) -> None:
    """Write *text* in a row: *left* inches from the left edge, or right of the plot for None."""
    across = WIDTH - LABELS - WORDS
    x = 1 + 0.1 / across if left is None else (left - LABELS) / across
    style = {"color": LIGHT["ink"], **style}
    note(axes, x, place, text, transform=axes.get_yaxis_transform(), **style)


def _rule(axes: Axes, place: float) -> None:
    """Draw a line from the groups' titles to the words' end."""
    across = WIDTH - LABELS - WORDS
    ends = ((MARGIN - LABELS) / across, 1 + (WORDS - MARGIN) / across)
    style: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "clip_on": False}
    axes.plot(ends, [place, place], color=LIGHT["line"], linewidth=1, zorder=0.5, **style)


def _key(found: Mapping[str, Comparison], level: str) -> list[Artist]:
    """Explain the marks and colours that are there."""
    between = any(each.between is not None for each in found.values())
    style: dict[str, Any] = {"linewidth": BAR if between else 1.6}
    if not between:
        style |= {"marker": SAME, "markersize": 5.6}
    kinds = {
        Verdict.BETTER: "better",
        Verdict.WORSE: "worse",
        Verdict.INCONCLUSIVE: "inconclusive",
        Verdict.NO_DIFFERENCE: "no difference",
    }
    seen = {each.verdict for each in found.values()}
    entries: list[Artist] = [
        mark(f"{words} ({level})", color=COLOURS[kind], **style)
        for kind, words in kinds.items()
        if kind in seen
    ]
    entries.append(mark("published in the article", **_published_mark()))
    hollow: dict[str, Any] = {"linestyle": "none", "color": MUTED}
    hollow |= {"markerfacecolor": LIGHT["paper"]}
    bounds = {each.may_be for each in found.values() if each.may_be is not None}
    words = "bound: load generator saturated"
    entries += [mark(words, marker=BOUNDS[side], **hollow) for side in bounds]
    entries.append(area("within the noise", LIGHT["band"]))
    return entries


def _describe(found: Mapping[str, Comparison], level: str, notes: Sequence[str]) -> str:
    between = any(each.between for each in found.values())
    how = f"at least and at most ({level})" if between else f"with {level} interval"
    published = _published()
    parts = []
    for name, said in found.items():
        here = f"{bounded(said)} {said.verdict}" if _ends(said) != NOTHING else "invalid"
        there = f", published {figure(published[name])}x" if name in published else ""
        parts.append(f"{name} {here}{there}")
    return " ".join(
        (
            f"Measured here, {how}, and as the article has published it.",
            *notes,
            f"{'; '.join(parts)}.",
        )
    )
