"""What the lab says of one trial, in one word: what a run would report first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.diagnose import causes
from lab.analysis.metrics import derive
from lab.analysis.observations import observed
from lab.model import Finding, Trial
from lab.selftest.cases import UNEXPLAINED

FIGURES = ("throughput", "cpu", "p50", "p90", "p99", "switches")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said of a trial."""

    label: str
    """Name of a cause, of a gate, or `UNEXPLAINED`."""
    evidence: str
    disturbed: bool
    """Whether something outside disturbed the trial, so that a run would repeat it."""
    figures: Mapping[str, float]
    """Metrics and readings, to see on which a miss hung."""


def answer(trial: Trial) -> Answer:
    """
    Return what the lab says of *trial*.

    A gate that withholds everything comes first, unless a cause explains it; then the first cause;
    then a gate that withholds something.
    """
    seen = observed(trial)
    findings, found = seen.findings, causes(seen)
    gates = sorted(findings, key=_weight, reverse=True)
    if found:
        label, evidence = found[0].name, found[0].evidence
        also = [cause.name for cause in found[1:]]
        evidence += f" (also: {', '.join(also)})" if also else ""
    elif gates and _weight(gates[0]):
        label, evidence = gates[0].gate, gates[0].reason
    else:
        label, evidence = UNEXPLAINED, "no rule fires and no gate withholds anything"
    metrics = derive(trial)
    figures = {name: metrics[name] for name in FIGURES if name in metrics}
    return Answer(
        label=label,
        evidence=evidence,
        disturbed=any(finding.outside for finding in findings),
        figures=figures | dict(trial.readings),
    )


def _weight(finding: Finding) -> float:
    return float("inf") if finding.withholds is None else len(finding.withholds)
