"""
What does the lab find: where nothing differs, and where a handler takes 5 % or 10 % more CPU?

    .venv/bin/python -m studies.aa

One run of forty servers at the default sizes (10 blocks, windows of 3 s), each a profile and
processes of its own, in shuffled order within every block. Server 1 is compared with server 2, 3
with 4, and so on: twenty pairs that have no trial in common. The second of a pair is alike (8
pairs), or spins in its handler for 5 % (6) or 10 % (6) of what a request costs. The spin is a count
of turns of an empty loop; how many, a short run and a clock say beforehand.
A difference between servers that are alike is a false alarm; one that is planted and not found is a
miss. Writes studies/results/aa.json; about half an hour, on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lab.analysis.compare import compare, profile_side
from lab.analysis.summary import summarise
from lab.bench.store.environment import read_environment
from lab.bench.store.folder import read_run
from lab.model.comparison import Verdict
from lab.model.measurement import Run

ROOT = Path(__file__).resolve().parent.parent
LAB = Path(sys.executable).parent / "lab"
PROFILE = ROOT / "profiles" / "tuned.ini"
METRICS = ("throughput", "cpu")
PLANTED = {"alike": 0.0, "5% more": 0.05, "10% more": 0.10}
"""What is planted, as a share of a request's CPU."""

COUNTS = {"alike": 8, "5% more": 6, "10% more": 6}
"""Pairs of each."""

HANDLER = """
import os

from app.wsgi import app as service

TURNS = range(int(os.environ["SPIN"]))


def application(environ, start_response):
    for _ in TURNS:
        pass
    return service(environ, start_response)
"""


def write_server(folder: Path, name: str, turns: int) -> str:
    """Write the profile of a server that spins for *turns* a request, and return its path."""
    (folder / "planted.py").write_text(HANDLER)
    path = folder / f"{name}.ini"
    path.write_text(
        f"[lab]\nsummary = {PROFILE.stem}, and {turns} turns of an empty loop a request\n\n"
        f"[uwsgi]\nini = {PROFILE}\npythonpath = {folder}\nmodule = planted:application\n"
        f"env = SPIN={turns}\n"
    )
    return str(path)


def run_lab(folder: Path, *words: str) -> Run:
    """Run the lab in *folder* on what *words* say, and return the run."""
    known = set(folder.glob("results/*"))
    command = (str(LAB), "run", *words, "--no-confirm")
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 3):
        sys.exit("the run failed; its message is above")
    (made,) = (path for path in set(folder.glob("results/*")) - known if path.is_dir())
    return read_run(made)


def seconds_of_a_turn() -> float:
    """Return the CPU of one turn of an empty loop in seconds, the least of several tries."""
    turns, least = 1_000_000, float("inf")
    for _ in range(9):
        begun = time.process_time()
        for _ in range(turns):
            pass
        least = min(least, time.process_time() - begun)
    return least / turns


def turns_for(folder: Path, quick: tuple[str, ...]) -> dict[str, int]:
    """Return by what is planted how many turns take that share of a request's CPU."""
    observations = summarise(run_lab(folder, write_server(folder, "alone", 0), *quick)).observations
    request = statistics.median(
        observation.metrics["cpu"] for observation in observations if observation.valid
    )
    turn = seconds_of_a_turn()
    return {planted: round(share * request / turn) for planted, share in PLANTED.items()}


def measure(folder: Path, turns: dict[str, int], sizes: tuple[str, ...]) -> Run:
    """Run all servers, pair after pair in the order of `PLANTED`, and return the run."""
    spins = [spin for planted, count in COUNTS.items() for spin in (0, turns[planted]) * count]
    servers = [
        write_server(folder, f"server-{number:02}", spin) for number, spin in enumerate(spins, 1)
    ]
    return run_lab(folder, *servers, *sizes)


def compare_pairs(run: Run) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return by what is planted and by metric what each pair comes out at."""
    summary = summarise(run)
    names = iter([profile.name for profile in run.plan.profiles])
    comparisons: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for planted, count in COUNTS.items():
        by_metric = comparisons[planted] = {metric: [] for metric in METRICS}
        for _ in range(count):
            one, other = next(names), next(names)
            for metric, pairs in by_metric.items():
                result = compare(
                    summary.observations,
                    metric,
                    profile_side(other),
                    profile_side(one),
                    summary.floors[metric],
                )
                ratio = result.ratio
                figures = (ratio.value, ratio.low, ratio.high) if ratio is not None else ()
                pairs.append({"pair": [one, other], "ratio": figures, "verdict": result.verdict})
    return comparisons


def main() -> None:
    """Measure, print what was found, store the figures."""
    parser = argparse.ArgumentParser(description="Differences of known size, and none.")
    parser.add_argument("--quick", action="store_true", help="five blocks of 1.5 s, to try it")
    parser.add_argument("--output", type=Path, default=ROOT / "studies" / "results" / "aa.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        turns = turns_for(Path(name), ("--quick",))
        run = measure(Path(name), turns, ("--quick",) if arguments.quick else ())
    comparisons, floors = compare_pairs(run), summarise(run).floors
    for planted, by_metric in comparisons.items():
        for metric, pairs in by_metric.items():
            differing = sum(Verdict(pair["verdict"]).differs for pair in pairs)
            print(f"{planted}, {metric}: {differing} of {len(pairs)} pairs are told apart")
    stored = {
        "command": "python -m studies.aa" + " --quick" * arguments.quick,
        "environment": read_environment(),
        "seed": run.plan.seed,
        "sizes": {"blocks": run.plan.blocks, "window": run.plan.window, "warmup": run.plan.warmup},
        "turns": turns,
        "floors": {metric: floors[metric] for metric in METRICS},
        "comparisons": comparisons,
    }
    arguments.output.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
