"""Where the documentation is, and the stored runs that it quotes."""

from __future__ import annotations

import functools
from pathlib import Path

from lab.analysis.summary import Summary, summarise
from lab.model import Run
from lab.runs.folder import read_run

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


@functools.cache
def runs() -> tuple[Run, ...]:
    """Return all stored runs, in alphabetical order."""
    return tuple(read_run(path.parent) for path in sorted(RUNS.glob("*/run.json")))


@functools.cache
def summary(name: str) -> Summary:
    """
    Return what the stored run *name* found.

    Raises:
        ResultsError: There is no such run.
    """
    return summarise(read_run(RUNS / name))
