"""What a move is, and how one is said in meanings."""

from __future__ import annotations

from dataclasses import dataclass

from lab.config import servers
from lab.config.steps import Step
from lab.model.plan import Arm, Load

MOST_WORKERS = 256
"""Worker processes that a move may ask for; more do not start before a server's deadline."""


@dataclass(frozen=True, slots=True)
class Move:
    """One change of a profile, its load or its workload."""

    name: str
    """Ends the name of its profile: "http-socket" makes baseline~http-socket."""
    text: str
    """For people: "http-socket instead of http"."""
    steps: tuple[Step, ...] = ()
    """Where the change is in the profile's options."""
    load: Load | None = None
    """Where the change is in the load."""
    workload: str | None = None
    """Where the change is in what is asked: its name in `lab.bench.workloads`."""


def told(arm: Arm, meanings: dict[str, object]) -> tuple[Step, ...]:
    """Return how an arm's server is told each meaning, and nothing that goes with it."""
    server = servers.of(arm.profile)
    return tuple(step for key, value in meanings.items() for step in server.plain_steps(key, value))
