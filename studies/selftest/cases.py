"""
The planted faults: for each, how it is made, and what the lab has to say of it.

The profiles lie in `planted` beside this file and have exactly one fault each. The same rules judge
them that judge any run.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path

from lab.analysis.gates.machine import MACHINE
from lab.analysis.gates.network import QUANTISED
from lab.analysis.gates.replies import ERRORS, STARVATION
from lab.bench import profiles
from lab.bench.trials.plan import alone, arm_of
from lab.model.plan import Load, Plan
from lab.model.profile import Profile
from lab.model.request import Expectation
from lab.model.workload import Workload

PLANTED = Path(__file__).with_name("planted")

DONE = Workload("planted", "/", Expectation(body=b"done"))

EXAMINED = Workload("planted", "/", Expectation(pattern="[0-9]*[0-9]*[0-9]*!|done"), chdir=PLANTED)
"""A correct reply is found after some ten thousand steps of backtracking: a slow client."""

UNEXPLAINED = "unexplained"
"""The legal answer where nothing limits but the load itself."""


WARMUP = 0.5
"""Seconds of unrecorded load at the least."""


class Around(enum.Enum):
    """What is planted outside the server."""

    NOTHING = enum.auto()
    STRANGERS = enum.auto()
    """Programs that use up the server's CPU."""
    LOSS = enum.auto()
    """A network that loses every 20th handshake."""


@dataclass(frozen=True, slots=True)
class PlantedCase:
    """A planted fault: what a trial of it measures, and what must be said."""

    name: str
    expected: str
    """Name of the cause that must come first, of the gate that must fire, or `UNEXPLAINED`."""
    profile: str
    """File name, without its suffix, in `planted`."""
    load: Load = field(default_factory=lambda: Load(connections=32))
    workload: Workload = DONE
    window: float = 1.5
    """Seconds."""
    pin: bool = True
    """Whether server and generator have CPUs of their own; else the server may use all."""
    around: Around = Around.NOTHING
    quick: bool = False
    """Whether it is among the clear-cut ones that the quick form runs."""

    def plan(self) -> Plan:
        """
        Return the plan of one trial of its arm.

        Raises:
            ProfileError: uWSGI refuses the planted profile.
        """
        return alone(arm_of(planted(self.profile), self.workload, self.load), self.window, WARMUP)


def planted(name: str) -> Profile:
    """Return a planted profile, which obeys the lab as our own do."""
    return profiles.read(str(PLANTED / f"{name}.ini"), ours=True)


FEW = Load(connections=16)

CASES = (
    PlantedCase(
        "accept queue",
        "accept queue",
        "accept-queue",
        Load(connections=300, keepalive=False, requests=3000, timeout=30.0),
        quick=True,
    ),
    PlantedCase("slow client", "generator", "fast", FEW, EXAMINED, quick=True),
    PlantedCase("HTTP router", "router", "router", quick=True),
    PlantedCase("one process", "single worker", "one-process", FEW, pin=False),
    PlantedCase("threads of one process", "GIL", "one-process-threads", FEW, pin=False),
    PlantedCase("lock between processes", "lock convoy", "thunder-lock"),
    PlantedCase("log into a slow pipe", "logging", "slow-log", quick=True),
    PlantedCase(
        "one connection per request",
        "reconnecting",
        "reconnecting",
        Load(connections=8, keepalive=False),
    ),
    PlantedCase("slow upstream", "workers asleep", "two-workers", FEW, quick=True),
    PlantedCase("workers replaced", "respawning", "recycling", window=3.0),
    PlantedCase("stalls", "stalls", "stalling", window=3.0, quick=True),
    PlantedCase("stalls, open loop", "stalls", "stalling", Load(64, rate=500.0), window=3.0),
    PlantedCase("nothing wrong", "server CPU", "healthy", quick=True),
    PlantedCase("too few clients", UNEXPLAINED, "enough-threads", Load(connections=8)),
    PlantedCase("strangers on the CPU", MACHINE.name, "healthy", around=Around.STRANGERS),
    PlantedCase("failing application", ERRORS.name, "failing", quick=True),
    PlantedCase("one worker, kept connections", STARVATION.name, "starving", quick=True),
    PlantedCase("lost handshakes", QUANTISED.name, "healthy", window=3.0, around=Around.LOSS),
)
"""In the order of the report."""
