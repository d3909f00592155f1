"""
What is the interpreter worth? The profile `tuned` under several Pythons, in one run.

    .venv/bin/python studies/interpreters.py CLONE...

Each CLONE is one of this project, of the same commit, after `make setup PYTHON=...`, so that its
uWSGI holds that Python (docs/contributing/interpreters.md). All are compared with the Python of
this checkout, and called by the names of their folders. Writes
studies/results/interpreters.json; about a minute for each Python.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab.analysis.summary import Summary  # noqa: E402
from lab.bench.store.environment import read_environment  # noqa: E402
from studies.one_run import summary_of  # noqa: E402

RESULTS = ROOT / "studies" / "results" / "interpreters.json"

FIRST = "here"
"""The Python of this checkout; the others are compared with it."""

VERSION = """
import json, sys
compiler = sys.version.partition("[")[2].rstrip("]")
print(json.dumps({"version": sys.version.split()[0], "compiler": compiler}))
"""
"""What a Python says of itself. How it was optimised not all of them do: Debian's does not."""

PROFILE = """\
summary = "Serve from Python {version} of another set-up"
run = [["{clone}/.venv/bin/uwsgi", "{clone}/profiles/tuned.ini"]]
version = ["{clone}/.venv/bin/uwsgi", "--python-version"]
"""


def python_of(clone: Path) -> dict[str, Any]:
    """Return version and compiler of the Python of a set-up."""
    command = (clone / ".venv" / "bin" / "python", "-c", VERSION)
    python: dict[str, Any] = json.loads(subprocess.check_output(command))
    return python


def measure(clones: dict[str, Path], pythons: dict[str, dict[str, Any]], blocks: int) -> Summary:
    """Run `tuned` of all of them, and return what came of it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, clone in clones.items():
            version = pythons[name]["version"]
            text = PROFILE.format(version=version, clone=clone)
            (folder / f"{name}.toml").write_text(text, encoding="utf-8")
        paths = [folder / f"{name}.toml" for name in clones]
        return summary_of(paths, ("--blocks", str(blocks)), folder)


def main() -> None:
    """Measure, and store what was found."""
    parser = argparse.ArgumentParser(description="One profile under several Pythons.")
    parser.add_argument("clones", type=Path, nargs="+", metavar="CLONE")
    parser.add_argument("--blocks", type=int, default=10)
    arguments = parser.parse_args()
    clones = {FIRST: ROOT} | {clone.name: clone.resolve() for clone in arguments.clones}
    pythons = {name: python_of(clone) for name, clone in clones.items()}
    summary = measure(clones, pythons, arguments.blocks)
    values = {row.profile.name: row.values for row in summary.rows}
    stored = {}
    for name, python in pythons.items():
        comparison = summary.compare("cpu", name, FIRST)
        ratio = None if comparison.ratio is None else asdict(comparison.ratio)
        stored[name] = python | {"cpu": values[name]["cpu"]}
        if name != FIRST:
            stored[name] |= {"ratio": ratio, "verdict": comparison.verdict}
    content = {
        "environment": read_environment(),
        "blocks": arguments.blocks,
        "floor": summary.floors["cpu"],
        "interpreters": stored,
    }
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
