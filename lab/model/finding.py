"""What a gate is, and what it says of a trial."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lab.model.measurement import Trial


class Whose(enum.StrEnum):
    """Whose limit keeps a figure from being the server's own."""

    SERVER = "server"
    GENERATOR = "generator"
    """The load's, with all that is a part of it: then what was served is the least it can be."""
    MACHINE = "machine"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Beside:
    """What a gate may know beside the trial."""

    fired: Mapping[Gate, Finding] = field(default_factory=dict)
    """What the gates before it have found."""

    swept: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Profile -> value of the run's sweep -> what was counted of its server there: see
    `lab.analysis.gates.effect`."""


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """A reason for which a trial does not count: how it shows, and all that is said of it."""

    name: str
    """As printed and stored; in code a gate is itself, and never its name."""

    place: int
    """In the order in which gates are asked, and named: the most fundamental first."""

    looks: Callable[[Trial, Beside], Finding | None]
    whose: Whose

    fires: str
    """When it fires: this and the next two are cells of docs/reference/gates-and-causes.md."""

    withholds: str
    """Which metrics, in words; `Finding.withholds` has those of one trial."""

    because: str

    outside: bool = False
    """Whether the cause lies outside the experiment, so that the trial may be repeated."""

    failing: bool = False
    """Whether it is the server's own failing, where it withholds everything."""

    explains: bool = False
    """Whether it is the explanation itself, where it withholds everything: no cause is asked."""

    floor: bool = False
    """Whether tables show what was served, as the least, where it withholds throughput."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate that fired: why a trial does not count, and what to do about it."""

    gate: Gate
    reason: str
    advice: str
    withholds: frozenset[str] | None = None
    """Names of the metrics that it makes meaningless; None for all of them."""
