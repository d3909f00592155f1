"""
Instructions of a request: a judge that no neighbour disturbs, and that sees user space alone.

They are counted as `lab ab --count` does, by valgrind, without a server: once a build and not once
a trial, so no mood of the machine has anything to do with it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lab.bench.servers.counting import cost, require_tools
from lab.bench.servers.runner import ServerRunner
from lab.bench.store.folder import read_json, write_json
from studies.judges.blocks import ALWAYS, EFFECTS, IN_TURN, OLDS
from studies.judges.made import NAMES
from studies.judges.trials import arm

NAME = "instructions.json"

TIMES = 3
"""So often each version is counted, in a process of its own."""

LIMIT = 1.02
"""New over old above which it is red: that of docs/how-to/ci.md."""


@dataclass(frozen=True, slots=True)
class CountedInstructions:
    """What was counted."""

    FORMAT: ClassVar[int] = 1
    WHAT: ClassVar[str] = "count of instructions of studies.judges"

    format: int
    requests: Mapping[str, tuple[int, ...]]
    """What is planted -> instructions of a request, each time."""
    minutes: float
    """That a verdict takes: one count of the old version, one of the new."""


def count(folder: Path, turns: Mapping[str, int]) -> CountedInstructions:
    """
    Count every version, and store it beside the recording.

    Raises:
        LabError: It cannot be counted; with what to install, or what valgrind printed.
    """
    require_tools()
    began, instructions = time.monotonic(), {}
    for name, share in NAMES.items():
        version = next(
            candidate for candidate in (OLDS[0], *ALWAYS, *IN_TURN) if EFFECTS[candidate] == share
        )
        one = arm(version, turns[version], connections=1)
        profile, workload = one.profile, one.workload
        request, sought = workload.asks[0], ServerRunner().target_of(profile, workload)
        costs = [
            cost(sought, request, request.expect.status, workload.runtime) for _ in range(TIMES)
        ]
        instructions[name] = tuple(round(request_cost.instructions) for request_cost in costs)
    seconds = (time.monotonic() - began) / (TIMES * len(NAMES))
    counted = CountedInstructions(CountedInstructions.FORMAT, instructions, 2 * seconds / 60)
    write_json(folder / NAME, counted)
    return counted


def read_counts(folder: Path) -> CountedInstructions | None:
    """Return what was counted of a recording; None where nothing was."""
    path = folder / NAME
    return read_json(path, CountedInstructions) if path.exists() else None


def over_old(counted: CountedInstructions, name: str) -> list[float]:
    """Return what a version needs over the old one, each time; of that itself time against time."""
    if name == "alike":
        first, *others = counted.requests[name]
        return [instructions / first for instructions in others]
    return [
        instructions / statistics.median(counted.requests["alike"])
        for instructions in counted.requests[name]
    ]
