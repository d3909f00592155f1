"""
Do the two doors measure the same: `lab run`, Locust alone, and Locust in two processes?

    .venv/bin/python studies/doors.py

Each door runs the same comparison in turn, several rounds over, so that a drifting machine drifts
for all. What is compared is the server's CPU a request, which does not depend on who asks as long
as the same is asked. Writes studies/results/doors.json; about four minutes.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.analysis.summary import summarise
from lab.bench.store.environment import read_environment
from lab.bench.store.folder import read_run

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PROFILES = ("baseline", "http-socket", "tuned")
ROUNDS = 3
SIZES = ("--blocks", "3", "--window", "2")
LOCUST = (str(BIN / "locust"), "-f", str(ROOT / "loadtests"), "--headless")
DOORS = {
    "lab run": (str(BIN / "lab"), "run", *PROFILES, *SIZES),
    "locust": (*LOCUST, "--profiles", *PROFILES, *SIZES),
    "locust --processes 2": (*LOCUST, "--processes", "2", "--profiles", *PROFILES, *SIZES),
}


def measure(command: tuple[str, ...]) -> dict[str, float]:
    """Return CPU seconds a request by profile, as the run's own summary has them."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(f"{command}: {done.stderr}")
        run = read_run(next(Path(folder).glob("results/*")))
    values = {row.profile.name: row.values.get("cpu") for row in summarise(run).rows}
    if None in values.values():
        sys.exit(
            "other programs disturbed a profile's trials too much: run again on a calm machine"
        )
    return {name: value for name, value in values.items() if value is not None}


def main() -> None:
    """Measure, print a table, store the figures."""
    rounds: list[dict[str, dict[str, float]]] = []
    for number in range(ROUNDS):
        doors = list(DOORS)[number % 3 :] + list(DOORS)[: number % 3]
        rounds.append({door: measure(DOORS[door]) for door in doors})
        print(f"round {number + 1} of {ROUNDS} done", file=sys.stderr)
    medians = {
        profile: {
            door: statistics.median(figures[door][profile] for figures in rounds) for door in DOORS
        }
        for profile in PROFILES
    }
    print(f"{'server CPU a request, µs':<26}" + "".join(f"{door:>24}" for door in DOORS))
    for profile, by_door in medians.items():
        reference = by_door["lab run"]
        cells = (f"{v * 1e6:.1f} ({v / reference:.2f}x)" for v in by_door.values())
        print(f"{profile:<26}" + "".join(f"{cell:>24}" for cell in cells))
    stored = {
        "command": "python studies/doors.py",
        "environment": read_environment(),
        "seconds_per_request": {"median": medians, "rounds": rounds},
    }
    path = ROOT / "studies" / "results" / "doors.json"
    path.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
