"""What a run comes to: how far to believe it, what changed most, and what limits that."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.gates_fired import GateFired
from lab.analysis.health import NoiseCheck
from lab.analysis.judging import Judgement
from lab.analysis.limits import Limit
from lab.analysis.machine import Facts, Network
from lab.analysis.opening import Opening
from lab.analysis.summary import Summary
from lab.model.comparison import Comparison
from lab.model.diagnosis import Diagnosis
from lab.model.notice import Notice


class Trust(enum.StrEnum):
    """How far a run can be believed."""

    YES = "yes"
    CARE = "care"
    """With care: a warning changes the reading."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class BaselineDistance:
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
class Uncounted(Notice):
    """Profiles of which the throughput is not their own, or counts in no trial."""

    profiles: tuple[str, ...]
    gates: Mapping[str, str]
    """Why: gate -> its reason. Empty where the load's generator is at its limit, and CPU tells."""

    capped: bool = False
    """Whether the generator's limit is the reason."""

    nothing: bool = False
    """Whether nothing else of any profile counts either."""

    def sentence(self) -> str:
        who = self._who()
        if self.capped:
            return f"Requests/s of {who} are the generator's limit, so CPU per request decides."
        why = ", ".join(
            f"{gate}: {reason}" if self.nothing else gate for gate, reason in self.gates.items()
        )
        return f"Requests/s of {who} do not count ({why or 'no reply'})."

    def _who(self) -> str:
        """Return the name of the first profile, and count the others; both names of two."""
        first, *others = self.profiles
        if len(others) == 1:
            return f"{first} and {others[0]}"
        return f"{first} and {len(others)} more" if others else first


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

    uncounted: Uncounted | None
    baseline: str
    """Name of the profile that all are compared with."""

    metric: str
    """By which the run is judged."""

    compared: bool
    """Whether any profile can be compared by it."""

    alone: bool
    """Whether there is no other profile."""

    moved: BaselineDistance | None
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

    levels: tuple[float, ...]
    """Of the intervals of its steps, the most frequent first."""

    gates: tuple[GateFired, ...]
    """In the order of their footnotes' numbers."""

    machine: Facts
    """Where the run was made."""

    network: Network | None
    """The other hosts that its load came from; None where it came from the same one."""

    notices: tuple[Notice, ...]
    """The footnotes behind those of the gates, in the order in which they are printed."""

    def limit_of(self, profile: str) -> Diagnosis | None:
        """Return what limits *profile*; None where nothing explains it."""
        diagnoses = (member for limit in self.limits if limit.first for member in limit.members)
        return next((diagnosis for diagnosis in diagnoses if diagnosis.profile == profile), None)
