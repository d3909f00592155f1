"""`Conclusion`, the result of a run: trust, largest change, limits."""

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
    """Whether a run is trustworthy."""

    YES = "yes"
    CARE = "care"
    """There is a warning that changes the reading."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class BaselineDistance:
    """The comparison of a profile with the baseline, split into settings and application."""

    whole: Comparison
    """The comparison with the baseline."""

    application: Comparison | None = None
    """The effect of the other application; None: both serve the same one. It is *whole*, with the
    effect of settings, if the profiles between are not in the run."""

    settings: Comparison | None = None
    """The effect of the settings before the change of application."""

    further: Comparison | None = None
    """The effect of the settings after it."""

    missing: str | None = None
    """The profile before the change of application, if it is not in the run."""


@dataclass(frozen=True, slots=True)
class Uncounted(Notice):
    """Profiles whose throughput is a limit of the load generator, or counts in no trial."""

    profiles: tuple[str, ...]
    gates: Mapping[str, str]
    """Gate -> reason; empty if the load generator saturated, and CPU decides."""

    capped: bool = False
    """Whether the reason is that the load generator saturated."""

    nothing: bool = False
    """Whether no other metric of any profile counts either."""

    def sentence(self) -> str:
        who = self._who()
        if self.capped:
            return f"Requests/s of {who} are the generator's limit, so CPU per request decides."
        why = ", ".join(
            f"{gate}: {reason}" if self.nothing else gate for gate, reason in self.gates.items()
        )
        return f"Requests/s of {who} do not count ({why or 'no reply'})."

    def _who(self) -> str:
        """Return one or two names, or the first one and the number of the others."""
        first, *others = self.profiles
        if len(others) == 1:
            return f"{first} and {others[0]}"
        return f"{first} and {len(others)} more" if others else first


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The result of a run, in the order of a report."""

    summary: Summary
    """The summary from which it was concluded."""

    trust: Trust
    warnings: tuple[Notice, ...]
    """Warnings above all tables, the gravest first."""

    judgements: tuple[Judgement, ...]
    """The result for each limit of `--fail-if`."""

    uncounted: Uncounted | None
    baseline: str
    """Name of the profile with which all others are compared."""

    metric: str
    """The metric that judges the run."""

    compared: bool
    """Whether any two profiles can be compared by that metric."""

    alone: bool
    """Whether the baseline is the only profile."""

    moved: BaselineDistance | None
    """The largest change: the best profile, or else the worst; None: no profile differs."""

    cpu: Comparison | None
    """The change of CPU per request of that profile; None: not shown."""

    opening: Opening
    """The comparisons, as the short report shows them."""

    on_one_core: bool
    """Whether no server had more than one core, so that processes and threads cannot help."""

    limit: Diagnosis | None
    """What limits the profile of the largest change, or else the baseline."""

    noise: NoiseCheck | None
    """The comparison of the reference with itself; None: it was impossible."""

    noisy: tuple[str, ...]
    """Metrics with more noise than `Plan.smallest`."""

    detectable: float | None
    """Ratio that the median step detects with 80 % power; None: unknown."""

    limits: tuple[Limit, ...]
    """What limits each profile: the first limit, then others that fit its trials."""

    silent: tuple[str, ...]
    """Profiles of which no trial could show a cause, although others could."""

    levels: tuple[float, ...]
    """Confidence levels of the steps, the most frequent first."""

    gates: tuple[GateFired, ...]
    """Gates that fired, in the order of their footnotes."""

    machine: Facts
    """Facts about the machine of the run."""

    network: Network | None
    """The other hosts from which the load came; None: the same host."""

    notices: tuple[Notice, ...]
    """The footnotes behind those of the gates, in the order in which they are printed."""

    def limit_of(self, profile: str) -> Diagnosis | None:
        """Return what limits *profile*; None where nothing explains it."""
        diagnoses = (member for limit in self.limits if limit.first for member in limit.members)
        return next((diagnosis for diagnosis in diagnoses if diagnosis.profile == profile), None)
