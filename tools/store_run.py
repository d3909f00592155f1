"""
Store a run for the documentation: `.venv/bin/python tools/store_run.py RESULTS/RUN NAME`.

Copies it to docs/runs/NAME as if it had been made in this project's folder: paths become relative,
`--results` is left out of its command, and the summary is derived anew. Run `python -m tools.pages`
afterwards: it refreshes what is quoted from the run.

The run may come from another checkout, and may be the stored one itself, to derive its summary
again. What was stored under the name is replaced only by what has been read back whole.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from lab.analysis.points import summaries
from lab.analysis.sweep import conclude_run
from lab.bench.store.folder import read_run, write_text
from lab.errors import ResultsError
from lab.model.measurement import Run
from lab.report import summary_json

RUNS = Path(__file__).resolve().parent.parent / "docs" / "runs"

PROFILE = re.compile(r"(/.*)/profiles/(?:[^/]+\.ini|peers/[^/]+\.toml)")
"""A profile of a checkout, and the checkout."""


def store(folder: Path, name: str) -> Path:
    """
    Copy a run, and return the copy.

    Args:
        folder: The run's.
        name: What the documentation calls it.

    Raises:
        ResultsError: It cannot be read, or none of its profiles tells the checkout that made it;
            what was stored before is untouched.
    """
    run = read_run(folder)
    target, draft, old = (RUNS / f"{name}{suffix}" for suffix in ("", ".part", ".old"))
    homes = _homes(run, folder)
    header = msgspec.json.decode((folder / "run.json").read_bytes())
    words = _relative(list(_without_results(header["command"])), homes)
    header = _relative(header, homes) | {"command": shlex.join(words)}
    text = msgspec.json.format(msgspec.json.encode(header), indent=1).decode()
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir(parents=True)
        write_text(draft / "run.json", f"{text}\n")
        trials = (folder / "trials.ndjson").read_text(encoding="utf-8")
        for home in homes:  # in the last lines of a log
            trials = trials.replace(f"{home}/", "").replace(home, ".")
        write_text(draft / "trials.ndjson", trials)
        stored = replace(read_run(draft), name=name)
        if len(stored.trials) != len(run.trials):
            raise ResultsError(folder, "was not copied whole")
        conclusion = conclude_run(summaries(stored))
        write_text(draft / "summary.json", summary_json.render(conclusion))
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
            target.rename(old)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    return target


def _homes(run: Run, folder: Path) -> tuple[str, ...]:
    """Return what paths begin with: the run's folder, which may lie in the checkout, then that."""
    paths = [profile.path for profile in run.plan.profiles]
    counters = [str(counter.arm.profile.path.parent.parent) for counter in run.counters]
    checkouts = [match[1] for path in paths if (match := PROFILE.fullmatch(str(path)))]
    if not checkouts and any(path.is_absolute() for path in paths):
        raise ResultsError(folder, "none of its profiles lies in a checkout's profiles/ folder")
    return (str(folder.resolve()), *counters, *checkouts[:1])


def _relative(value: Any, homes: Sequence[str]) -> Any:
    """Return *value* without the first of *homes* that a path in it begins with."""
    if isinstance(value, dict):
        return {key: _relative(item, homes) for key, item in value.items()}
    if isinstance(value, list):
        return [_relative(item, homes) for item in value]
    if isinstance(value, str):
        home = next((home for home in homes if value.startswith(f"{home}/")), None)
        return value if home is None else value.removeprefix(f"{home}/")
    return value


def _without_results(command: str) -> Iterator[str]:
    """Yield the words of *command* without `--results` and its folder."""
    words = iter(shlex.split(command))
    for word in words:
        if word == "--results":
            next(words, None)
        elif not word.startswith("--results="):
            yield word


if __name__ == "__main__":
    print(store(Path(sys.argv[1]), sys.argv[2]))
