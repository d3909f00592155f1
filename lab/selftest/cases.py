"""
The planted faults: for each, how it is made, and what the lab has to say of it.

The profiles lie under tests/planted/ and have exactly one fault each. The same rules judge them
that judge any run.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path

from lab.model import Expectation, Load, Workload
from lab.system.programs import ROOT

PLANTED = ROOT / "tests" / "planted"

DONE = Workload("planted", "/", Expectation(body=b"done"))

EXAMINED = Workload("planted", "/", Expectation(pattern="[0-9]*[0-9]*[0-9]*!|done"), chdir=PLANTED)
"""A correct reply is found after some ten thousand steps of backtracking: a slow client."""

UNEXPLAINED = "unexplained"
"""The legal answer where nothing limits but the load itself."""


class Around(enum.Enum):
    """What is planted outside the server."""

    NOTHING = enum.auto()
    STRANGERS = enum.auto()
    """Programs that use up the server's CPU."""
    LOSS = enum.auto()
    """A network that loses every 20th handshake."""


@dataclass(frozen=True, slots=True)
class Case:
    """A planted fault."""

    name: str
    expected: str
    """Name of the cause that must come first, of the gate that must fire, or `UNEXPLAINED`."""
    profile: str
    """File name, without its suffix, under tests/planted/."""
    load: Load = field(default_factory=lambda: Load(connections=32))
    workload: Workload = DONE
    window: float = 1.5
    """Seconds."""
    pin: bool = True
    """Whether server and generator have CPUs of their own; else the server may use all."""
    around: Around = Around.NOTHING
    quick: bool = False
    """Whether it is among the clear-cut ones that the quick form runs."""

    @property
    def path(self) -> Path:
        """The profile's file."""
        return PLANTED / f"{self.profile}.ini"


FEW = Load(connections=16)

CASES = (
    Case(
        "accept queue",
        "accept queue",
        "accept-queue",
        Load(connections=300, keepalive=False, requests=3000, timeout=30.0),
        quick=True,
    ),
    Case("slow client", "generator", "fast", FEW, EXAMINED, quick=True),
    Case("HTTP router", "router", "router", quick=True),
    Case("one process", "single worker", "one-process", FEW, pin=False),
    Case("threads of one process", "GIL", "one-process-threads", FEW, pin=False),
    Case("lock between processes", "lock convoy", "thunder-lock"),
    Case("log into a slow pipe", "logging", "slow-log", quick=True),
    Case(
        "a connection for each request",
        "reconnecting",
        "reconnecting",
        Load(connections=8, keepalive=False),
    ),
    Case("slow upstream", "workers asleep", "two-workers", FEW, quick=True),
    Case("workers replaced", "respawning", "recycling", window=3.0),
    Case("stalls", "stalls", "stalling", window=3.0, quick=True),
    Case("stalls, open loop", "stalls", "stalling", Load(64, rate=500.0), window=3.0),
    Case("nothing wrong", "server CPU", "healthy", quick=True),
    Case("too few clients", UNEXPLAINED, "enough-threads", Load(connections=8)),
    Case("strangers on the CPU", "machine", "healthy", around=Around.STRANGERS),
    Case("failing application", "errors", "failing", quick=True),
    Case("one worker, kept connections", "starvation", "starving", quick=True),
    Case("lost handshakes", "quantised", "healthy", window=3.0, around=Around.LOSS),
)
"""In the order of the report."""
