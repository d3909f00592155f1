"""
A shared ceiling: several profiles that work differently and come out the same.

Servers that need clearly different CPU for a request cannot reach the same rate by their own
strength. If three do, something in front of them sets it: the client, the network, a log, a rate
limit. No trial shows that by itself, so it is looked for over a whole run.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.gates.common import at_limit
from lab.analysis.observations import Observation
from lab.analysis.warning import SharedCeiling
from lab.model.plan import Plan

LEAST_PROFILES = 3
"""Two that come out the same are chance often enough."""

SAME_RATE = 0.015
"""Share of throughput within which profiles share a rate."""

OTHER_WORK = 0.15
"""Share by which CPU per request must differ, beyond the noise of the run."""

SUSPICIOUS = 0.001
"""Share of throughput within which profiles share a rate where their CPU is not known, as in most
published figures: trials of one and the same server differ by ten times that."""


@dataclass(frozen=True, slots=True)
class _Profile:
    name: str
    rate: float
    """Requests per second, the median."""
    cpu: float | None
    """Seconds a request, the median; None where it was never read."""


def shared_ceiling(
    observations: Sequence[Observation], plan: Plan, noise: float
) -> SharedCeiling | None:
    """
    Return what the run shows of a shared ceiling; None where it shows none.

    Not in an open loop, where equal throughput is the plan's. A profile whose server was at its
    own limit is left out: its rate is its own. So is one whose throughput a gate withholds, as
    that has its reason already.

    Args:
        observations: The run's.
        plan: The run's.
        noise: Share below which a change of CPU is within the noise.
    """
    if plan.load.rate is not None:
        return None
    measured = (_measured(profile.name, observations) for profile in plan.profiles)
    by_rate = sorted(
        (profile for profile in measured if profile is not None), key=lambda profile: profile.rate
    )
    for first, slowest in enumerate(by_rate):
        for share in (SAME_RATE, SUSPICIOUS):
            group = [
                profile for profile in by_rate[first:] if profile.rate <= slowest.rate * (1 + share)
            ]
            if _is_ceiling(group, share, noise):
                return _shared_ceiling(group)
    return None


def _measured(name: str, observations: Sequence[Observation]) -> _Profile | None:
    trials = [item for item in observations if item.trial.measures(name)]
    rates = [item.metrics["throughput"] for item in trials if "throughput" in item.metrics]
    cpus = [item.metrics["cpu"] for item in trials if "cpu" in item.metrics]
    if not rates or sum(at_limit(item.trial) for item in trials) * 2 > len(trials):
        return None
    return _Profile(name, statistics.median(rates), statistics.median(cpus) if cpus else None)


def _is_ceiling(group: Sequence[_Profile], share: float, noise: float) -> bool:
    if len(group) < LEAST_PROFILES:
        return False
    cpus = [profile.cpu for profile in group if profile.cpu is not None]
    if not cpus:
        return share == SUSPICIOUS
    return len(cpus) == len(group) and max(cpus) > min(cpus) * (1 + OTHER_WORK) * (1 + noise)


def _shared_ceiling(group: Sequence[_Profile]) -> SharedCeiling:
    cpus = [profile.cpu for profile in group if profile.cpu is not None]
    return SharedCeiling(
        tuple(profile.name for profile in group),
        group[-1].rate / group[0].rate - 1,
        (min(cpus), max(cpus)) if cpus else None,
    )
