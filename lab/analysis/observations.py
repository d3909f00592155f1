"""The trials that count, each with its metrics and findings: computed once for all comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.gates import judge, slowed
from lab.analysis.gates.effect import Counts, swept
from lab.analysis.metrics import derive
from lab.model.finding import Finding, Whose
from lab.model.measurement import Run, Trial
from lab.model.metric import followers


@dataclass(frozen=True, slots=True)
class Observation:
    """A slot's last trial, judged."""

    trial: Trial
    metrics: Mapping[str, float]
    """By name; without those that a finding withholds."""
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Whether no finding withholds anything."""
        return all(finding.withholds == frozenset() for finding in self.findings)


def observe(run: Run) -> tuple[Observation, ...]:
    """
    Return one observation a slot, in the order of blocks and positions.

    Of a trial and its repeats the last counts: it was repeated for an outside cause, known before
    its outcome.
    """
    counted = swept(run.whole) if run.whole is not None else {}
    prices = slowed.prices(run)
    last = {(trial.slot.block, trial.slot.position): trial for trial in run.trials}
    return tuple(observed(trial, counted, prices) for _, trial in sorted(last.items()))


def observed(
    trial: Trial,
    counted: Mapping[str, Counts] | None = None,
    prices: Mapping[str, float] | None = None,
) -> Observation:
    """Return a trial with what is wrong with it, and with its metrics that count: see `judge`."""
    findings = judge(trial, counted, prices)
    metrics = derive(trial)
    if any(finding.withholds is None for finding in findings):
        metrics = {}
    withheld = {name for finding in findings for name in finding.withholds or ()}
    other_findings = (finding for finding in findings if finding.gate.whose is not Whose.GENERATOR)
    if any("throughput" in (finding.withholds or ()) for finding in other_findings):
        withheld.add("served")
    withheld |= followers(withheld)
    kept = {name: value for name, value in metrics.items() if name not in withheld}
    return Observation(trial, kept, findings)
