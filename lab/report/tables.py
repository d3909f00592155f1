"""The document of a run: its tables, and what stands around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lab.analysis.conclusion import Conclusion
from lab.analysis.judging import Judgement, ThresholdOutcome
from lab.analysis.limits import Limit
from lab.analysis.summary import Part, Row, StepComparison, Summary
from lab.model.comparison import Comparison, Verdict
from lab.model.document import (
    NOTHING,
    Cell,
    Column,
    Document,
    Meaning,
    Table,
    Topic,
    printable,
    texts,
)
from lab.model.finding import Gate
from lab.model.measurement import Run
from lab.model.metric import METRICS
from lab.model.numbers import figure, interval, judged, quantity, ratio, share
from lab.model.plan import Plan
from lab.model.wording import UNKNOWN
from lab.report import columns, headline
from lab.report.causes import cause_text, profiles_of, tested, trials_of
from lab.report.columns import RequestRow
from lab.report.legend import legend
from lab.report.machine import machine_lines, network_lines
from lab.report.remarks import notes, plan_line
from lab.report.thresholds import why
from lab.report.warnings import with_status


def number(value: float | None) -> Cell:
    """Return *value* with three significant figures."""
    return NOTHING if value is None else Cell(figure(value))


def document(conclusion: Conclusion) -> Document:
    """Return what the report of one load says."""
    summary, run = conclusion.summary, conclusion.summary.run
    tables = [judgement_table(conclusion.judgements)] if conclusion.judgements else []
    tables.append(_measurements(conclusion))
    if requests := columns.request_rows(summary):
        tables.append(_parts(summary, requests))
    if conclusion.limits:
        tables.append(_limits(conclusion.limits))
    tables.append(_changes(conclusion))
    # A run of two profiles would say the same twice.
    if any(step.before != run.plan.profiles[0].name for step in summary.steps):
        tables.append(_against_baseline(conclusion))
    if summary.shares:
        tables.append(_shares(summary.shares))
    return Document(
        title=title(run.plan),
        context=(
            plan_line(conclusion),
            *network_lines(conclusion.network),
            *machine_lines(conclusion.machine),
        ),
        banners=tuple(printable(map(with_status, conclusion.warnings))),
        tables=with_content(tables),
        notes=tuple(printable(notes(conclusion))),
        legend=legend(conclusion),
        footer=footer(run),
        headline=headline.sentence(conclusion),
    )


def with_content(tables: Iterable[Table]) -> tuple[Table, ...]:
    """Return *tables* but for those that know nothing of any row."""
    return tuple(table for table in tables if any(c != NOTHING for r in table.rows for c in r[1:]))


def footer(run: Run) -> tuple[str, ...]:
    """Return what stands below all else: which run it was, and what repeats it."""
    return (f"Run {run.name}, seed {run.plan.seed}. Again: {run.command}",)


def title(plan: Plan) -> str:
    """Return what was asked and, of a run at several rates, at which of them."""
    workload = f"{plan.workload.name}: {plan.workload.target_text}"
    return ", ".join((workload, *(f"{name} {value}" for name, value in plan.arms[0].at.items())))


def _measurements(conclusion: Conclusion) -> Table:
    summary = conclusion.summary
    counted = summary.run.plan.load.requests is not None
    names = columns.measured(summary)
    heads = [Column(*METRICS[name].column) for name in names]
    if counted:
        heads[1:1] = [Column("all requests", "s"), Column("slowest", "s")]
    numbered = {fired.gate: number for number, fired in enumerate(conclusion.gates, 1)}
    rows = []
    for row in summary.rows:
        cells = [value_cell(row, name) for name in names]
        if counted:
            cells[1:1] = [number(row.wall), number(row.slowest)]
        rows.append((Cell(row.profile.name), *cells, _validity(row, numbered)))
    return Table(
        "Measured",
        (Column("profile", number=False), *heads, Column("valid trials", number=False)),
        tuple(rows),
        Topic.MEASURED,
    )


def _parts(summary: Summary, requests: Sequence[RequestRow]) -> Table:
    """Put what came of each of several requests side by side: those that failed, and the usual."""
    profiles = [row.profile.name for row in summary.rows]
    rows = [
        (
            Cell(request.request),
            Cell(share(request.share)),
            *(_part(request.parts.get(name)) for name in profiles),
        )
        for request in requests
    ]
    number = len(summary.run.plan.workload.requests)
    some = f" ({len(rows)} of {number})" if len(rows) < number else ""
    heads = (*texts(("request", "share")), *(Column(name, "ms") for name in profiles))
    return Table(f"p50 of each request, and its errors{some}", heads, tuple(rows), Topic.PARTS)


def _part(part: Part | None) -> Cell:
    if part is None:
        return NOTHING
    p50 = UNKNOWN if part.p50 is None else figure(part.p50 * 1e3)
    return Cell(f"{p50}, {part.errors:,} errors", Meaning.WARNING) if part.errors else Cell(p50)


def value_cell(row: Row, name: str) -> Cell:
    """Return what was measured of a metric; a hyphen where it is withheld."""
    value, least = row.known(name)
    if value is None:
        return NOTHING
    if least:
        return Cell(f"at least {quantity(name, value)}", Meaning.WARNING)
    bad = METRICS[name].exact and value > 0 and (METRICS[name].unkept or not row.never_kept)
    return Cell(quantity(name, value), Meaning.WARNING if bad else Meaning.PLAIN)


def _validity(row: Row, numbered: Mapping[Gate, int]) -> Cell:
    """Say how many trials count, and which footnotes say what the others lack: `8/10 [1]`."""
    reasons = [f"[{numbered[tally.gate]}]" for tally in row.tallies]
    text = " ".join((f"{row.valid}/{row.total}", *reasons))
    if row.valid < row.total:
        return Cell(text, Meaning.BAD)
    return Cell(text, Meaning.WARNING if reasons else Meaning.PLAIN)


def _limits(limits: Sequence[Limit]) -> Table:
    """Put the causes of a ladder in a few lines: profiles that share one share its line."""
    rows = []
    for limit in limits:
        diagnosis = limit.example
        evidence, counter = "", ""
        if diagnosis is not None:
            whose = f"{diagnosis.profile}: " if len(limit.members) > 1 else ""
            evidence, counter = f"{whose}{diagnosis.cause.evidence}", tested(diagnosis)
        meaning = Meaning.PLAIN if limit.first and diagnosis is not None else Meaning.MUTED
        cells = (profiles_of(limit), trials_of(limit), evidence, counter)
        rows.append((Cell(cause_text(limit), meaning), *map(Cell, cells)))
    heads = texts(("cause", "profiles", "trials", "evidence, median trial", "counter-run"))
    return Table("Limited by", heads, tuple(rows), Topic.LIMITS)


def _changes(conclusion: Conclusion) -> Table:
    """Put each step under the profile that it changes, as in its ladder; else name that one."""
    summary, names = conclusion.summary, columns.compared(conclusion.summary)
    name = Cell(f"{summary.run.plan.reference}, twice", Meaning.MUTED)
    noise = (_noise(conclusion, name) for name in names)
    rows = [(name, *noise, _blocks(summary.aa, names))]
    above = summary.run.plan.profiles[0].name
    for step in summary.steps:
        rows.append((Cell(step_name(step, above)), *_ratios(step.step, names)))
        above = step.profile
    return _ratio_table("Each step, against the profile above it", rows, names)


def step_name(step: StepComparison, above: str) -> str:
    """Name the profile; with the one that it is a step from, where that is not the one above."""
    if step.before is None:
        return f"{step.profile} (not a step)"
    name = step.profile if step.before == above else f"{step.profile} / {step.before}"
    return _marked(name, another=step.other_than_before)


def _marked(name: str, *, another: bool) -> str:
    """Return *name*, and say beside it where not the settings alone were changed."""
    return f"{name} ({headline.ANOTHER})" if another else name


def _against_baseline(conclusion: Conclusion) -> Table:
    names = columns.compared(conclusion.summary)
    rows = [
        (
            Cell(_marked(step.profile, another=step.other_than_baseline)),
            *_ratios(step.baseline, names),
        )
        for step in conclusion.summary.steps
    ]
    title = f"All steps together, against {conclusion.baseline}"
    return _ratio_table(title, rows, names)


def _shares(shares: Mapping[str, Mapping[str, Comparison]]) -> Table:
    """Put each profile's CPU beside that of a server that does nothing but reply."""
    names = list(dict.fromkeys(line for comparisons in shares.values() for line in comparisons))
    rows = [
        (Cell(profile), *(_share(comparisons.get(name)) for name in names))
        for profile, comparisons in shares.items()
    ]
    title = "What the server itself needs, as a share of each profile's CPU per request"
    return Table(title, texts(("profile", *names)), tuple(rows), Topic.CHANGES)


def _share(comparison: Comparison | None) -> Cell:
    if comparison is None or comparison.ratio is None:
        return NOTHING
    return Cell(f"{share(comparison.ratio.value)} {interval(comparison.ratio, share)}")


def _ratio_table(title: str, rows: Sequence[tuple[Cell, ...]], names: Sequence[str]) -> Table:
    heads = (*texts(("profile", *(METRICS[name].title for name in names))), Column("n"))
    return Table(title, heads, tuple(rows), Topic.CHANGES)


def _ratios(comparisons: Mapping[str, Comparison], names: Sequence[str]) -> tuple[Cell, ...]:
    return (*(ratio_cell(comparisons.get(name)) for name in names), _blocks(comparisons, names))


def _blocks(comparisons: Mapping[str, Comparison], names: Sequence[str]) -> Cell:
    """Return n, or one for each metric where they differ."""
    known = (comparisons[name] for name in names if name in comparisons)
    estimates = (comparison.ratio or comparison.between for comparison in known)
    counts = dict.fromkeys(str(estimate.n) for estimate in estimates if estimate is not None)
    return Cell(", ".join(counts) or UNKNOWN, Meaning.MUTED)


def _noise(conclusion: Conclusion, metric: str) -> Cell:
    """Show the reference against itself: nothing was changed, so its width is the noise."""
    estimate = conclusion.summary.aa[metric].ratio
    if estimate is None:
        return NOTHING
    wide = Meaning.WARNING if metric in conclusion.noisy else Meaning.MUTED
    return Cell(f"{ratio(estimate)} noise {share(conclusion.summary.noise[metric])}", wide)


def ratio_cell(comparison: Comparison | None) -> Cell:
    """Return a ratio with its verdict; a hyphen where there is no comparison."""
    if comparison is None:
        return NOTHING
    return Cell(judged(comparison), MEANINGS[comparison.verdict])


MEANINGS = {
    Verdict.BETTER: Meaning.GOOD,
    Verdict.WORSE: Meaning.BAD,
    Verdict.NO_DIFFERENCE: Meaning.PLAIN,
    Verdict.INCONCLUSIVE: Meaning.MUTED,
    Verdict.INVALID: Meaning.MUTED,
}


OUTCOMES = {
    ThresholdOutcome.PASSED: Meaning.GOOD,
    ThresholdOutcome.FAILED: Meaning.BAD,
    ThresholdOutcome.UNJUDGED: Meaning.WARNING,
    ThresholdOutcome.OPEN: Meaning.WARNING,
}


def judgement_table(judgements: Sequence[Judgement]) -> Table:
    """Return what is said to each limit of `--fail-if`."""
    return Table(
        "Thresholds",
        texts(("fail if", "", "why")),
        tuple(map(judgement_cells, judgements)),
        Topic.THRESHOLDS,
    )


def judgement_cells(judgement: Judgement) -> tuple[Cell, ...]:
    """Return a limit, what is said to it, and why."""
    outcome = Cell(judgement.outcome, OUTCOMES[judgement.outcome])
    return Cell(judgement.threshold.text), outcome, Cell(f"{why(judgement)}.")
