"""A run at several values of one quantity: what a report says of all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.analysis.sweep import Differs, RunConclusion, SweepConclusion
from lab.model.document import NOTHING, Cell, Column, Document, Table, printable, texts
from lab.model.metric import METRICS
from lab.model.numbers import bounded
from lab.model.wording import counted
from lab.report import tables
from lab.report.machine import machine_lines, network_lines
from lab.report.palette import MOST_LINES
from lab.report.remarks import order
from lab.report.remedies import with_remedy
from lab.report.tables import footer, judgement_cells, ratio_cell, value_cell, with_content
from lab.report.warnings import by_kind, example, told

WHOLE = 3
"""Values up to which the report of each stands below; of more, each is asked for by itself."""


def documents(found: RunConclusion) -> Iterator[Document]:
    """Yield the report of a run; of one at several values that of all, and then each one's."""
    if found.sweep is not None:
        yield document(found.sweep)
    yield from map(tables.document, found.points)


def document(found: SweepConclusion) -> Document:
    """Return what is said of a sweep."""
    run, plan = found.run, found.run.plan
    asked = plan.workload.unsized if found.quantity == "size" else plan.workload.name
    kept = "keep-alive offered" if plan.load.keepalive else "a connection for each request"
    context = (
        f"{counted(run.allotted, 'block')}, each with every profile at every value {order(plan)}; "
        f"windows of {plan.window:g} s; {kept}; generator: {run.generator}"
    )
    measured = (_measured(found, metric) for metric in found.measured)
    changes = (_changes(found, metric) for metric in found.metrics)
    growth = () if found.counted is None else (_served(found), *_growths(found))
    return Document(
        title=f"{asked}: {found.quantity} {_span(found.values)}",
        context=(context, *network_lines(found.network), *machine_lines(found.machine)),
        banners=tuple(printable(_banners(found))),
        tables=(*_thresholds(found), *with_content((*measured, *growth, *changes))),
        notes=tuple(printable(_notes(found))),
        legend=(
            "Medians over the trials that count; -: not known, or withheld for a reason above.",
            "1.42x [1.31, 1.55]: mean ratio within a block, and its 95% interval; ~: it may be 1.",
        ),
        footer=footer(run),
        headline=sentence(found),
    )


def _thresholds(found: SweepConclusion) -> Iterator[Table]:
    """Yield what is said at each value to each limit of `--fail-if`, if there are any."""
    rows = tuple((Cell(at), *judgement_cells(each)) for at, each in found.judgements)
    if rows:
        yield Table("Thresholds", texts((found.quantity, "fail if", "", "why")), rows)


def _span(values: Sequence[str]) -> str:
    """Name the first of several values and the last, and say how many there are."""
    return f"{values[0]} to {values[-1]}, {counted(len(values), 'value')}"


def sentence(found: SweepConclusion) -> str:
    """Say at which values each profile differs from the first, and whether the noise allows it."""
    return f"{_on_one_core(found)}{'; '.join(differing(found))}{_by(found)}; {_noise_check(found)}."


def first(found: SweepConclusion) -> str:
    """Return what differs most, or what the run cannot tell, as a sentence by itself."""
    told = next(differing(found)) if found.most is None else _told(found, found.most)
    return f"{_on_one_core(found)}{told}{_by(found)}."


def differing(found: SweepConclusion) -> Iterator[str]:
    """Yield who differs, from what and at which values; or that nobody does."""
    name, start = found.quantity, found.values[0]
    if not found.compared:
        yield "Nothing can be compared"
        return
    yield from (_told(found, each) for each in found.gains)
    if found.level:
        yield f"{', '.join(found.level)}: no value differs measurably from {name} {start}"
    yield from (_told(found, each) for each in found.differences)
    if not (found.gains or found.level or found.differences):
        yield f"No profile differs measurably from {found.profiles[0]}"


def _by(found: SweepConclusion) -> str:
    return f" by {METRICS[found.metric].title}"


def _on_one_core(found: SweepConclusion) -> str:
    if not found.on_one_core:
        return ""
    return f"With one server core this does not show what more {found.quantity} do on several. "


def _noise_check(found: SweepConclusion) -> str:
    """Say at how many values the reference's second run was like its first."""
    if not found.checked:
        return "the noise check could not be made at any value"
    said = f"noise check passed at {found.passed} of {counted(found.checked, 'value')}"
    left = len(found.values) - found.checked
    return f"{said}, and could not be made at {left}" if left else said


def _told(found: SweepConclusion, each: Differs) -> str:
    """Say where a profile differs from its first value, or from the first profile."""
    values, name = ", ".join(each.values), found.quantity
    if each in found.gains:
        where = f"{each.verdict.value} at {name} {values} than at {found.values[0]}"
    else:
        everywhere = WHOLE < len(each.values) == len(found.values)
        at = f"every value of {name}" if everywhere else f"{name} {values}"
        where = f"{each.verdict.value} than {found.profiles[0]} at {at}"
    return f"{each.profile} is {where} ({_most(each)})"


def _most(differs: Differs) -> str:
    return f"most at {differs.most_at}: {bounded(differs.most)}"


def _growths(found: SweepConclusion) -> Iterator[Table]:
    """Yield tables of what each value changed, against the first one."""
    for metric, columns in found.growths.items():
        rows = (
            (Cell(value), *map(ratio_cell, sides))
            for value, *sides in zip(found.values[1:], *columns, strict=True)
        )
        against = f"{found.quantity} {found.values[0]}"
        title = f"{METRICS[metric].title} against {against}, profile by profile"
        yield Table(title, texts((found.quantity, *found.profiles)), tuple(rows))


def _served(found: SweepConclusion) -> Table:
    """Return what the probes counted: more than the value, since masters and routers are in it."""
    rows = []
    for value, seen in zip(found.values, found.served, strict=True):
        cells = (NOTHING if each is None else Cell(f"{each:g}") for each in seen)
        rows.append((Cell(value), *cells))
    first = Column(found.quantity, number=False)
    title = f"{found.counted} of each server as counted, masters and proxies among them"
    return Table(title.capitalize(), (first, *map(Column, found.profiles)), tuple(rows))


def _measured(found: SweepConclusion, metric: str) -> Table:
    rows = []
    for value, summary in zip(found.values, found.summaries, strict=True):
        of = {row.profile.name: row for row in summary.rows}
        cells = (value_cell(of[each], metric) if each in of else NOTHING for each in found.profiles)
        rows.append((Cell(value), *cells))
    unit = METRICS[metric].beside
    columns = (Column(name, unit) for name in found.profiles)
    first = Column(found.quantity, number=False)
    return Table(METRICS[metric].title, (first, *columns), tuple(rows))


def _changes(found: SweepConclusion, metric: str) -> Table:
    names = [step.profile for step in found.summaries[0].steps]
    rows = []
    for value, summary in zip(found.values, found.summaries, strict=True):
        sides = {step.profile: step.baseline.get(metric) for step in summary.steps}
        cells = (ratio_cell(sides.get(name)) for name in names)
        rows.append((Cell(value), *cells))
    title = f"{METRICS[metric].title} against {found.profiles[0]}, value by value"
    return Table(title, texts((found.quantity, *names)), tuple(rows))


def _banners(found: SweepConclusion) -> Iterator[str]:
    """Yield each kind of warning once, with the values where it stands and the words of one."""
    yield from map(told, found.warnings)
    for values, text in by_kind(found.warned):
        yield f"{found.quantity} {', '.join(values)}{example(values)}: {text}"


def _notes(found: SweepConclusion) -> Iterator[str]:
    yield from map(with_remedy, found.notices)
    if left := found.profiles[MOST_LINES:]:
        yield f"Not in the chart, which has room for {MOST_LINES} lines: {', '.join(left)}."
    if len(found.values) > WHOLE:
        yield f"What is said at one value: `lab report {found.run.name} --at {found.values[0]}`."
