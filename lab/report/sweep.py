"""A run at several values of one quantity: what a report says of all of them together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from lab.analysis.compare import surely
from lab.analysis.health import told_apart
from lab.analysis.looks import shown as judged_metrics
from lab.analysis.summary import Summary
from lab.analysis.swept import (
    against_first,
    counted_as,
    noise,
    on_one_core,
    served,
    shown,
    value_of,
)
from lab.model.comparison import Comparison, Verdict
from lab.model.finding import Finding, Gate
from lab.model.measured import METRICS
from lab.model.warning import EndedEarly
from lab.model.wording import counted
from lab.report import tables
from lab.report.machine import machine_lines, network_lines
from lab.report.numbers import bounded
from lab.report.palette import MOST_LINES
from lab.report.remarks import blocks, order
from lab.report.tables import (
    NOTHING,
    Cell,
    Column,
    Document,
    Table,
    footer,
    printable,
    ratio_cell,
    texts,
    value_cell,
    with_content,
)
from lab.report.warnings import by_kind, example, told

WHOLE = 3
"""Values up to which the report of each stands below; of more, each is asked for by itself."""


def documents(found: Sequence[Summary]) -> Iterator[Document]:
    """Yield the report of a run; of one at several values that of all, and then each one's."""
    if len(found) > 1:
        yield document(found)
    yield from map(tables.document, found)


def document(found: Sequence[Summary]) -> Document:
    """
    Return what is said of a sweep.

    Args:
        found: What was found at each value, in the order of the values.
    """
    first = found[0]
    plan, name = first.run.plan, value_of(first)[0]
    values = [value_of(each)[1] for each in found]
    asked = plan.workload.unsized if name == "size" else plan.workload.name
    kept = "keep-alive offered" if plan.load.keepalive else "a connection for each request"
    said = counted(blocks(first.run), "block")
    context = (
        f"{said}, each with every profile at every value {order(plan)}; windows of "
        f"{plan.window:g} s; {kept}; generator: {first.run.generator}"
    )
    measured = (_measured(found, metric) for metric in shown(found))
    changes = (_changes(found, metric) for metric in judged_metrics(plan.load))
    growth = () if counted_as(found) is None else (_served(found), *_growths(found))
    return Document(
        title=f"{asked}: {name} {', '.join(values)}",
        context=(context, *network_lines(first.run), *machine_lines(first.run.environments)),
        banners=tuple(printable(_banners(found))),
        tables=with_content((*measured, *growth, *changes)),
        notes=tuple(printable(_notes(found))),
        legend=(
            "Medians over the trials that count; -: not known, or withheld for a reason above.",
            "1.42x [1.31, 1.55]: mean ratio within a block, and its 95% interval; ~: it may be 1.",
        ),
        footer=footer(first.run),
        headline=sentence(found),
    )


def sentence(found: Sequence[Summary]) -> str:
    """Say at which values each profile differs from the first, and whether the noise allows it."""
    plan = found[0].run.plan
    metric = judged_metrics(plan.load)[0]
    parts = [*_gains(found, metric), *_differences(found, metric)]
    noise = _noise_check(found, metric)
    first = ""
    if counted_as(found) is not None and on_one_core(found):
        what = f"more {value_of(found[0])[0]} do on several"
        first = f"With one server core this does not show what {what}. "
    if not parts and not any(step.baseline[metric].ratio for each in found for step in each.steps):
        return f"{first}Nothing can be compared by {METRICS[metric].title}; {noise}."
    nothing = f"No profile differs measurably from {plan.profiles[0].name}"
    return f"{first}{'; '.join(parts) or nothing} by {METRICS[metric].title}; {noise}."


def _noise_check(found: Sequence[Summary], metric: str) -> str:
    """Say at how many values the reference's second run was like its first."""
    made = [each.aa[metric] for each in found if each.aa[metric].ratio is not None]
    if not made:
        return "the noise check could not be made at any value"
    passed = sum(told_apart(each, found[0].run.plan.smallest) for each in made)
    said = f"noise check passed at {passed} of {counted(len(made), 'value')}"
    left = len(found) - len(made)
    return f"{said}, and could not be made at {left}" if left else said


def _gains(found: Sequence[Summary], metric: str) -> Iterator[str]:
    """Say of each profile where it differs from its first value: of workers and threads alone."""
    if counted_as(found) is None:
        return
    name, first = value_of(found[0])
    alike = []
    for profile in found[0].run.plan.profiles:
        all_sides = against_first(found, profile.name, metric)
        sides = {each.changed: each for each in all_sides if each.verdict is not Verdict.INVALID}
        told = list(_decided(sides))
        for word, values, most in told:
            yield f"{profile.name} is {word} at {name} {', '.join(values)} than at {first} ({most})"
        if sides and not told:
            alike.append(profile.name)
    if alike:
        yield f"{', '.join(alike)}: no value differs measurably from {name} {first}"


def _differences(found: Sequence[Summary], metric: str) -> Iterator[str]:
    """Say of each profile where it differs from the first one."""
    name, reference = value_of(found[0])[0], found[0].run.plan.profiles[0].name
    for step in found[0].steps:
        sides = {
            value_of(summary)[1]: each.baseline[metric]
            for summary in found
            for each in summary.steps
            if each.profile == step.profile and metric in each.baseline
        }
        for word, values, most in _decided(sides):
            everywhere = WHOLE < len(values) == len(found)
            at = f"every value of {name}" if everywhere else f"{name} {', '.join(values)}"
            yield f"{step.profile} is {word} than {reference} at {at} ({most})"


def _decided(sides: Mapping[str, Comparison]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield "better" and "worse", at which values it is so, and where most."""
    for verdict in (Verdict.FASTER, Verdict.SLOWER):
        told = {value: each for value, each in sides.items() if each.verdict is verdict}
        if told:
            most = max(told, key=lambda value: surely(told[value]))
            yield verdict.value, tuple(told), f"most at {most}: {bounded(told[most])}"


def _growths(found: Sequence[Summary]) -> Iterator[Table]:
    """Yield tables of what each value changed, against the first one."""
    plan = found[0].run.plan
    name, first = value_of(found[0])
    for metric in judged_metrics(plan.load):
        columns = [against_first(found, profile.name, metric) for profile in plan.profiles]
        rows = (
            (Cell(value_of(summary)[1]), *map(ratio_cell, sides))
            for summary, *sides in zip(found[1:], *columns, strict=True)
        )
        title = f"{METRICS[metric].title} against {name} {first}, profile by profile"
        names = (profile.name for profile in plan.profiles)
        yield Table(title, texts((name, *names)), tuple(rows))


def _served(found: Sequence[Summary]) -> Table:
    """Return what the probes counted: more than the value, since masters and routers are in it."""
    names = [profile.name for profile in found[0].run.plan.profiles]
    rows = []
    for summary in found:
        seen = (served(summary, name) for name in names)
        cells = (NOTHING if each is None else Cell(f"{each:g}") for each in seen)
        rows.append((Cell(value_of(summary)[1]), *cells))
    first = Column(value_of(found[0])[0], number=False)
    title = f"{counted_as(found)} of each server as counted, masters and proxies among them"
    return Table(title.capitalize(), (first, *map(Column, names)), tuple(rows))


def _measured(found: Sequence[Summary], metric: str) -> Table:
    rows = []
    for summary in found:
        of = {row.profile.name: row for row in summary.rows}
        names = [profile.name for profile in found[0].run.plan.profiles]
        cells = (value_cell(of[each], metric) if each in of else NOTHING for each in names)
        rows.append((Cell(value_of(summary)[1]), *cells))
    unit = METRICS[metric].unit.replace("1/s", "")
    columns = (Column(profile.name, unit) for profile in found[0].run.plan.profiles)
    first = Column(value_of(found[0])[0], number=False)
    return Table(METRICS[metric].title, (first, *columns), tuple(rows))


def _changes(found: Sequence[Summary], metric: str) -> Table:
    names = [step.profile for step in found[0].steps]
    rows = []
    for summary in found:
        sides = {step.profile: step.baseline.get(metric) for step in summary.steps}
        cells = (ratio_cell(sides.get(name)) for name in names)
        rows.append((Cell(value_of(summary)[1]), *cells))
    title = f"{METRICS[metric].title} against {found[0].run.plan.profiles[0].name}, value by value"
    return Table(title, texts((value_of(found[0])[0], *names)), tuple(rows))


def _banners(found: Sequence[Summary]) -> Iterator[str]:
    """Yield each kind of warning once, with the values where it stands and the words of one."""
    if (too_much := noise(found)) is not None:
        yield told(too_much)
    planned = sum(each.planned for each in found)
    measured = sum(each.measured for each in found)
    if measured < planned:
        yield told(EndedEarly(measured, planned))
    warned = (
        (value_of(summary)[1], warning)
        for summary in found
        for warning in summary.warnings
        if not isinstance(warning, EndedEarly)
    )
    name = value_of(found[0])[0]
    for values, text in by_kind(warned):
        yield f"{name} {', '.join(values)}{example(values)}: {text}"


def _notes(found: Sequence[Summary]) -> Iterator[str]:
    name = value_of(found[0])[0]
    places: dict[Gate, list[str]] = defaultdict(list)
    examples: dict[Gate, tuple[str, Finding]] = {}
    for summary in found:
        for row in summary.rows:
            for tally in row.tallies:
                where = f"{row.profile.name} at {value_of(summary)[1]}, {tally.trials}/{row.total}"
                places[tally.gate].append(where)
                examples.setdefault(tally.gate, (where, tally.example))
    for gate, all_places in places.items():
        first, example = examples[gate]
        yield f"{gate.name} ({'; '.join(all_places)}). {first}: {example.reason}. {example.advice}"
    if missing := [each for each in found if each.measured < each.planned]:
        said = (f"{value_of(each)[1]} has {each.measured} of {each.planned}" for each in missing)
        yield f"Trials are missing, as the run ended early: {name} {'; '.join(said)}."
    if left := [profile.name for profile in found[0].run.plan.profiles[MOST_LINES:]]:
        yield f"Not in the chart, which has room for {MOST_LINES} lines: {', '.join(left)}."
    yield from (f"Backing service {each}." for each in found[0].run.plan.backing)
    for skipped, why in sorted(found[0].run.skipped.items()):
        yield f"Not run: {skipped}: {why}."
    if len(found) > WHOLE:
        yield (
            f"What is said at one value: `lab report {found[0].run.name} --at "
            f"{value_of(found[0])[1]}`."
        )
