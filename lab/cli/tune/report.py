"""What came of a tune, in words: for a terminal, as JSON, and as a page of all that was tried."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterator, Mapping

from lab.bench.machine import project
from lab.cli.tune.climb import BACK
from lab.cli.tune.measure import Attempt
from lab.cli.tune.result import OtherConfig, TuneResult
from lab.model.document import Block, Diff, table
from lab.model.numbers import figure
from lab.model.wording import counted
from lab.report import plain
from lab.report.markdown import escaped, render_table

UNCLAIMED = "Results of the search. They are not the proof: the proof has its own trials."


def as_text(tuned: TuneResult) -> str:
    """Return it for a terminal."""
    return plain.render(blocks(tuned))


def blocks(tuned: TuneResult) -> Iterator[Block]:
    """Yield the answer, what it costs, what changes, where all of it is."""
    yield "\n".join((f"{tuned.sentence}.", *(f"  {line}" for line in tuned.beside())))
    if tuned.written:
        yield Diff("", (tuned.diff.rstrip(),))
    elif tuned.status != 0:
        yield "Nothing was written."
    yield table("", ("", ""), _facts(tuned))


def _facts(tuned: TuneResult) -> Iterator[tuple[str, str]]:
    if tuned.is_dear:
        yield "Cheaper", "--threads-safe, if it may run in threads: they share their memory"
    if tuned.written:
        yield "Written", f"{tuned.written}; yours is unchanged"
        if tuned.note:
            yield "Note", tuned.note
        if tuned.other is not None:
            yield "Read first", _lost(tuned.other, tuned)
        elif not tuned.is_command:
            yield "Take it back", f"patch -R {tuned.written} {tuned.folder}/tuned.diff"
        if tuned.discovery.not_minimal:
            yield "Not shorter", tuned.discovery.not_minimal
        yield "Prove it", tuned.again
        yield "", "on another machine, or with another load: the result holds for these only"
    for why, what in _reasons(tuned).items():
        yield "Not tried", f"{'; '.join(what)}: {why}"
    yield "All of it", f"{tuned.folder}/effects.md"
    if tuned.discovery.proven is not None:
        yield "The proof", f"{project.lab_command()} report {tuned.proof}"


def _lost(other: OtherConfig, tuned: TuneResult) -> str:
    """Return what is not the same with another server, and where that is listed."""
    means = "means" if other.changed == 1 else "mean"
    differs = f"{counted(other.lost, 'option')} lost, {other.changed} {means} something else"
    command = shlex.join(("migrate", tuned.ground.name, "--to", other.program))
    return f"{differs}: {project.lab_command()} {command}"


def _reasons(tuned: TuneResult) -> dict[str, list[str]]:
    """Return why something was not tried -> what."""
    by_reason: dict[str, list[str]] = {}
    for what, why in tuned.not_tried.items():
        by_reason.setdefault(why, []).append(what)
    return by_reason


def as_json(tuned: TuneResult) -> str:
    """Return it as one JSON object."""
    proven = tuned.discovery.proven
    ratio = proven.comparison.ratio if proven else None
    whole = {
        "configuration": tuned.ground.name,
        "status": tuned.status,
        "answer": tuned.sentence,
        "metric": tuned.metric,
        "changes": [*map(str, tuned.ground_of(proven.values).steps(proven.values))]
        if proven
        else [],
        "ratio": [ratio.value, ratio.low, ratio.high] if ratio else None,
        "blocks": ratio.n if ratio else 0,
        "verdict": proven.comparison.verdict_text if proven else "",
        "written": tuned.written,
        "diff": tuned.diff,
        "note": tuned.note,
        "not_minimal": tuned.discovery.not_minimal,
        "lost": tuned.other.lost if tuned.other else 0,
        "means_something_else": tuned.other.changed if tuned.other else 0,
        "tried": [dict(zip(COLUMNS, row, strict=True)) for row in rows(tuned)],
        "not_tried": dict(tuned.not_tried),
        "folder": tuned.folder,
    }
    return json.dumps(whole, indent=1) + "\n"


FORMS: Mapping[str, Callable[[TuneResult], str]] = {"text": as_text, "json": as_json}
"""Form -> how it is written."""

COLUMNS = ("race", "change", "gain", "blocks", "outcome")


def rows(tuned: TuneResult) -> Iterator[tuple[str, ...]]:
    """Yield a row for each change that was tried: race, change, gain, blocks, what came of it."""
    for attempt in tuned.discovery.attempts:
        gain = attempt.gain
        about = "-"
        if math.isfinite(gain.mean):
            about = f"{figure(gain.ratio)}x ± {100 * gain.error:.1f}%"
        yield attempt.step, tuned.change(attempt), about, str(gain.blocks), _outcome(attempt, tuned)


def _outcome(attempt: Attempt, tuned: TuneResult) -> str:
    if attempt.why:
        return attempt.why
    if tuned.takes(attempt):
        return "taken"
    if attempt.gain.wins:
        return ""
    return "not better" if attempt.group == BACK else "no gain worth a line"


def effects(tuned: TuneResult, picture: str = "") -> str:
    """Return the page of all that was tried, with a picture of that name; empty without one."""
    names = ("race", "change", f"gain in {tuned.title} over the champion", "blocks", "")
    parts = [
        f"# {escaped(tuned.sentence)}",
        "\n".join(f"- {escaped(line)}" for line in tuned.beside()),
        UNCLAIMED,
        f"![]({picture})" * bool(picture),
        render_table(table("", names, rows(tuned))).rstrip(),
        "\n".join(
            f"- Not tried: {escaped('; '.join(what))}: {escaped(why)}"
            for why, what in _reasons(tuned).items()
        ),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"
