"""
What a terminal shows of a run unless all is asked for: one screen, in the order of use.

What changes the reading, what changed, what did not, what is open, what limits it, and what to do
next. `lab.report.tables` has the whole report.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lab.analysis.conclusion import Conclusion
from lab.analysis.gates.effort import SHARED_CORES
from lab.analysis.opening import ComparedPair, Opening
from lab.analysis.summary import Summary, Tally
from lab.analysis.sweep import RunConclusion, SweepConclusion
from lab.model.comparison import Comparison, Estimate, MayBe, Verdict
from lab.model.document import NOTHING, Cell, Document, Table, printable, table, texts
from lab.model.metric import METRICS
from lab.model.numbers import bounded, figure
from lab.model.wording import counted, ended
from lab.report import headline, sweep, tables
from lab.report.causes import profiles_of
from lab.report.caveats import ONE_CORE, of_cores
from lab.report.legend import Term, of_both, terms
from lab.report.remarks import load_words
from lab.report.remedies import option
from lab.report.tables import MEANINGS
from lab.report.warnings import REASONS, told

ENDS = {
    0: "measured",
    1: "a server failed in at least half of its trials",
    3: "inconclusive",
    99: "regression: a limit of --fail-if is crossed",
}
"""What the exit status of a run means."""


@dataclass(frozen=True, slots=True)
class Way:
    """How who reads it gets on."""

    program: str
    """What the lab is called here: ".venv/bin/lab"."""

    run: str
    """What `lab report` takes for this run."""

    page: str | None = None
    """The file that holds the report as a page; None where there is none."""

    tries: bool = True
    """Whether there is more to try, with what was compared."""


def documents(run_conclusion: RunConclusion, way: Way) -> Iterator[Document]:
    """Yield what is shown of a run; of one at several values what all come to."""
    if run_conclusion.sweep is not None:
        yield _of_sweep(run_conclusion.sweep, way)
        return
    for point in run_conclusion.points:
        yield document(point, way)


def document(conclusion: Conclusion, way: Way) -> Document:
    """Return what is shown of one load."""
    run = conclusion.summary.run
    told = (*sections(conclusion), _limits(conclusion))
    return Document(
        title=tables.title(run.plan),
        context=context(conclusion),
        banners=banners(conclusion),
        tables=tuple(_capital(table) for table in told if table is not None),
        notes=(),
        legend=(),
        footer=(),
        commands=_commands(conclusion.summary, way),
    )


def sections(conclusion: Conclusion) -> Iterator[Table]:
    """Yield what changed, what did not, what has no effect, what is open, and what is missing."""
    every = (
        _changed(conclusion),
        _alike(conclusion.opening, METRICS[conclusion.metric].title),
        _no_effect(conclusion),
        _open(conclusion),
        uncounted(conclusion),
    )
    yield from (table for table in every if table is not None)


def banners(conclusion: Conclusion) -> tuple[str, ...]:
    """Return what changes the reading of all below."""
    return tuple(printable(_banner_lines(conclusion)))


def banners_of_sweep(sweep_conclusion: SweepConclusion) -> tuple[str, ...]:
    """Return what changes the reading of a sweep; of a single core unless its sentence says it."""
    one_core = sweep_conclusion.single_core and not sweep_conclusion.on_one_core
    return (*([ONE_CORE] if one_core else []), *sweep.document(sweep_conclusion).banners)


def context(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the load, how steady the machine was, and of what the percentiles are."""
    run = conclusion.summary.run
    blocks = f"{counted(len(run.plan.profiles), 'profile')}, {counted(run.allotted, 'block')}"
    window = "" if run.plan.load.requests is not None else f" of {run.plan.window:g} s"
    return (f"{load_words(run.plan)}; {blocks}{window}", *_context(conclusion))


def _capital(table: Table) -> Table:
    """Return *table* with its title in capitals, as a heading of a terminal, but for names."""
    head, mark, rest = re.split(r"(, against | -> |$)", table.title, maxsplit=1)
    return replace(table, title=f"{head.upper()}{mark}{rest}")


def end(status: int, run_conclusion: RunConclusion | None = None) -> str:
    """Say what the exit *status* of a run means; of an inconclusive run also the reasons."""
    reasons = () if run_conclusion is None else run_conclusion.why_inconclusive
    return f"exit {status}: {ENDS[status]}{': ' if reasons else ''}{' and '.join(reasons)}"


def _of_sweep(sweep_conclusion: SweepConclusion, way: Way) -> Document:
    whole = sweep.document(sweep_conclusion)
    shown = tuple(METRICS[name].title for name in (sweep_conclusion.metric, "p99"))
    kept = tuple(table for table in whole.tables if table.title in shown)
    run, value = shlex.quote(way.run), sweep_conclusion.values[0]
    at = (f"At one value: {way.program} report {run} --at {value}",)
    return Document(
        title=whole.title,
        context=(),
        banners=banners_of_sweep(sweep_conclusion),
        tables=kept,
        # A warning of what failed says that its reason is below.
        notes=whole.notes
        if any(type(notice) in REASONS for _, notice in sweep_conclusion.warned)
        else (),
        legend=(),
        footer=(),
        headline=whole.headline,
        commands=(*_commands(sweep_conclusion.summaries[0], way), *at),
    )


def _context(conclusion: Conclusion) -> Iterator[str]:
    """Yield how steady the machine was, and of what the percentiles are."""
    plan = conclusion.summary.run.plan
    shown = set(terms(plan))
    if Term.BOTH in shown:
        yield of_both(plan).removesuffix(".")
    if conclusion.noise is not None and conclusion.noise.passed:
        yield f"Noise check passed: {headline.same_twice(conclusion.noise)}"
    if Term.SATURATED in shown and "p99" in conclusion.opening.metrics:
        yield "p99 is measured at full load: compare settings by it, users see less"


def _banner_lines(conclusion: Conclusion) -> Iterator[str]:
    if conclusion.alone:
        yield headline.nothing_compared(conclusion)
    yield from of_cores(conclusion)
    if conclusion.uncounted is not None and set(conclusion.uncounted.gates) != {SHARED_CORES.name}:
        yield conclusion.uncounted.sentence()
    yield from map(told, conclusion.warnings)
    for notice in conclusion.opening.notices:
        tells = "" if notice.remedy is None else f" Use {option(notice.remedy)}."
        yield notice.sentence() + tells


def _changed(conclusion: Conclusion) -> Table | None:
    """Return what is better or worse, with what else is told of it."""
    opening = conclusion.opening
    if not opening.changed:
        return None
    names = [name for name in opening.metrics if any(name in e.by for e in opening.changed)]
    against = {compared_pair.reference for compared_pair in opening.changed}
    title, name = "What changed", "profile"
    if len(against) == 1:
        title += f", against {against.copy().pop()}"
    else:
        name = "profile / reference"
    rows = tuple(
        (
            Cell(_name(compared_pair, alone=len(against) == 1)),
            *(_cell(compared_pair.by.get(metric)) for metric in names),
        )
        for compared_pair in opening.changed
    )
    columns = (name, *(METRICS[metric].title for metric in names))
    return Table(title, texts(columns), rows)


def _name(compared_pair: ComparedPair, *, alone: bool) -> str:
    name = (
        compared_pair.changed if alone else f"{compared_pair.changed} / {compared_pair.reference}"
    )
    if compared_pair.together:
        return f"all steps: {name}"
    return f"{name} ({headline.ANOTHER})" if compared_pair.another else name


def _cell(comparison: Comparison | None) -> Cell:
    return (
        NOTHING
        if comparison is None
        else Cell(_ratio_words(comparison), MEANINGS[comparison.verdict])
    )


def _ratio_words(comparison: Comparison) -> str:
    """Return a ratio with its verdict; without a difference, the size that is excluded."""
    if comparison.verdict.differs:
        few = " (fragile)" if comparison.fragile else ""
        return f"{bounded(comparison)} {comparison.verdict}{few}"
    excludes = comparison.below is not None or comparison.verdict is Verdict.NO_DIFFERENCE
    if comparison.ratio is None or not excludes:
        return f"{Verdict.INCONCLUSIVE}: {_range_words(comparison)}"
    return comparison.verdict_text + " (within the noise)" * (comparison.below is None)


def _range_words(comparison: Comparison) -> str:
    """Return what is known of an inconclusive ratio."""
    if comparison.may_be is MayBe.EITHER:
        return "both saturated the load generator"
    if comparison.ratio is None:
        return str(comparison.between)
    return _ends(comparison.ratio, comparison.may_be)


def _ends(ratio: Estimate, may_be: MayBe | None) -> str:
    """Say between what a ratio lies; of one that is a bound the one end that is known."""
    if may_be is MayBe.LARGER:
        return f"at least {figure(ratio.low)}x"
    if may_be is MayBe.SMALLER:
        return f"at most {figure(ratio.high)}x"
    return f"{figure(ratio.low)} to {figure(ratio.high)}x"


def _alike(opening: Opening, title: str) -> Table | None:
    rows = ((f"< {below:.0%}", _names(those)) for below, those in opening.alike.items())
    return _section(f"No difference in {title}", rows)


def _no_effect(conclusion: Conclusion) -> Table | None:
    effects = conclusion.opening.no_effect
    rows = ((_some(no_effect.profiles), ended(no_effect.reason)) for no_effect in effects)
    return _section("No effect", rows)


def _open(conclusion: Conclusion) -> Table | None:
    """Return the inconclusive steps, and what would decide them."""
    rows = (
        (_name(compared_pair, alone=False), _open_words(conclusion, compared_pair))
        for compared_pair in conclusion.opening.undecided
    )
    return _section(f"Inconclusive{_remedy_words(conclusion)}", rows)


def _open_words(conclusion: Conclusion, compared_pair: ComparedPair) -> str:
    words = _range_words(compared_pair.by[conclusion.metric])
    return f"{METRICS[conclusion.metric].title}: {words}"


def _remedy_words(conclusion: Conclusion) -> str:
    """Say what would answer what is open."""
    plan = conclusion.summary.run.plan
    if (
        conclusion.judgements and plan.deciding is not None
    ):  # what would tell stands beside its limits
        return ""
    opening = conclusion.opening
    if opening.remedy is None:
        return ""
    first = "" if opening.soonest is None else f" for {opening.soonest}"
    return f" -> {option(opening.remedy)}{first}"


def uncounted(conclusion: Conclusion) -> Table | None:
    """
    Return why profiles do not count, and the steps that so have nothing to be told of.

    Of a server that failed in some trials, also why those do not.
    """
    rows = []
    for row in conclusion.summary.rows:
        if row.profile.reply is None and conclusion.metric not in row.values:
            rows += [
                (row.profile.name, _lost(tally, row.total))
                for tally in row.tallies
                if conclusion.metric in tally.withheld
            ]
    explained = {name for name, _ in rows}
    rows += [
        (_name(compared_pair, alone=False), "Fewer than two blocks have a valid trial of both.")
        for compared_pair in conclusion.opening.uncounted
        if not explained & {compared_pair.changed, compared_pair.reference}
    ]
    rows += [
        (name, _lost(tally, conclusion.summary.row(name).total))
        for name, tally in conclusion.opening.failed
        if name not in explained
    ]
    return _section("Not counted", rows)


def _lost(tally: Tally, total: int) -> str:
    why = f"{tally.example.reason}. {tally.example.advice}"
    return f"{tally.gate.name}, {tally.trials} of {total} trials: {why}"


def _limits(conclusion: Conclusion) -> Table | None:
    limits = (limit for limit in conclusion.limits if limit.first)
    rows = ((profiles_of(limit), limit.sentence()) for limit in limits)
    return _section("What limits it", tuple(rows))


def _section(title: str, rows: Iterable[Sequence[str]]) -> Table | None:
    """Return a table without heads; None without rows."""
    section = table(title, ("", ""), rows)
    return section if section.rows else None


def _names(those: Sequence[ComparedPair]) -> str:
    return ", ".join(compared_pair.changed for compared_pair in those)


def _some(names: Sequence[str]) -> str:
    """Name the first and the last of several."""
    return ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"


def _commands(summary: Summary, way: Way) -> tuple[str, ...]:
    """Return what to type next, a command a line, and where the rest is."""
    run = summary.run
    paths = [
        profile.path
        for profile in run.plan.profiles
        if profile.private_copy and profile.path.suffix
    ]
    own = [*dict.fromkeys(map(str, paths))]
    lab, load, lines = way.program, run.plan.load, list[str]()
    if own:
        lines = ["TRY NEXT", f"  {lab} lint {shlex.join(own)}"]
        # The --rate of `lab tune` is another question, and `lab ab` has none.
        another = run.command.split()[1:2] in (["tune"], ["ab"])
        measured = summary.exit_code == 0  # what helps a noisy run stands in its warning
        if load.rate is None and load.requests is None and measured and not another:
            lines.append(f"  {run.command} --rate 50%   # p99 at half the load, as a user sees it")
    elif summary.serves_wsgi and not re.search(r"\s--app[\s=]", run.command):
        lines = [
            "TRY ON YOUR APPLICATION",
            f"  {lab} lint ~/mysite/uwsgi.ini",
            f"  {lab} run ~/mysite/uwsgi.ini safety --path /items/3",
        ]
    whole = f"{lab} report {shlex.quote(way.run)}"
    page = () if way.page is None else (f"Report: {way.page}",)
    return (*((*lines, "") if way.tries and lines else ()), *page, f"Full report: {whole} --full")
