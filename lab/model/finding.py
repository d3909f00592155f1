"""Gates, which decide whether a trial counts, and their findings."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lab.model.measurement import Trial


class Whose(enum.StrEnum):
    """Which part of the experiment limits a figure."""

    SERVER = "server"
    GENERATOR = "generator"
    """The load, with everything that belongs to it: the throughput is then a lower bound."""
    MACHINE = "machine"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Beside:
    """What a gate may know besides the trial."""

    fired: Mapping[Gate, Finding] = field(default_factory=dict)
    """The findings of the gates before it."""

    swept: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Profile -> value of the sweep -> number of workers or threads that were counted; see
    `lab.analysis.gates.effect`."""

    prices: Mapping[str, float] = field(default_factory=dict)
    """Name of an arm -> how many times the CPU a request costs in the windows of a server
    that is slowed down; see `lab.analysis.gates.slowed`."""


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """A reason why a trial does not count: the check, and its documentation."""

    name: str
    """The name that is printed and stored. Code compares gates, not names."""

    place: int
    """Position in the order of the gates: the most fundamental first."""

    check: Callable[[Trial, Beside], Finding | None]
    whose: Whose

    fires: str
    """When it fires; with the next two a row of docs/reference/gates-and-causes.md."""

    withholds: str
    """Which metrics it withholds, in words; `Finding.withholds` has those of one trial."""

    because: str
    """Why it withholds them."""

    outside: bool = False
    """Whether the cause is outside the experiment, so that the trial may be repeated."""

    failing: bool = False
    """Whether the server failed, if it withholds all metrics."""

    explains: bool = False
    """Whether it explains the trial, if it withholds all metrics: no cause is searched."""

    floor: bool = False
    """Whether tables show the throughput as a lower bound, if it withholds throughput."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate that fired: why a trial does not count, and what to do about it."""

    gate: Gate
    reason: str
    advice: str
    withholds: frozenset[str] | None = None
    """Names of the metrics that it withholds; None for all."""
