"""The plan of a run: its load, its arms and its blocks."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lab.model.backing import BackingService
from lab.model.bounds import Amount, Count, Number, Positive
from lab.model.profile import Profile
from lab.model.workload import Workload


@dataclass(frozen=True, slots=True)
class Load:
    """
    A closed loop, in which each connection sends its next request after the reply to its last one;
    or, with a rate, an open loop, in which requests are due at planned instants.
    """

    connections: Number = 64
    """In an open loop, the most connections that are open at a time."""
    keepalive: bool = True
    """Whether requests reuse connections that the server keeps open."""

    requests: Number | None = None
    """Number of requests after which the window ends; None: it ends after its time."""

    timeout: Positive = 10.0
    """Seconds from sending a request (or connecting) until it counts as an error."""

    rate: Positive | None = None
    """Open loop: requests/s, evenly spaced; None: closed loop. Not with *requests*."""


class Role(enum.StrEnum):
    """The purpose of an arm."""

    PROFILE = "profile"
    AA = "a/a"
    """The second trial of the reference: its difference from the first is noise."""
    COUNTER = "counter"
    """A profile with one setting toggled; see `CounterRun`."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What a trial measures: one profile with one workload under one load."""

    name: str
    """Name of the profile, and the value of *at*; unique among the arms of one role in a run."""

    profile: Profile
    workload: Workload
    """The requests and the correct replies."""

    load: Load
    at: Mapping[str, str] = field(default_factory=dict)
    """What distinguishes it from other arms of the same profile: {"rate": "50%"}."""

    role: Role = Role.PROFILE


WARM = 200
"""Requests of a worker before the window, in which the interpreter specialises its code."""

SHORTEST, LONGEST = 0.1, 600.0
"""Least and largest window of a run, in seconds."""

SMALLEST = 0.05
"""Default of the smallest difference that a run has to detect, as a share."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Randomised complete blocks: a block has every arm once, and the reference twice."""

    arms: tuple[Arm, ...]
    """In ladder order; the first is the baseline."""

    reference: str
    """Name of the profile that runs twice in every block."""

    blocks: Number
    warmup: Amount
    """Least seconds of load before the window; and at least *warm* requests per worker."""

    window: Positive
    """Seconds of measured load in a trial."""

    seed: int
    minutes: Positive | None = None
    """Time limit of the run; None: a fixed number of blocks. With a limit, *blocks* is the largest
    number of blocks."""
    looks: tuple[Count, ...] = ()
    """Numbers of blocks after which decided comparisons end; empty without a time limit."""
    server_cores: str | None = None
    """CPUs of every server: "0,2-3". None: all, or unknown."""
    generator_cores: str | None = None
    """CPUs of the load generator, in the same form."""
    backing: tuple[BackingService, ...] = ()
    """Backing services, which are started before the first server."""
    smallest: Positive = SMALLEST
    """Smallest difference that the run has to detect, as a share: with more noise it is noisy."""
    against_both: bool = False
    """Whether a ratio to the reference uses both of its trials in a block, or the valid one, and
    not the first alone. All means are trimmed then."""
    warm: Count = WARM
    """Least number of requests per worker process in the warm-up."""
    thresholds: tuple[str, ...] = ()
    """The limits of `--fail-if`: "cpu(new/old) > 1.05"."""
    deciding: str | None = None
    """The metric that ends a run of two versions without limits: "cpu". A limit of this metric is
    inconclusive until it is crossed or excluded. None for other runs."""
    share: Positive = 1.0
    """Share of the time in which the server has its cores; below 1 it is slowed down, and the load
    has the rest: see `lab.bench.machine.slowdown`."""
    turns: Number = 1
    """Turns of a trial, whose sum is its window, when all servers of a block are started at once.
    1: one server after the other."""
    inert: Mapping[str, tuple[str, ...]] | None = None
    """Profile -> its options without effect, with reasons, which the linter found before the run;
    None: unknown."""

    @property
    def block(self) -> tuple[Arm, ...]:
        """The arms of one block, with the second ones of the reference."""
        again = (arm for arm in self.arms if arm.profile.name == self.reference)
        return (*self.arms, *(replace(arm, role=Role.AA) for arm in again))

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The profiles, in ladder order."""
        return tuple({arm.profile.name: arm.profile for arm in self.arms}.values())

    @property
    def load(self) -> Load:
        """The load of the first arm; rates of other arms may differ."""
        return self.arms[0].load

    @property
    def workload(self) -> Workload:
        """The workload of the profiles that serve an application."""
        workloads = (arm.workload for arm in self.arms if arm.profile.reply is None)
        return next(workloads, self.arms[0].workload)


@dataclass(frozen=True, slots=True)
class Slot:
    """A planned trial: its place in the run, and its arm."""

    block: Count
    """From 0."""
    position: Count
    """Within the block, from 0."""
    arm: Arm


class Better(enum.StrEnum):
    """The direction in which a metric improves."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class CounterRun:
    """
    A profile with one setting toggled, which tests a cause.

    It joins the remaining blocks, and is paired with the profile. If the cause is right, *metric*
    moves in the direction *expects*, by more than the noise.
    """

    of: str
    """Name of the profile whose cause it tests; its arm has the same *at*."""

    cause: str
    """Name of the cause that it tests; see `lab.analysis.diagnose`."""

    toggle: str
    """The change, for people: "http-socket instead of http"."""

    arm: Arm
    """The arm that is run. Its profile has the options of *of* if the load or the workload is
    changed instead."""

    metric: str
    expects: Better
    """Whether *metric* should become HIGHER or LOWER."""
