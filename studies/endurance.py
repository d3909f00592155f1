"""
Does the production stack stay right and stay small? 200,000 requests, one in a hundred bad.

    .venv/bin/python studies/endurance.py

Good requests ask for numbers of 1 to 100 digits, each length as often; their replies are compared
with a recurrence of this program's own. Bad ones are of a dozen kinds, from a letter in the number
to a client that leaves in the middle, and each has one right answer. Afterwards the stack must
have the memory, the descriptors and the processes that it had after the warm-up.

Memory is the proportional set size of all processes. What is judged is its anonymous and its shared
part: pages of files are shared with whatever else runs from the same files, so their part changes
with what starts and ends beside. Ends with status 1 if anything is wrong or the memory has grown by
2 MB or more. Writes studies/results/endurance.json; about two minutes. Needs nginx.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab.bench.store.environment import read_environment  # noqa: E402
from lab.bench.trials.available import look  # noqa: E402
from tests.faults.state import GROWTH, WARM_UP, State, settled  # noqa: E402
from tests.faults.traffic import CLIENTS, Tally, load  # noqa: E402
from tests.kit.running import running  # noqa: E402

RESULTS = ROOT / "studies" / "results" / "endurance.json"
REQUESTS = 200_000
INSTANCES, WORKERS = 2, 2


def main() -> int:
    """Run it, print a summary, store the figures; return 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--requests", type=int, default=REQUESTS, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="FILE")
    arguments = parser.parse_args()
    installation = look("production")
    if installation.missing is not None:
        print(f"production {installation.missing}")
        return 3
    with (
        running(installation.profile, workers=WORKERS) as stack,
        ProcessPoolExecutor(CLIENTS) as pool,
    ):
        seeds = count(arguments.seed * 1000)
        warm_up = load(pool, stack.address, WARM_UP, seeds)
        before = settled(stack.server.pid)
        began = time.monotonic()
        tally = load(pool, stack.address, arguments.requests, seeds)
        seconds = time.monotonic() - began
        after = settled(stack.server.pid)
        respawned = len(stack.spawned()) - INSTANCES * WORKERS
    tally.wrong += warm_up.wrong
    stored = {
        "command": "python " + subprocess.list2cmdline(["studies/endurance.py", *sys.argv[1:]]),
        "requests": arguments.requests,
        "right": dict(sorted(tally.right.items())),
        "wrong": dict(sorted(tally.wrong.items())),
        "seconds": round(seconds, 1),
        "before": asdict(before),
        "after": asdict(after),
        "growth": {"pss": after.pss - before.pss, "own": after.own - before.own},
        "respawned": respawned,
        "environment": read_environment(),
    }
    problems = judge(tally, before, after, respawned)
    show(stored, problems)
    arguments.output.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
    return 1 if problems else 0


def judge(tally: Tally, before: State, after: State, respawned: int) -> list[str]:
    """Return what is wrong, one sentence each."""
    problems = [f"{number} x {what}" for what, number in sorted(tally.wrong.items())]
    if before.descriptors.keys() != after.descriptors.keys() or respawned:
        problems.append("a process was replaced")
    elif before.descriptors != after.descriptors:
        problems.append(f"descriptors: {before.descriptors} became {after.descriptors}")
    if after.own - before.own >= GROWTH:
        problems.append(f"the memory grew by {(after.own - before.own) / 1e6:.1f} MB")
    return problems


def show(stored: dict[str, Any], problems: list[str]) -> None:
    """Print the figures, and what is wrong."""
    good_ones = stored["right"].get("good", 0)
    bad_ones = sum(stored["right"].values()) - good_ones
    print(f"{stored['requests']:,} requests in {stored['seconds']:.0f} s through nginx")
    print(f"{good_ones:,} numbers answered exactly, {bad_ones:,} bad requests answered as such:")
    for kind, number in stored["right"].items():
        if kind != "good":
            print(f"  {number:>6,} {kind}")
    for name, what in (("own", "anonymous and shared"), ("pss", "with pages of files")):
        was, now = stored["before"][name] / 1e6, stored["after"][name] / 1e6
        print(f"memory, {what}: {was:.2f} MB, then {now:.2f} MB ({now - was:+.2f})")
    print(f"{len(stored['after']['descriptors'])} processes, {stored['respawned']} replaced")
    print("\n".join(f"WRONG: {problem}" for problem in problems) or "nothing is wrong")


if __name__ == "__main__":
    sys.exit(main())
