"""
How long should a window be? What a second of measuring tells, by the length of the window.

    .venv/bin/python studies/windows.py

Longer windows are less noisy; shorter ones allow more blocks in the same time. Each round makes one
block of `http-socket` (twice) and `tuned` with every window, in shuffled order, so that drift meets
all of them. The noise of a trial is the standard deviation of the logarithm of two paired trials'
ratio, divided by the square root of two: what a comparison sees. The cost of a window is that noise
squared, times the seconds of a trial. The least cost gives the most precision in a given time.
Writes studies/results/windows.json; about ten minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.analysis.observations import observe
from lab.bench.store.environment import read_environment
from lab.bench.store.folder import read_run
from lab.model.measurement import Run
from lab.model.plan import Role

ROOT = Path(__file__).resolve().parent.parent
LAB = Path(sys.executable).parent / "lab"
WINDOWS = (0.5, 1.0, 2.0, 3.0)
METRICS = ("throughput", "cpu")


def block(window: float) -> Run:
    """Make one block with *window* seconds a trial, and return the run."""
    words = ("http-socket", "tuned", "--blocks", "1", "--window", str(window), "--no-confirm")
    with tempfile.TemporaryDirectory() as name:
        done = subprocess.run(
            (str(LAB), "run", *words, "--results", name),
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        return read_run(next(path for path in Path(name).iterdir() if path.is_dir()))


def logarithms(run: Run) -> dict[str, tuple[float, float]] | None:
    """
    Return by metric the logarithms of two ratios: the same server twice, and another one.

    None where a trial does not count.
    """
    seen = observe(run)
    if not all(observation.valid for observation in seen):
        return None
    by_arm = {
        (observation.trial.slot.arm.name, observation.trial.slot.arm.role): observation.metrics
        for observation in seen
    }
    first = by_arm["http-socket", Role.PROFILE]
    again, other = by_arm["http-socket", Role.AA], by_arm["tuned", Role.PROFILE]
    return {
        metric: (math.log(again[metric] / first[metric]), math.log(other[metric] / first[metric]))
        for metric in METRICS
    }


def row(runs: list[Run]) -> dict[str, float]:
    """Return a trial's relative noise by metric, and the seconds from one trial to the next."""
    ratios = [run_ratios for run in runs if (run_ratios := logarithms(run)) is not None]
    starts = [[trial.started_at for trial in run.trials] for run in runs]
    seconds = [(max(times) - min(times)) / (len(times) - 1) for times in starts]
    figures = {"rounds": float(len(ratios)), "seconds": statistics.median(seconds)}
    for metric in METRICS:
        columns = zip(*(run_ratios[metric] for run_ratios in ratios), strict=True)
        figures[metric] = math.sqrt(statistics.mean(map(statistics.variance, columns)) / 2)
    return figures


def main() -> None:
    """Measure, print a row for each window, store the figures."""
    parser = argparse.ArgumentParser(description="What a window of each length tells per second.")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--output", type=Path, default=ROOT / "studies/results/windows.json")
    arguments = parser.parse_args()
    runs: dict[float, list[Run]] = {window: [] for window in WINDOWS}
    for _ in range(arguments.rounds):
        for window in random.sample(WINDOWS, len(WINDOWS)):
            runs[window].append(block(window))
    rows = {f"{window:g}": row(made) for window, made in runs.items()}
    for seconds, figures in rows.items():
        for metric in METRICS:
            cost = figures[metric] ** 2 * figures["seconds"] * 1e4
            print(
                f"{seconds} s, {metric}: noise {figures[metric]:.1%}, "
                f"{figures['seconds']:.1f} s a trial, cost {cost:.0f}"
            )
    stored = {
        "command": f"python studies/windows.py --rounds {arguments.rounds}",
        "environment": read_environment(),
        "windows": rows,
    }
    arguments.output.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
