"""
The short report of a run, which fits on one screen; `lab.report.tables` has the full report.

In the order of use: warnings, what changed, what did not, what is inconclusive, what limits the
profiles, and what to run next.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lab.analysis.conclusion import Conclusion
from lab.analysis.gates.effort import SHARED_CORES
from lab.analysis.opening import ComparedPair, Opening
from lab.analysis.summary import Summary, Tally
from lab.analysis.sweep import RunConclusion, SweepConclusion
from lab.config import servers
from lab.config.interface import ASGI, WSGI
from lab.model.comparison import Comparison, Estimate, MayBe, Verdict
from lab.model.document import NOTHING, Cell, Document, Table, printable, table, texts
from lab.model.metric import METRICS
from lab.model.numbers import bounded, figure, share
from lab.model.wording import counted, ended
from lab.report import headline, sweep, tables
from lab.report.causes import profiles_of
from lab.report.caveats import ONE_CORE, of_cores
from lab.report.legend import Term, of_both, terms
from lab.report.remarks import load_words, window_words
from lab.report.remedies import option
from lab.report.tables import MEANINGS
from lab.report.warnings import POINTERS, with_status

EXIT_TEXTS = {
    0: "measured",
    1: "a server failed in at least half of its trials",
    3: "inconclusive",
    99: "regression: a limit of --fail-if is crossed",
}
"""Exit status of a run -> meaning."""


YOURS = {
    WSGI: ("lint ~/shop/uwsgi.ini", "run ~/shop/uwsgi.ini safety --path /items/3"),
    ASGI: ("lint ~/shop/Dockerfile", "run uvicorn granian-asgi --app shop:app --path /items/3"),
}
"""Interface of all profiles -> words of commands that try the same on the reader's application."""


@dataclass(frozen=True, slots=True)
class NextSteps:
    """What the commands at the end of a report need."""

    program: str
    """The command that starts `lab` here: ".venv/bin/lab"."""

    run: str
    """The argument of `lab report` for this run."""

    page: str | None = None
    """The HTML report; None: it was not written."""

    tries: bool = True
    """Whether to suggest further commands for the compared configurations."""


def documents(run_conclusion: RunConclusion, next_steps: NextSteps) -> Iterator[Document]:
    """Yield the short report of a run: one document for each load, but one for a whole sweep."""
    if run_conclusion.sweep is not None:
        yield _of_sweep(run_conclusion.sweep, next_steps)
        return
    for point in run_conclusion.points:
        yield document(point, next_steps)


def document(conclusion: Conclusion, next_steps: NextSteps) -> Document:
    """Return the short report of a run with one load."""
    run = conclusion.summary.run
    shown = (*sections(conclusion), _limits(conclusion))
    return Document(
        title=tables.title(run.plan),
        context=context(conclusion),
        banners=banners(conclusion),
        tables=tuple(_with_heading(table) for table in shown if table is not None),
        notes=(),
        legend=(),
        footer=(),
        commands=_commands(conclusion.summary, next_steps),
    )


def sections(conclusion: Conclusion) -> Iterator[Table]:
    """Yield the tables: changed, no difference, no gain, no effect, inconclusive, not counted."""
    tables = (
        _changed(conclusion),
        _no_difference(conclusion.opening, METRICS[conclusion.metric].title),
        _no_gain(conclusion.opening, conclusion.metric),
        _no_effect(conclusion),
        _inconclusive(conclusion),
        uncounted(conclusion),
    )
    yield from (table for table in tables if table is not None)


def banners(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the warnings above the tables."""
    return tuple(printable(_banner_lines(conclusion)))


def banners_of_sweep(sweep_conclusion: SweepConclusion) -> tuple[str, ...]:
    """Return the warnings of a sweep; that of a single core only if its headline omits it."""
    one_core = sweep_conclusion.single_core and not sweep_conclusion.on_one_core
    return (*([ONE_CORE] if one_core else []), *sweep.document(sweep_conclusion).banners)


def context(conclusion: Conclusion) -> tuple[str, ...]:
    """Return lines about the load, the noise, and the percentiles."""
    run = conclusion.summary.run
    blocks = f"{counted(len(run.plan.profiles), 'profile')}, {counted(run.allotted, 'block')}"
    window = window_words(run.plan)
    return (f"{load_words(run.plan)}; {blocks}{window}", *_context(conclusion))


def _with_heading(table: Table) -> Table:
    """Return *table* with its title in capitals, except for names."""
    head, mark, rest = re.split(r"(, against | -> |$)", table.title, maxsplit=1)
    return replace(table, title=f"{head.upper()}{mark}{rest}")


def exit_text(status: int, run_conclusion: RunConclusion | None = None) -> str:
    """Return the line that explains an exit status, with the reasons of an inconclusive run."""
    reasons = () if run_conclusion is None else run_conclusion.why_inconclusive
    return f"exit {status}: {EXIT_TEXTS[status]}{': ' if reasons else ''}{' and '.join(reasons)}"


def _of_sweep(sweep_conclusion: SweepConclusion, next_steps: NextSteps) -> Document:
    whole = sweep.document(sweep_conclusion)
    shown = tuple(METRICS[name].title for name in (sweep_conclusion.metric, "p99"))
    kept = tuple(table for table in whole.tables if table.title in shown)
    run, value = shlex.quote(next_steps.run), sweep_conclusion.values[0]
    at = (f"At one value: {next_steps.program} report {run} --at {value}",)
    return Document(
        title=whole.title,
        context=(),
        banners=banners_of_sweep(sweep_conclusion),
        tables=kept,
        # A warning of a failure says that its reason is below.
        notes=whole.notes
        if any(type(notice) in POINTERS for _, notice in sweep_conclusion.warned)
        else (),
        legend=(),
        footer=(),
        headline=whole.headline,
        commands=(*_commands(sweep_conclusion.summaries[0], next_steps), *at),
    )


def _context(conclusion: Conclusion) -> Iterator[str]:
    """Yield lines about the noise and the percentiles."""
    plan = conclusion.summary.run.plan
    shown = set(terms(plan))
    if Term.BOTH in shown:
        yield of_both(plan).removesuffix(".")
    if conclusion.noise is not None and conclusion.noise.passed:
        yield f"Noise check passed: {headline.same_twice(conclusion.noise)}"
    if Term.SATURATED in shown and "p99" in conclusion.opening.metrics:
        yield (
            "p99 is measured at full load: use it to compare settings; your users see shorter times"
        )


def _banner_lines(conclusion: Conclusion) -> Iterator[str]:
    if conclusion.alone:
        yield headline.nothing_compared(conclusion)
    yield from of_cores(conclusion)
    if conclusion.uncounted is not None and set(conclusion.uncounted.gates) != {SHARED_CORES.name}:
        yield conclusion.uncounted.sentence()
    yield from map(with_status, conclusion.warnings)
    for notice in conclusion.opening.notices:
        advice = "" if notice.remedy is None else f" Use {option(notice.remedy)}."
        yield notice.sentence() + advice


def _changed(conclusion: Conclusion) -> Table | None:
    """Return the table of the pairs that are better or worse, with a column for each metric."""
    opening = conclusion.opening
    if not opening.changed:
        return None
    metrics = [
        metric for metric in opening.metrics if any(metric in pair.by for pair in opening.changed)
    ]
    references = {pair.reference for pair in opening.changed}
    one_reference = len(references) == 1
    title, first_column = "What changed", "profile / reference"
    if one_reference:
        title, first_column = f"{title}, against {references.copy().pop()}", "profile"
    rows = tuple(
        (
            Cell(_name(pair, with_reference=not one_reference)),
            *(_cell(pair.by.get(metric)) for metric in metrics),
        )
        for pair in opening.changed
    )
    columns = (first_column, *(METRICS[metric].title for metric in metrics))
    return Table(title, texts(columns), rows)


def _name(pair: ComparedPair, *, with_reference: bool) -> str:
    name = f"{pair.changed} / {pair.reference}" if with_reference else pair.changed
    if pair.together:
        return f"all steps: {name}"
    return f"{name} ({headline.ANOTHER})" if pair.another else name


def _cell(comparison: Comparison | None) -> Cell:
    if comparison is None:
        return NOTHING
    return Cell(_ratio_text(comparison), MEANINGS[comparison.verdict])


def _ratio_text(comparison: Comparison) -> str:
    """Return a ratio and its verdict; without a difference, the change that is excluded."""
    if comparison.verdict.differs:
        fragile = " (fragile)" if comparison.fragile else ""
        return f"{bounded(comparison)} {comparison.verdict}{fragile}"
    excludes = comparison.below is not None or comparison.verdict is Verdict.NO_DIFFERENCE
    if comparison.ratio is None or not excludes:
        return f"{comparison.verdict_text}: {_range_text(comparison)}"
    return comparison.verdict_text + " (within the noise)" * (comparison.below is None)


def _range_text(comparison: Comparison) -> str:
    """Return the range of an inconclusive ratio; the noise, if that is why a change is none."""
    if comparison.may_be is MayBe.EITHER:
        return "both saturated the load generator"
    if comparison.ratio is None:
        known = str(comparison.between)
    else:
        known = _interval_text(comparison.ratio, comparison.may_be)
    low, high = comparison.ends or (0.0, math.inf)
    if comparison.floor is None or low <= 1 <= high or comparison.no_gain is not None:
        return known
    return f"{known}, may be noise (< {share(comparison.floor)})"


def _interval_text(ratio: Estimate, may_be: MayBe | None) -> str:
    """Return the interval of a ratio, or its known end if the ratio is only a bound."""
    if may_be is MayBe.LARGER:
        return f"at least {figure(ratio.low)}x"
    if may_be is MayBe.SMALLER:
        return f"at most {figure(ratio.high)}x"
    return f"{figure(ratio.low)} to {figure(ratio.high)}x"


def _no_difference(opening: Opening, title: str) -> Table | None:
    by_size = opening.no_difference.items()
    rows = (
        (f"< {below:.0%}", ", ".join(pair.changed for pair in pairs)) for below, pairs in by_size
    )
    return _section(f"No difference in {title}", rows)


def _no_gain(opening: Opening, metric: str) -> Table | None:
    rows = (
        (_name(pair, with_reference=True), _ratio_text(pair.by[metric])) for pair in opening.no_gain
    )
    return _section(f"No gain in {METRICS[metric].title}", rows)


def _no_effect(conclusion: Conclusion) -> Table | None:
    effects = conclusion.opening.no_effect
    rows = ((_abbreviated(no_effect.profiles), ended(no_effect.reason)) for no_effect in effects)
    return _section("No effect", rows)


def _inconclusive(conclusion: Conclusion) -> Table | None:
    metric = conclusion.metric
    rows = (
        (
            _name(pair, with_reference=True),
            f"{METRICS[metric].title}: {_range_text(pair.by[metric])}",
        )
        for pair in conclusion.opening.inconclusive
    )
    return _section(f"Inconclusive{_remedy_text(conclusion)}", rows)


def _remedy_text(conclusion: Conclusion) -> str:
    """Return what would decide the inconclusive pairs; empty: unknown, or beside the limits."""
    if conclusion.judgements and conclusion.summary.run.plan.deciding is not None:
        return ""
    opening = conclusion.opening
    if opening.remedy is None:
        return ""
    first = "" if opening.soonest is None else f" for {opening.soonest}"
    return f" -> {option(opening.remedy)}{first}"


def uncounted(conclusion: Conclusion) -> Table | None:
    """
    Return the table of what does not count, with the reasons.

    It has the profiles without a value, the pairs with too few valid trials, and the servers that
    failed in some trials.
    """
    rows = []
    advised: set[str] = set()
    for row in conclusion.summary.rows:
        if row.profile.reply is None and conclusion.metric not in row.values:
            total, tallies = conclusion.summary.whole(row.profile.name)
            rows += [
                (row.profile.name, _gate_text(tally, total, advised))
                for tally in tallies
                if conclusion.metric in tally.withheld
            ]
    explained = {name for name, _ in rows}
    rows += [
        (_name(pair, with_reference=True), "Fewer than two blocks have a valid trial of both.")
        for pair in conclusion.opening.uncounted
        if not explained & {pair.changed, pair.reference}
    ]
    rows += [
        (name, _gate_text(tally, conclusion.summary.whole(name)[0], advised))
        for name, tally in conclusion.opening.failed
        if name not in explained
    ]
    return _section("Not counted", rows)


def _gate_text(tally: Tally, total: int, advised: set[str]) -> str:
    """Return a gate, the number of its trials, and why they do not count; an advice only once."""
    advice = "" if tally.example.advice in advised else f" {tally.example.advice}"
    advised.add(tally.example.advice)
    return f"{tally.gate.name}, {tally.trials} of {total} trials: {tally.example.reason}.{advice}"


def _limits(conclusion: Conclusion) -> Table | None:
    limits = (limit for limit in conclusion.limits if limit.first)
    rows = ((profiles_of(limit), limit.sentence()) for limit in limits)
    return _section("What limits it", tuple(rows))


def _section(title: str, rows: Iterable[Sequence[str]]) -> Table | None:
    """Return a table without column titles; None if it has no rows."""
    section = table(title, ("", ""), rows)
    return section if section.rows else None


def _abbreviated(names: Sequence[str]) -> str:
    """Return one or two names, or the first one and the number of the others."""
    return ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"


def _commands(summary: Summary, next_steps: NextSteps) -> tuple[str, ...]:
    """Return lines with commands to run next, and where the full report is."""
    run = summary.run
    endings = tuple(e for server in servers.every() for e in server.endings if "." in e)
    theirs = [profile for profile in run.plan.profiles if profile.private_copy]
    # A profile of ours with their application has no alteration. Of a command in quotes the path is
    # its folder and the name of the profile.
    files = dict.fromkeys(
        str(profile.path)
        for profile in theirs
        if profile.path.name.endswith(endings) and (profile.altered or profile.commands)
    )
    lab, load, lines = next_steps.program, run.plan.load, list[str]()
    if theirs:
        lines = [f"  {lab} lint {shlex.join(files)}"] if files else []
        # In `lab tune`, --rate means something else; `lab ab` does not have it.
        takes_rate = run.command.split()[1:2] not in (["tune"], ["ab"])
        measured = summary.exit_code == 0  # the warning of a noisy run says what to do
        if load.rate is None and load.requests is None and measured and takes_rate:
            lines.append(f"  {run.command} --rate 50%   # p99 at half the load, as a user sees it")
        lines = ["TRY NEXT", *lines] if lines else []
    elif summary.interface in YOURS and not re.search(r"\s--app[\s=]", run.command):
        commands = (f"  {lab} {words}" for words in YOURS[summary.interface])
        lines = ["TRY ON YOUR APPLICATION", *commands]
    whole = f"{lab} report {shlex.quote(next_steps.run)}"
    page = () if next_steps.page is None else (f"Report: {next_steps.page}",)
    return (
        *((*lines, "") if next_steps.tries and lines else ()),
        *page,
        f"Full report: {whole} --full",
    )
