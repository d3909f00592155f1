"""What stored runs say: their tables, ratios and machines, and what one says to a claim."""

from __future__ import annotations

import shlex
from dataclasses import replace
from statistics import median

from lab.analysis.conclude import conclude
from lab.analysis.machine import facts
from lab.analysis.summary import Summary
from lab.errors import ResultsError
from lab.model import numbers
from lab.model.comparison import Comparison, MayBe, Verdict
from lab.model.document import Document
from lab.report import markdown, opening, remarks, terminal
from lab.report.causes import cause_text
from lab.report.machine import machine_lines
from studies import articles
from tools.pages.files import RUNS, document, stored, summary

PRINTED_WIDTH = 84
"""Columns that GitHub shows of a block of code where its window is 900 pixels wide."""

MOST = "workers.most"
"""The reading of the share of the busiest worker."""

WARNED = "(see the run's warning)"
"""Beside a figure in a sentence; what the warning is stands above the run's tables."""


def table(name: str, title: str, rows: str | None = None) -> str:
    """Return a table of a run; of its rows those named in *rows*, with commas between them."""
    tables = {report_table.title: report_table for report_table in document(name).tables}
    if (report_table := tables.get(title)) is None:
        raise ResultsError(RUNS / name, f"has no table {title!r}, only {', '.join(tables)}")
    if rows is not None:
        chosen = {row.strip() for row in rows.split(",")}
        if missing := sorted(chosen - {row[0].text for row in report_table.rows}):
            raise ResultsError(RUNS / name, f"has no row {missing[0]!r} in its table {title!r}")
        report_table = replace(
            report_table, rows=tuple(row for row in report_table.rows if row[0].text in chosen)
        )
    return warnings(name) + markdown.render_table(report_table)


def printed(name: str, title: str) -> str:
    """Return what a terminal shows of a run under one of its headings, such as WHAT CHANGED."""
    next_steps = opening.NextSteps("lab", name)
    text = terminal.render_document(
        opening.document(conclude(summary(name)), next_steps), PRINTED_WIDTH
    )
    parts = {part.partition("\n")[0]: part for part in text.rstrip().split("\n\n")}
    if (part := parts.get(title)) is None:
        raise ResultsError(RUNS / name, f"prints no {title!r}, only {', '.join(parts)}")
    return f"{warnings(name)}```text\n{part}\n```\n"


def warnings(name: str) -> str:
    """Return what a run's report warns of, a paragraph each; nothing where it warns of nothing."""
    return markdown.warnings(document(name).banners)


def mark(run: Summary | Document) -> str:
    """Return what is cause_text beside a figure in a sentence of a run whose report warns."""
    warned = run.warnings if isinstance(run, Summary) else run.banners
    return f" {WARNED}" if warned else ""


def headline(name: str) -> str:
    """Return the sentence that opens the report of a run."""
    report = document(name)
    return f"{report.headline}{mark(report)}"


def ratio(name: str, metric: str, changed: str, reference: str) -> str:
    """Return how two profiles of a run compare, whatever lies between them."""
    run = summary(name)
    comparison = run.compare(metric, changed, reference)
    if comparison.verdict is Verdict.INVALID:
        raise ResultsError(RUNS / name, f"cannot compare {changed} with {reference} by {metric}")
    return in_a_sentence(comparison) + mark(run)


def in_a_sentence(comparison: Comparison) -> str:
    """
    Return what is known of a ratio, in the words of a sentence and not of a table.

    >>> from lab.model.comparison import Estimate
    >>> small = Estimate(0.983, 0.957, 1.01, 12)
    >>> print(in_a_sentence(Comparison("cpu", "a", "b", Verdict.INCONCLUSIVE, small, below=0.05)))
    0.983x [0.957, 1.01], no difference (< 5%)
    """
    if comparison.ratio is None:
        return str(comparison.between)
    shown = f"{comparison.bound}{numbers.ratio(comparison.ratio).removeprefix('~')}"
    few = " (fragile)" if comparison.fragile else ""
    if comparison.verdict.differs:
        return f"{shown} {comparison.verdict}{few}"
    if comparison.may_be is MayBe.EITHER:
        return f"{shown}, both saturated the load generator"
    return shown if comparison.bound else f"{shown}, {comparison.verdict_text}{few}"


def decision(name: str, claim: str) -> str:
    """Return what a run says to a claim, as its outcome, such as "not seen"."""
    for verdict in articles.decided(summary(name)):
        if verdict.claim.id == claim:
            return f"{verdict.decision}{mark(summary(name))}"
    raise ResultsError(RUNS / name, f"is not about a claim {claim}")


def limit(name: str, profile: str) -> str:
    """Return what limits a profile and how far that is proved, as the report's table says it."""
    for profile_limit in conclude(summary(name)).limits:
        if profile_limit.first and profile in profile_limit.profiles:
            return f"{cause_text(profile_limit)}{mark(summary(name))}"
    raise ResultsError(RUNS / name, f"does not say what limits {profile}")


def value(name: str, metric: str, profile: str) -> str:
    """Return the median of a metric of one profile, in the unit in which reports print it."""
    run = summary(name)
    rows = {row.profile.name: row for row in run.rows}
    known, least = rows[profile].known(metric) if profile in rows else (None, False)
    if known is None:
        raise ResultsError(RUNS / name, f"has no {metric} of {profile}")
    return f"{'at least ' if least else ''}{numbers.quantity(metric, known)}{mark(run)}"


def busiest(name: str, profile: str) -> str:
    """Return the share of the requests that the busiest worker of a profile had, in the median."""
    trials = (trial for trial in stored(name).trials if trial.slot.arm.name == profile)
    known = [trial.readings[MOST] for trial in trials if MOST in trial.readings]
    if not known:
        raise ResultsError(RUNS / name, f"does not say what the workers of {profile} had")
    return f"{median(known):.0%}{mark(summary(name))}"


def command(name: str) -> str:
    """Return the command that made a run, without the seed that gave it its order."""
    words = iter(shlex.split(stored(name).command))
    kept = [word for word in words if word != "--seed" or not next(words, "")]
    return f"```console\n$ {shlex.join(kept)}\n```\n"


def plan(name: str) -> str:
    """Return what load the servers of a run had, and how often."""
    return remarks.plan_line(conclude(summary(name)))


def gates(name: str) -> str:
    """Return the gates of the numbers in brackets in a run's tables; nothing where none is."""
    numbered = enumerate(conclude(summary(name)).gates, 1)
    return ", ".join(f"`[{number}]` *{fired.gate.name}*" for number, fired in numbered)


def machine(name: str) -> str:
    """Return where a run was made."""
    return "; ".join(machine_lines(facts(stored(name).environments)))
