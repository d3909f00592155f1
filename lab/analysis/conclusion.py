"""What a run comes to: how far to believe it, what changed most, and what limits that."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.columns import RequestRow
from lab.analysis.footnotes import (
    GateFired,
    GeneratorLimit,
    SentLate,
    SeveralSettings,
)
from lab.analysis.health import NoiseCheck
from lab.analysis.judging import Judgement
from lab.analysis.limits import Limit, NoEffect
from lab.analysis.machine import Facts, Network
from lab.analysis.opening import Opening
from lab.analysis.summary import Summary, Tally
from lab.analysis.undecided import Outlook, Undecided
from lab.config.difference import Difference
from lab.model.comparison import Comparison
from lab.model.diagnosis import Diagnosis
from lab.model.notice import Notice
from lab.model.workload import Wire


class Trust(enum.StrEnum):
    """How far a run can be believed."""

    YES = "yes"
    CARE = "care"
    """With care: a warning changes the reading."""
    NO = "no"


class Term(enum.StrEnum):
    """A word or a mark of a report that a reader may want explained."""

    MEDIAN = "median"
    RATIO = "ratio"
    BOTH = "both"
    """A reference that is the mean of its two trials of a block."""
    VERDICT = "verdict"
    BELOW = "below"
    ALL_REQUESTS = "all requests"
    """The time of a counted load."""
    DUE = "due"
    """Percentiles of an open loop."""
    SATURATED = "saturated"
    """Percentiles of a load without a pause."""
    REFERENCE_LINE = "reference line"


@dataclass(frozen=True, slots=True)
class Moved:
    """How far a profile is from the baseline, settings and application each by themselves."""

    whole: Comparison
    """With the baseline."""

    application: Comparison | None = None
    """What the other application did; None where both serve the same. It is *whole* where the
    line of descent is not in the run, so that settings are in it, too."""

    settings: Comparison | None = None
    """What settings did before that."""

    further: Comparison | None = None
    """What settings did after it."""

    missing: str | None = None
    """Profile that the other application was to be compared with, and is not in the run."""


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Profiles of which the throughput is not their own, or counts in no trial."""

    profiles: tuple[str, ...]
    gates: Mapping[str, str]
    """Why: gate -> its reason. Empty where the load's generator is at its limit, and CPU tells."""

    capped: bool = False
    """Whether the generator's limit is the reason."""

    nothing: bool = False
    """Whether nothing else of any profile counts either."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a run comes to, in the order in which it is said."""

    summary: Summary
    """What was found, which this is of."""

    trust: Trust
    warnings: tuple[Notice, ...]
    """What a reader must know before any number, gravest first."""

    judgements: tuple[Judgement, ...]
    """What it says to each limit of `--fail-if`."""

    failed: tuple[tuple[str, Tally], ...]
    """Each profile whose server failed in a trial, and by which gate, in how many."""

    uncounted: Uncounted | None
    baseline: str
    """Name of the profile that all are compared with."""

    metric: str
    """By which the run is judged."""

    compared: bool
    """Whether any profile can be compared by it."""

    alone: bool
    """Whether there is no other profile."""

    moved: Moved | None
    """What changed most: the best, else the worst; None where nothing is told from the baseline."""

    cpu: Comparison | None
    """What that cost in CPU per request; None where that is not told, or another application's."""

    opening: Opening
    """What is told first of all comparisons."""

    on_one_core: bool
    """Whether no server had more than one core: more processes or threads cannot show a gain."""

    limit: Diagnosis | None
    """What limits that profile, else the baseline."""

    noise: NoiseCheck | None
    """None where it could not be made."""

    noisy: tuple[str, ...]
    """Metrics by which the same server twice is further apart than wanted."""

    detectable: float | None
    """Ratio that the median step would show with 80 % power; None where no step says."""

    limits: tuple[Limit, ...]
    """What limits each profile: of each what limits it first, then what else its trials fit."""

    silent: tuple[str, ...]
    """Profiles of which no trial could show a cause, where others' could."""

    no_effect: tuple[NoEffect, ...]
    """Options that do nothing where they stand."""

    undecided: tuple[Undecided, ...]
    """By metric, of those that leave anything open."""

    outlook: Outlook | None
    """How far a run of minutes came; None of another one, and where there is nothing to tell."""

    left_early: tuple[int, ...]
    """Blocks after which rows of the tables ended at a look."""

    levels: tuple[float, ...]
    """Of the intervals of its steps, the most frequent first."""

    fragile: bool
    """Whether one or two blocks decide any change of the tables."""

    generator_limit: GeneratorLimit | None
    """Figures that the generator's limit bounds; None where it bounds none."""

    sent_again: Mapping[str, float]
    """Profile -> share of its requests; of those where it is worth a note."""

    sent_late: SentLate | None
    """Of an open loop; None of another load."""

    several_settings: tuple[SeveralSettings, ...]
    """Steps that are more than one setting."""

    protocols: Mapping[Wire, tuple[str, ...]]
    """Who is asked in which, where not all are asked in one."""

    telling: tuple[str, ...]
    """Names of values in the run's folder that may be secrets."""

    made_again: int
    """Trials that were repeats."""

    gates: tuple[GateFired, ...]
    """In the order of their footnotes' numbers."""

    lines: tuple[str, ...]
    """Names of the reference lines."""

    terms: tuple[Term, ...]
    """What the report says that needs a legend."""

    machine: Facts
    """Where the run was made."""

    network: Network | None
    """The other hosts that its load came from; None where it came from the same one."""

    metrics: tuple[str, ...]
    """By which changes are judged, and what is open is told."""

    compared_by: tuple[str, ...]
    """Metrics of the tables of changes."""

    measured: tuple[str, ...]
    """Metrics of the table of measurements."""

    asked: tuple[RequestRow, ...]
    """Requests of a mix that have a row."""

    panels: tuple[str, ...]
    """Metrics of the figure of changes."""

    differences: Mapping[str, Difference]
    """Profile -> the options in which it differs from the one before it, where it has one."""

    def limit_of(self, profile: str) -> Diagnosis | None:
        """Return what limits *profile*; None where nothing explains it."""
        found = (each for limit in self.limits if limit.first for each in limit.members)
        return next((each for each in found if each.profile == profile), None)
