"""What a stress test found, in words: the same for a terminal and for the documentation."""

from __future__ import annotations

from lab.cli.stress.counting import LATE
from lab.cli.stress.result import CONTROL, Counts, FaultOutcome, StressResult
from lab.model.document import Cell, Column, Document, Meaning, Table
from lab.model.numbers import count, figure
from lab.model.wording import counted
from lab.report.machine import environment_lines


def document(result: StressResult) -> Document:
    """Return what there is to say of *result*."""
    return Document(
        title=f"Faults under load: {result.workload}",
        context=(_load(result), *environment_lines(result.machine)),
        banners=banners(result),
        tables=(table(result),),
        notes=notes(result),
        legend=legend(result),
        footer=(f"Again: {result.command}",),
    )


def _load(result: StressResult) -> str:
    return (
        f"{figure(result.rate)} requests/s, each due at its planned instant, over at most "
        f"{counted(result.connections, 'connection')}; timeout {result.timeout:g} s"
    )


def table(result: StressResult) -> Table:
    """Return a row for each fault, a column for each profile."""
    columns = [Column("fault", number=False)]
    columns += [Column(profile.name, number=False) for profile in result.profiles]
    rows = []
    for fault in result.faults:
        outcomes = [result.outcome(profile.name, fault) for profile in result.profiles]
        if any(outcomes):
            rows.append((Cell(fault), *map(cell, outcomes)))
    return Table("Effect on clients", tuple(columns), tuple(rows))


def cell(outcome: FaultOutcome | None) -> Cell:
    """Return what clients felt of one fault on one profile."""
    if outcome is None:
        return Cell("interrupted", Meaning.MUTED)
    counts = outcome.counts
    if counts is None:
        if not outcome.possible:
            return Cell("not possible", Meaning.MUTED)
        if not outcome.made:
            return Cell("not run", Meaning.MUTED)
        return Cell("failed", Meaning.BAD)
    text = f"{felt(counts)} of {count(counts.attempted)}"
    if counts.longest is not None:
        text += f", {counts.longest:.2f} s"
    if why := unproved(outcome):
        text = f"{why}; {text}"
    if counts.lost or counts.wrong:
        return Cell(text, Meaning.BAD)
    if counts.late:
        return Cell(text, Meaning.WARNING)
    return Cell(text, Meaning.GOOD if outcome.effect else Meaning.MUTED)


def unproved(outcome: FaultOutcome) -> str:
    """Return why a fault cannot have hurt; empty if it can."""
    if outcome.effect:
        return ""
    return "no request in flight" if outcome.idle else "no effect"


def felt(counts: Counts) -> str:
    """
    Return what was not as it should be, or 0.

    >>> felt(Counts(300, lost=2, late=0, wrong=1)), felt(Counts(300, 0, 0, 0))
    ('2 lost, 1 wrong', '0')
    """
    parts = {
        "lost": counts.lost,
        "wrong": counts.wrong,
        "late": counts.late,
        "turned away": counts.turned_away,
    }
    return ", ".join(f"{count(number)} {word}" for word, number in parts.items() if number) or "0"


def progress(profile: str, outcome: FaultOutcome) -> str:
    """Return what is said of a trial when it is done; of one that failed with its log's end."""
    text = outcome.problem or cell(outcome).text
    return f"{outcome.fault} on {profile}: {text}" + (f"\n{outcome.log}" if outcome.log else "")


def notes(result: StressResult) -> tuple[str, ...]:
    """Return a line for each cell that is not just 0."""
    lines = [
        f"{profile.name}, {outcome.fault}: {note}"
        for profile in result.profiles
        for outcome in profile.outcomes
        if (note := _note(outcome))
    ]
    return (*lines, *(f"left out: {name} {why}" for name, why in result.skipped.items()))


def _note(outcome: FaultOutcome) -> str:
    if not outcome.made:
        return ""  # once, in the banner
    if outcome.problem is not None:
        return outcome.problem
    counts = outcome.counts
    assert counts is not None
    parts = [outcome.note] if outcome.note else []
    if outcome.tries > 1:
        parts.append(f"the last of {outcome.tries} trials; the others were disturbed")
    if outcome.killed and outcome.replaced is not None:
        parts.append(f"{outcome.replaced} of {outcome.killed} killed workers were replaced")
    elif outcome.replaced and outcome.fault != CONTROL:
        parts.append(counted(outcome.replaced, "new worker"))
    if counts.lost or counts.wrong or counts.turned_away:
        kinds = sorted(counts.errors.items(), key=lambda pair: -pair[1])
        parts.append(", ".join(f"{count(number)} {kind}" for kind, number in kinds))
    if outcome.burst is not None and not outcome.burst.clean:
        bursts = len(outcome.planted)
        how = "at once" if bursts == 1 else f"sent in {bursts} bursts"
        parts.append(f"of the {count(outcome.burst.attempted)} {how}: {felt(outcome.burst)}")
    if counts.starved:
        parts.append(f"the load generator itself was late with {count(counts.delayed)}")
    return "; ".join(parts)


def banners(result: StressResult) -> tuple[str, ...]:
    """Return what puts the whole table into doubt."""
    texts = []
    if wrong := result.wrong():
        texts.append(
            f"{', '.join(wrong)} gave another status or body without any fault: fix the "
            "application, or use --status or --check. The effect of faults is unknown there."
        )
    if unfit := result.slow():
        texts.append(
            f"Without any fault, requests were lost or late on {', '.join(unfit)}: the machine "
            "was too busy, or the load is too high. The effect of faults is unknown there. Try "
            f"{_rate(result.bearable(unfit))}."
        )
    if uncontrolled := result.uncontrolled():
        texts.append(
            f"There is no control for {', '.join(uncontrolled)}: its trial failed or was not "
            "run. The effect of faults is unknown there."
        )
    if disturbed := result.disturbed():
        texts.append(
            f"Something else disturbed {', '.join(disturbed)}: requests were lost, late or "
            "wrong before the fault was planted, or the load generator was late with many. These "
            "cells include that disturbance."
        )
    return tuple(texts)


def _rate(rate: int | None) -> str:
    return "a lower --rate" if rate is None else f"--rate {rate}"


def legend(result: StressResult) -> tuple[str, ...]:
    """Return what the words of the table mean."""
    cells = (
        "A cell: requests that were not answered well, of how many, and the longest wait for a "
        "correct reply. One trial each."
    )
    words = (
        "lost: no complete reply (refused, reset, closed, cut off, or none within the timeout). "
        "wrong: another status or body. "
        f"late: correct, but more than {LATE:g} s after it was due. "
        "turned away: refused after a stop, so that a balancer uses another server. "
        "0: none of these."
    )
    faults = (f"{name}: {summary}." for name, summary in result.faults.items())
    return (cells, words, *faults)
