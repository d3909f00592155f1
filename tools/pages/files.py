"""Where the documentation is, and the stored runs that it quotes."""

from __future__ import annotations

import functools
from pathlib import Path

from lab.analysis.points import summaries
from lab.analysis.summary import Summary
from lab.analysis.sweep import conclude_run
from lab.bench.store.folder import read_run
from lab.errors import ResultsError
from lab.model.document import Document
from lab.model.measurement import Run
from lab.report import sweep

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RUNS = DOCS / "runs"


def written(path: Path, content: str | bytes) -> list[Path]:
    """Write a file unless it is so already; return *path* if it was not."""
    content = content.encode() if isinstance(content, str) else content
    if path.exists() and path.read_bytes() == content:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return [path]


def names() -> list[str]:
    """Return what the stored runs are called, in alphabetical order."""
    return sorted(path.parent.name for path in RUNS.glob("*/run.json"))


@functools.cache
def stored(name: str) -> Run:
    """
    Return the stored run *name*.

    Raises:
        ResultsError: There is no such run.
    """
    return read_run(RUNS / name)


def summary(name: str) -> Summary:
    """
    Return what a stored run found.

    Args:
        name: The run's; of a run at several rates with one of them, as in "open-loop at 50%".

    Raises:
        ResultsError: There is no such run, or it has several rates, and none of them is named.
    """
    name, _, rate = name.partition(" at ")
    run_summaries = swept(name)
    chosen = [
        run_summary
        for run_summary in run_summaries
        if not rate or rate in run_summary.run.plan.arms[0].at.values()
    ]
    if len(chosen) != 1:
        rates = ", ".join(
            value
            for run_summary in run_summaries
            for value in run_summary.run.plan.arms[0].at.values()
        )
        problem = f"has no rate {rate}, only {rates}" if rate else f"has several rates: {rates}"
        raise ResultsError(RUNS / name, problem)
    return chosen[0]


@functools.cache
def document(name: str) -> Document:
    """
    Return what the report of a stored run says; of a sweep what it says of all values together.

    Args:
        name: As in `summary`.

    Raises:
        ResultsError: There is no such run, or it has no such value.
    """
    run_summaries = (summary(name),) if " at " in name else swept(name)
    return next(sweep.documents(conclude_run(run_summaries)))


@functools.cache
def swept(name: str) -> tuple[Summary, ...]:
    """Return what a stored run found at each of its values; once for a run without a sweep."""
    return summaries(stored(name))
