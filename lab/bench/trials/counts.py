"""`lab ab --count`: instructions and system calls of a request, old and new."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lab.analysis.judging import FAILED
from lab.analysis.thresholds import Threshold
from lab.bench.servers.counting import Cost, cost, require_tools
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.conduct import PreparedRun
from lab.bench.trials.pair import NEW, OLD
from lab.errors import UsageError

__all__ = ["Cost", "counts", "parse", "report", "require_tools"]

NAMES = {"instructions": "instructions", "syscalls": "system calls"}
"""Field of a `Cost` -> name for people."""

UNSEEN = (
    "counted without a server, in one thread and with one request: not the server's own work, the "
    "kernel's, waiting, caches, locks, or other processes"
)


def parse(text: str) -> Threshold | None:
    """
    Parse a limit on new/old of a count, such as "instructions > 1.02"; None for another metric.

    Raises:
        UsageError: The limit of a count is incomplete.
    """
    name = re.match(r"\s*(\w*)", text)
    if name is None or name[1] not in NAMES:
        return None
    match = re.fullmatch(r"\s*(\w+)\s*(>=|<=|>|<)\s*(\d+\.?\d*)\s*", text)
    if match is None:
        raise UsageError(f"--fail-if '{text}': write it as in '{name[1]} > 1.02', new over old")
    return Threshold(text.strip(), match[1], NEW, OLD, match[2], float(match[3]))


def counts(prepared: PreparedRun) -> tuple[Cost, Cost]:
    """Return the costs of the first request in the old and in the new version."""
    costs = []
    for arm in prepared.plan.arms:
        request = arm.workload.asks[0]
        target = ServerRunner().target_of(arm.profile, arm.workload)
        status = request.expect.status
        costs.append(cost(target, request, status, arm.workload.runtime))
    old, new = costs
    return old, new


def report(costs: tuple[Cost, Cost], limits: Sequence[Threshold]) -> tuple[tuple[str, ...], int]:
    """Return lines about the costs and their limits, and the exit status."""
    lines = [*_figures(costs), UNSEEN[0].upper() + UNSEEN[1:]]
    status = 0
    for limit in limits:
        ratio = _ratio(costs, limit.metric)
        crossed = ratio is not None and limit.crossed(ratio)
        status = FAILED if crossed else status
        text = "neither makes any" if ratio is None else f"{ratio:.4g}x"
        lines.append(f"{'failed' if crossed else 'passed'}: --fail-if '{limit.text}': {text}")
    return tuple(lines), status


def _figures(costs: tuple[Cost, Cost]) -> Iterator[str]:
    for name, title in NAMES.items():
        old, new = (getattr(cost, name) for cost in costs)
        ratio = _ratio(costs, name)
        times = "" if ratio is None else f" ({ratio:.4g}x)"
        yield f"{title} per request: {old:,.6g} -> {new:,.6g}{times}"


def _ratio(costs: tuple[Cost, Cost], name: str) -> float | None:
    """Return new / old; None if both are 0, infinity if only the old one is."""
    old, new = (getattr(cost, name) for cost in costs)
    if old:
        return float(new / old)
    return float("inf") if new else None
