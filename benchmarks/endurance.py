"""
Does the production stack stay right and stay small? 200,000 requests, one in a hundred bad.

    .venv/bin/python benchmarks/endurance.py

Good requests ask for numbers of 1 to 100 digits, each length as often; their replies are compared
with a recurrence of this program's own. Bad ones are of a dozen kinds, from a letter in the number
to a client that leaves in the middle, and each has one right answer. Afterwards the stack must
have the memory, the descriptors and the processes that it had after the warm-up.

Memory is the proportional set size of all processes. What is judged is its anonymous and its shared
part: pages of files are shared with whatever else runs from the same files, so their part changes
with what starts and ends beside. Ends with status 1 if anything is wrong or the memory has grown by
2 MB or more. Writes benchmarks/results/endurance.json; about two minutes. Needs nginx.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab import profiles  # noqa: E402
from lab.environment import read_environment  # noqa: E402
from lab.experiment import missing  # noqa: E402
from lab.servers import adapter  # noqa: E402
from lab.workloads import workload  # noqa: E402
from tests.faults.traffic import Tally, play  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "endurance.json"
REQUESTS = 200_000
WARM_UP = 50_000
"""Python's collector looks at all objects only after some thousand requests of a worker, which then
gets its own copy of every page that it had shared with its master: about 7 MB each, once."""
CLIENTS = 4
GROWTH = 2_000_000
"""Bytes; a leak of 10 in each request would be found."""

SETTLE = 10.0
"""Seconds for the stack to close what the clients have left."""


@dataclass
class State:
    """What the stack takes, at rest."""

    pss: int
    """Bytes of all its processes."""
    own: int
    """The anonymous and the shared part of them: all but pages of files."""
    descriptors: dict[str, int]
    """Process, by name and id -> open descriptors."""


def tree(server: int) -> list[psutil.Process]:
    """Return the processes below the guard, oldest first."""
    return sorted(psutil.Process(server).children(recursive=True), key=lambda each: each.pid)


def read_state(server: int) -> State:
    """Read what all processes take now."""
    members = tree(server)
    rollups = [Path(f"/proc/{each.pid}/smaps_rollup").read_text() for each in members]
    sizes = [dict(_sizes(text)) for text in rollups]
    return State(
        pss=sum(each["Pss"] for each in sizes),
        own=sum(each["Pss_Anon"] + each["Pss_Shmem"] for each in sizes),
        descriptors={f"{each.name()} {each.pid}": each.num_fds() for each in members},
    )


def _sizes(rollup: str) -> Iterator[tuple[str, int]]:
    for line in rollup.splitlines():
        name, _, value = line.partition(":")
        if value.endswith(" kB"):
            yield name, int(value.split()[0]) * 1024


def settle(server: int, before: State) -> State:
    """Return the state as soon as its descriptors are as before, or after some seconds."""
    deadline = time.monotonic() + SETTLE
    while (state := read_state(server)).descriptors != before.descriptors:
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return state


def main() -> int:
    """Run it, print a summary, store the figures; return 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--requests", type=int, default=REQUESTS, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    profile = profiles.read("production")
    if (reason := missing(profile)) is not None:
        print(reason)
        return 3
    with (
        tempfile.TemporaryDirectory() as folder,
        adapter(profile).start(profile, workload("fib"), Path(folder), None) as server,
        ProcessPoolExecutor(CLIENTS) as pool,
    ):
        address = server.endpoint.host, server.endpoint.port
        seeds = count(arguments.seed * 1000)

        def load(requests: int) -> Tally:
            total = Tally()
            shares = [requests // CLIENTS] * CLIENTS
            shares[0] += requests % CLIENTS
            for each in [pool.submit(play, address, share, next(seeds)) for share in shares]:
                total.add(each.result())
            return total

        warm_up = load(WARM_UP)
        time.sleep(1.0)  # for nginx to close what the clients closed
        before = read_state(server.pid)
        began = time.monotonic()
        tally = load(arguments.requests)
        seconds = time.monotonic() - began
        after = settle(server.pid, before)
        respawned = server.log_tail(100_000).count("espawned uWSGI worker")
    tally.wrong += warm_up.wrong
    stored = {
        "command": "python " + subprocess.list2cmdline(["benchmarks/endurance.py", *sys.argv[1:]]),
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
    RESULTS.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
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
    print("\n".join(f"WRONG: {each}" for each in problems) or "nothing is wrong")


if __name__ == "__main__":
    sys.exit(main())
