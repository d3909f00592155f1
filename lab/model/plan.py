"""What is run: the load, the arms, and the plan that pairs them."""

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
    A closed loop, in which each connection sends its next request when its last reply is there; or,
    with a rate, an open loop, in which requests are due at planned instants whatever the server
    does.
    """

    connections: Number = 64
    """In an open loop: the most that are open at once."""
    keepalive: bool = True
    """Whether a connection is used again when the server keeps it open; else one request each."""

    requests: Number | None = None
    """End after this many requests instead of after the window; None for a timed window."""

    timeout: Positive = 10.0
    """Seconds from sending a request (or connecting) until it counts as an error."""

    rate: Positive | None = None
    """Open loop: requests/s, evenly spaced; None for a closed loop. Not with *requests*."""


class Role(enum.StrEnum):
    """Why an arm is in a block."""

    PROFILE = "profile"
    AA = "a/a"
    """The reference's second run: any difference from its first is the machine's noise."""
    COUNTER = "counter"
    """A profile with the one setting toggled that a cause names; see `CounterRun`."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What a trial measures: one profile, asked for one thing, under one load."""

    name: str
    """Unique among the arms of one role in a run: the profile's name, and what is in *at*."""

    profile: Profile
    workload: Workload
    """What is asked of it, and which reply is correct: its own where it serves no application."""

    load: Load
    at: Mapping[str, str] = field(default_factory=dict)
    """Where arms of one profile differ, what sets this one apart: {"rate": "50%"}."""

    role: Role = Role.PROFILE


WARM = 200
"""Requests of a worker before it is measured: the interpreter specialises and the caches fill."""

SHORTEST, LONGEST = 0.1, 600.0
"""Seconds of the windows that a run may have."""

SMALLEST = 0.05
"""Smallest difference that is looked for where nobody says, as a share."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Randomised complete blocks: every arm once a block, and the reference a second time."""

    arms: tuple[Arm, ...]
    """In ladder order; the first is the baseline."""

    reference: str
    """Name of the profile whose arms run twice in every block: the A/A arms."""

    blocks: Number
    warmup: Amount
    """Seconds of unrecorded load at the least; also at least *warm* requests a worker."""

    window: Positive
    """Seconds of recorded load in a trial."""

    seed: int
    minutes: Positive | None = None
    """Time that the blocks may take; None for a fixed number of them. With it *blocks* is the most
    that there may be."""
    looks: tuple[Count, ...] = ()
    """Blocks after which is asked which comparisons have ended; none with a fixed number."""
    server_cores: str | None = None
    """CPUs of every server: "0,2-3". None where it may use all, and where the run does not say."""
    generator_cores: str | None = None
    """The same of the load."""
    backing: tuple[BackingService, ...] = ()
    """What its servers need, started before the first of them."""
    smallest: Positive = SMALLEST
    """Share that the run has to be able to tell from noise: else it is noisier than wanted."""
    against_both: bool = False
    """Whether ratios to the reference are to both of its trials of a block, or to the one of them
    that counts, and not to the first alone. Means are trimmed then, that of the noise too."""
    warm: Count = WARM
    """Requests of each worker process in the warm-up, at the least."""
    thresholds: tuple[str, ...] = ()
    """The limits of `--fail-if`: "cpu(new/old) > 1.05"."""
    deciding: str | None = None
    """Of a run of two versions the metric that ends it where it has no limits: "cpu". A limit of it
    is open until it is crossed or excluded. None of other runs."""
    inert: Mapping[str, tuple[str, ...]] | None = None
    """Profile -> its options without effect, each with the reason, as the linter judged them before
    the run; None: unknown."""

    @property
    def block(self) -> tuple[Arm, ...]:
        """The arms of one block: its own, and the reference's a second time."""
        again = (arm for arm in self.arms if arm.profile.name == self.reference)
        return (*self.arms, *(replace(arm, role=Role.AA) for arm in again))

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The arms' profiles, each once, in ladder order."""
        return tuple({arm.profile.name: arm.profile for arm in self.arms}.values())

    @property
    def load(self) -> Load:
        """The load of its arms, but for their rates where these differ."""
        return self.arms[0].load

    @property
    def workload(self) -> Workload:
        """What is asked of every profile that serves an application."""
        workloads = (arm.workload for arm in self.arms if arm.profile.reply is None)
        return next(workloads, self.arms[0].workload)


@dataclass(frozen=True, slots=True)
class Slot:
    """A planned trial: its place in the run's order, and what it measures."""

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
    A profile with the one setting toggled that a cause names.

    It joins the blocks that are left, so that it is paired with the profile like any other. If the
    cause is the right one, *metric* moves in the direction *expects*, beyond the noise.
    """

    of: str
    """Name of the profile whose cause it tests, in the arm that has the same *at*."""

    cause: str
    """Name of the cause that it puts to the test; see `lab.analysis.diagnose`."""

    toggle: str
    """What is changed, for people: "http-socket instead of http"."""

    arm: Arm
    """What is run. Its profile has the same options as that of *of* where the toggle is in the load
    or in the workload."""

    metric: str
    expects: Better
    """Whether the toggled *metric* should be HIGHER or LOWER than the profile's own."""
