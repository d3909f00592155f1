"""What the lab says of one trial, in one word: what a run would report first."""

from __future__ import annotations

from lab.analysis.diagnose import causes
from lab.analysis.metrics import derive
from lab.analysis.observations import observed
from lab.model import Finding, Trial
from lab.selftest.cases import UNEXPLAINED
from lab.selftest.result import Answer

NOT_MADE = "no trial"
"""Said of a trial whose server did not start, or whose load could not be made."""

FIGURES = ("throughput", "cpu", "p50", "p90", "p99", "switches")


def answer(trial: Trial) -> Answer:
    """
    Return what the lab says of *trial*.

    A gate that withholds everything comes first, unless a cause explains it; then the first cause;
    then a gate that withholds something.
    """
    if not trial.windows:
        return Answer(NOT_MADE, trial.failure or "", {})
    seen = observed(trial)
    found = causes(seen)
    gate = max(seen.findings, key=_weight, default=None)
    if found:
        label, evidence = found[0].name, found[0].evidence
        also = [cause.name for cause in found[1:]]
        evidence += f" (also: {', '.join(also)})" if also else ""
    elif gate and _weight(gate):
        label, evidence = gate.gate, gate.reason
    else:
        label, evidence = UNEXPLAINED, "no rule fires and no gate withholds anything"
    metrics = derive(trial)
    figures = {name: metrics[name] for name in FIGURES if name in metrics}
    return Answer(label, evidence, figures | dict(trial.readings))


def _weight(finding: Finding) -> float:
    return float("inf") if finding.withholds is None else len(finding.withholds)
