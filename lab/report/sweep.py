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
from lab.report.palette import MAX_LINES
from lab.report.remarks import order
from lab.report.remedies import with_remedy
from lab.report.tables import footer, judgement_cells, ratio_cell, value_cell, with_content
from lab.report.warnings import by_kind, text_source, with_status

WHOLE = 3
"""Values up to which the report of each stands below; of more, each is asked for by itself."""


def documents(run_conclusion: RunConclusion) -> Iterator[Document]:
    """Yield the report of a run; of one at several values that of all, and then each one's."""
    if run_conclusion.sweep is not None:
        yield document(run_conclusion.sweep)
    yield from map(tables.document, run_conclusion.points)


def document(sweep: SweepConclusion) -> Document:
    """Return what is said of a sweep."""
    run, plan = sweep.run, sweep.run.plan
    workload = plan.workload.unsized if sweep.quantity == "size" else plan.workload.name
    kept = "keep-alive" if plan.load.keepalive else "one connection per request"
    context = (
        f"{counted(run.allotted, 'block')}, each with every profile at every value {order(plan)}; "
        f"windows of {plan.window:g} s; {kept}; generator: {run.generator}"
    )
    measured = (_measured(sweep, metric) for metric in sweep.measured)
    changes = (_changes(sweep, metric) for metric in sweep.metrics)
    growth = () if sweep.counted is None else (_served(sweep), *_growths(sweep))
    return Document(
        title=f"{workload}: {sweep.quantity} {_span(sweep.values)}",
        context=(
            context,
            *network_lines(sweep.network),
            *machine_lines(sweep.machine),
        ),
        banners=tuple(printable(_banners(sweep))),
        tables=(*_thresholds(sweep), *with_content((*measured, *growth, *changes))),
        notes=tuple(printable(_notes(sweep))),
        legend=(
            "Medians of the valid trials; -: unknown, or withheld for a reason above.",
            (
                "1.42x [1.31, 1.55]: mean of the ratios within each block, and its 95% confidence "
                "interval; ~: it may be 1."
            ),
        ),
        footer=footer(run),
        headline=sentence(sweep),
    )


def _thresholds(sweep: SweepConclusion) -> Iterator[Table]:
    """Yield what is said at each value to each limit of `--fail-if`, if there are any."""
    rows = tuple((Cell(at), *judgement_cells(judgement)) for at, judgement in sweep.judgements)
    if rows:
        yield Table("Thresholds", texts((sweep.quantity, "fail if", "", "why")), rows)


def _span(values: Sequence[str]) -> str:
    """Name the first of several values and the last, and say how many there are."""
    return f"{values[0]} to {values[-1]}, {counted(len(values), 'value')}"


def sentence(sweep: SweepConclusion) -> str:
    """Say at which values each profile differs from the first, and whether the noise allows it."""
    return f"{_on_one_core(sweep)}{'; '.join(differing(sweep))}{_by(sweep)}; {_noise_check(sweep)}."


def first(sweep: SweepConclusion) -> str:
    """Return what differs most, or what the run cannot tell, as a sentence by itself."""
    clause = next(differing(sweep)) if sweep.most is None else _difference_text(sweep, sweep.most)
    return f"{_on_one_core(sweep)}{clause}{_by(sweep)}."


def differing(sweep: SweepConclusion) -> Iterator[str]:
    """Yield who differs, from what and at which values; or that nobody does."""
    name, start = sweep.quantity, sweep.values[0]
    if not sweep.compared:
        yield "Nothing can be compared"
        return
    yield from (_difference_text(sweep, gain) for gain in sweep.gains)
    if sweep.level:
        yield f"{', '.join(sweep.level)}: no value differs measurably from {name} {start}"
    yield from (_difference_text(sweep, difference) for difference in sweep.differences)
    if not (sweep.gains or sweep.level or sweep.differences):
        yield f"No measurable difference from {sweep.profiles[0]}"


def _by(sweep: SweepConclusion) -> str:
    return f" by {METRICS[sweep.metric].title}"


def _on_one_core(sweep: SweepConclusion) -> str:
    if not sweep.on_one_core:
        return ""
    effect = f"the effect of more {sweep.quantity} on several cores"
    return f"With one server core this does not show {effect}. "


def _noise_check(sweep: SweepConclusion) -> str:
    """Say at how many values the reference's second run was like its first."""
    if not sweep.checked:
        return "the noise check could not be made at any value"
    outcome = f"noise check passed at {sweep.passed} of {counted(sweep.checked, 'value')}"
    left = len(sweep.values) - sweep.checked
    return f"{outcome}, and could not be made at {left}" if left else outcome


def _difference_text(sweep: SweepConclusion, differs: Differs) -> str:
    """Say where a profile differs from its first value, or from the first profile."""
    values, name = ", ".join(differs.values), sweep.quantity
    if differs in sweep.gains:
        where = f"{differs.verdict.value} at {name} {values} than at {sweep.values[0]}"
    else:
        everywhere = WHOLE < len(differs.values) == len(sweep.values)
        at = f"every value of {name}" if everywhere else f"{name} {values}"
        where = f"{differs.verdict.value} than {sweep.profiles[0]} at {at}"
    return f"{differs.profile} is {where} ({_most(differs)})"


def _most(differs: Differs) -> str:
    return f"most at {differs.most_at}: {bounded(differs.most)}"


def _growths(sweep: SweepConclusion) -> Iterator[Table]:
    """Yield tables of what each value changed, against the first one."""
    for metric, columns in sweep.growths.items():
        rows = (
            (Cell(value), *map(ratio_cell, sides))
            for value, *sides in zip(sweep.values[1:], *columns, strict=True)
        )
        against = f"{sweep.quantity} {sweep.values[0]}"
        title = f"{METRICS[metric].title} against {against}, profile by profile"
        yield Table(title, texts((sweep.quantity, *sweep.profiles)), tuple(rows))


def _served(sweep: SweepConclusion) -> Table:
    """Return what the probes counted: more than the value, since masters and routers are in it."""
    rows = []
    for value, seen in zip(sweep.values, sweep.served, strict=True):
        cells = (NOTHING if count is None else Cell(f"{count:g}") for count in seen)
        rows.append((Cell(value), *cells))
    first = Column(sweep.quantity, number=False)
    title = f"{sweep.counted} of each server, counted, including masters and proxies"
    return Table(title.capitalize(), (first, *map(Column, sweep.profiles)), tuple(rows))


def _measured(sweep: SweepConclusion, metric: str) -> Table:
    rows = []
    for value, summary in zip(sweep.values, sweep.summaries, strict=True):
        of = {row.profile.name: row for row in summary.rows}
        cells = (
            value_cell(of[profile], metric) if profile in of else NOTHING
            for profile in sweep.profiles
        )
        rows.append((Cell(value), *cells))
    unit = METRICS[metric].beside
    columns = (Column(name, unit) for name in sweep.profiles)
    first = Column(sweep.quantity, number=False)
    return Table(METRICS[metric].title, (first, *columns), tuple(rows))


def _changes(sweep: SweepConclusion, metric: str) -> Table:
    names = [step.profile for step in sweep.summaries[0].steps]
    rows = []
    for value, summary in zip(sweep.values, sweep.summaries, strict=True):
        sides = {step.profile: step.baseline.get(metric) for step in summary.steps}
        cells = (ratio_cell(sides.get(name)) for name in names)
        rows.append((Cell(value), *cells))
    title = f"{METRICS[metric].title} against {sweep.profiles[0]}, value by value"
    return Table(title, texts((sweep.quantity, *names)), tuple(rows))


def _banners(sweep: SweepConclusion) -> Iterator[str]:
    """Yield each kind of warning once, with the values where it stands and the words of one."""
    yield from map(with_status, sweep.warnings)
    for values, text in by_kind(sweep.warned):
        yield f"{sweep.quantity} {', '.join(values)}{text_source(values)}: {text}"


def _notes(sweep: SweepConclusion) -> Iterator[str]:
    yield from map(with_remedy, sweep.notices)
    if left := sweep.profiles[MAX_LINES:]:
        yield f"Not in the chart, which shows at most {MAX_LINES} lines: {', '.join(left)}."
    if len(sweep.values) > WHOLE:
        yield f"For one value: `lab report {sweep.run.name} --at {sweep.values[0]}`."
