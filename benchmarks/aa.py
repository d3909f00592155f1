"""
Does the lab find differences where there are none? Twenty A/A comparisons on this machine.

    .venv/bin/python benchmarks/aa.py

One run of forty copies of `tuned`, each its own profile and its own server processes, in random
order within every block. Copy 1 is compared with copy 2, 3 with 4, and so on: twenty pairs that
have no trial in common, so that they are independent but for the machine's own drift and for the
floor, which is the run's A/A arm, as in every run. A verdict of better or worse is a false alarm.
Writes benchmarks/results/aa.json; about nine minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab.analysis.compare import compare, own
from lab.analysis.summary import summarise
from lab.model.comparison import Verdict
from lab.model.measured import Run
from lab.runs.environment import read_environment
from lab.runs.folder import read_run

ROOT = Path(__file__).resolve().parent.parent
LAB = Path(sys.executable).parent / "lab"
PROFILE = ROOT / "profiles" / "tuned.ini"
METRICS = ("throughput", "cpu")


def copies(folder: Path, count: int) -> list[str]:
    """Write *count* profiles that include the same one, and return their paths."""
    paths = []
    for number in range(1, count + 1):
        path = folder / f"aa-{number:02}.ini"
        path.write_text(
            f"[lab]\nsummary = Copy {number} of {PROFILE.stem}\n\n[uwsgi]\nini = {PROFILE}\n"
        )
        paths.append(str(path))
    return paths


def measure(pairs: int, blocks: int, window: float) -> Run:
    """Run the copies, and return the run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = (
            "--no-confirm",
            "--blocks",
            str(blocks),
            "--window",
            str(window),
            "--warmup",
            "0.3",
        )
        command = (str(LAB), "run", *copies(folder, 2 * pairs), *sizes)
        done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 3):
            sys.exit("the run failed; its message is above")
        return read_run(next(folder.glob("results/*")))


def compare_pairs(run: Run) -> dict[str, list[dict[str, Any]]]:
    """Return by metric what each pair comes out at."""
    summary = summarise(run)
    names = [profile.name for profile in run.plan.profiles]
    found: dict[str, list[dict[str, Any]]] = {}
    for metric in METRICS:
        for one, other in zip(names[::2], names[1::2], strict=True):
            result = compare(
                summary.observations, metric, own(other), own(one), summary.floors[metric]
            )
            ratio = result.ratio
            figures = (ratio.value, ratio.low, ratio.high) if ratio is not None else ()
            pair = {"pair": [one, other], "ratio": figures, "verdict": result.verdict}
            found.setdefault(metric, []).append(pair)
    return found


def main() -> None:
    """Measure, print what was found, store the figures."""
    parser = argparse.ArgumentParser(description="Twenty comparisons of a server with itself.")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--window", type=float, default=0.6, help="seconds")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results" / "aa.json")
    asked = parser.parse_args()
    run = measure(asked.pairs, asked.blocks, asked.window)
    found, floors = compare_pairs(run), summarise(run).floors
    for metric, pairs in found.items():
        alarms = sum(pair["verdict"] in (Verdict.FASTER, Verdict.SLOWER) for pair in pairs)
        invalid = sum(pair["verdict"] is Verdict.INVALID for pair in pairs)
        print(
            f"{metric}: differences found: {alarms} of {len(pairs)} (floor {floors[metric]:.1%}, "
            f"{invalid} could not be compared)"
        )
    stored = {
        "command": f"python benchmarks/aa.py --pairs {asked.pairs} --blocks {asked.blocks} "
        f"--window {asked.window:g}",
        "environment": read_environment(),
        "seed": run.plan.seed,
        "floors": {metric: floors[metric] for metric in METRICS},
        "comparisons": found,
    }
    asked.output.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
