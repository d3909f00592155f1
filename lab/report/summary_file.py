"""
The format of `summary.json`, as types: `lab.report.json` fills them, `tools/pages` publishes them.

Quantities are in SI units. What is not known or does not apply is absent, never null and never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.model import Better, Standing, Verdict

FORMAT = 2
"""
Version of the format; fields may be added within one, so a reader ignores what it does not know.

1: the first.
2: `diagnoses` and `inert`, the load's `rate`; later `shares`.
"""


@dataclass(frozen=True, slots=True)
class Load:
    """The load that every profile had."""

    connections: int
    keepalive: bool
    timeout: float
    requests: int | None = None
    """A counted load's."""
    rate: float | None = None
    """An open loop's requests a second."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How often, how long, in which order."""

    blocks: int
    window: float
    warmup: float
    seed: int
    baseline: str
    """The first profile of the ladder."""
    reference: str
    """The profile that ran twice in every block."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Slots of the plan."""

    measured: int
    planned: int


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured quantity."""

    title: str
    better: Better
    exact: bool
    """Whether it has no noise, as a count of drops."""


@dataclass(frozen=True, slots=True)
class Value:
    """A metric of a profile."""

    median: float
    trials: int
    """How many it is the median of."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate that fired."""

    gate: str
    trials: int
    reason: str
    advice: str
    withholds: Sequence[str]
    """Metrics that it makes meaningless."""
    outside: bool
    """Whether its cause lies outside the experiment."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What was measured of one profile."""

    name: str
    summary: str
    server: str
    digest: str
    valid: int
    """Trials of which every metric counts."""
    trials: int
    values: Mapping[str, Value]
    facts: Mapping[str, str]
    findings: Sequence[Finding]
    against: str | None = None
    retried_share: float | None = None
    """Requests sent again on a new connection, over replies."""
    wall: float | None = None
    """Counted load: seconds until all requests had an outcome."""
    slowest: float | None = None
    """Counted load: seconds of the slowest reply."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A ratio, paired by block, and what it allows to be said."""

    changed: str
    reference: str
    verdict: Verdict
    fragile: bool
    """Whether a rank-based estimate disagrees."""
    ratio: float | None = None
    """changed / reference; absent with fewer than two valid pairs, as are the next four."""
    low: float | None = None
    """Of the 95 % interval."""
    high: float | None = None
    n: int | None = None
    """Blocks."""
    half_width: float | None = None
    """Of the interval, as a share."""
    detectable: float | None = None
    """Smallest ratio above 1 that so many blocks tell from 1, 4 times out of 5; a verdict needs
    it times 1 + the metric's floor."""
    blocks_needed: int | None = None
    """About how many would decide it, where it is undecided."""


@dataclass(frozen=True, slots=True)
class Step:
    """How one profile compares, by metric."""

    profile: str
    step: Mapping[str, Comparison]
    """With *before*."""
    baseline: Mapping[str, Comparison]
    before: str | None = None
    instead_of: str | None = None
    """The profile that it is written against, where that one is not in the run."""


@dataclass(frozen=True, slots=True)
class CounterRun:
    """The setting that was toggled to put a cause to the test."""

    profile: str
    """The name under which it ran."""
    toggle: str
    metric: str
    expects: Better


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What limited a profile."""

    cause: str
    standing: Standing
    evidence: str
    trials: int
    """Trials that show it."""
    of: int
    """Trials that could."""
    rules_out: str | None = None
    counter: CounterRun | None = None
    effect: Comparison | None = None
    """The counter-run over the profile itself."""


@dataclass(frozen=True, slots=True)
class SummaryFile:
    """The content of `summary.json`."""

    format: int
    run: str
    """Name of the run's folder."""
    command: str
    """What repeats it."""
    generator: str
    workload: str
    path: str
    load: Load
    plan: Plan
    trials: Trials
    environments: Sequence[str]
    """Digests; `run.json` holds what they stand for."""
    machine: Sequence[str]
    exit_code: int
    banners: Sequence[str]
    notes: Sequence[str]
    metrics: Mapping[str, Metric]
    profiles: Sequence[Profile]
    """In ladder order."""
    skipped: Mapping[str, str]
    """Profile that cannot run here -> why."""
    steps: Sequence[Step]
    aa: Mapping[str, Comparison]
    """The reference's second run over its first, by metric."""
    floors: Mapping[str, float]
    """Share below which a change is not told from noise, by metric."""
    diagnoses: Mapping[str, Sequence[Diagnosis]] | None = None
    """By profile, what limits it first; absent where nothing explains it."""
    inert: Mapping[str, Sequence[str]] | None = None
    """By profile: options without effect, each with the reason."""
    shares: Mapping[str, Mapping[str, Comparison]] | None = None
    """By profile and reference line of the same server: the line's CPU a request over the
    profile's; absent in a run without reference lines."""
