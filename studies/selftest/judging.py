"""What the lab says of a trial, in one word: what a run would report first; and of a case's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lab.analysis.diagnose import causes
from lab.analysis.gates import judge
from lab.analysis.gates.machine import MACHINE
from lab.analysis.metrics import derive
from lab.analysis.observations import observed
from lab.errors import log_lines
from lab.model.finding import Finding
from lab.model.measurement import Trial
from lab.model.plan import Plan
from studies.selftest.cases import UNEXPLAINED, Around, PlantedCase
from studies.selftest.result import Answer, CaseResult

NOT_MADE = "no trial"
"""Said of a trial whose server did not start, or whose load could not be made."""

FIGURES = ("throughput", "cpu", "p50", "p90", "p99", "switches")


def case_result(
    case: PlantedCase, plan: Plan, turns: Sequence[Sequence[Trial]], skipped: str | None
) -> CaseResult:
    """
    Count what is said of the trials of one case.

    Args:
        case: What was planted.
        plan: Of one trial of it.
        turns: Each trial with its repeats, of which the last counts.
        skipped: Why there is no trial, if there cannot be one.
    """
    judgements, disturbed = [], 0
    for attempts in turns:
        outside = [
            case.around is not Around.STRANGERS and _disturbed(attempt) for attempt in attempts
        ]
        disturbed += sum(outside)
        last = answer(attempts[-1])
        if not outside[-1] or last.found != MACHINE.name:
            judgements.append(last)
    right = [judgement for judgement in judgements if judgement.found == case.expected]
    return CaseResult(
        name=case.name,
        expected=case.expected,
        summary=plan.arms[0].profile.summary,
        found=dict(Counter(judgement.found for judgement in judgements)),
        disturbed=disturbed,
        evidence=right[-1].evidence if right else "",
        misses=tuple(judgement for judgement in judgements if judgement.found != case.expected),
        skipped=skipped,
    )


def answer(trial: Trial) -> Answer:
    """
    Return what the lab says of *trial*.

    A gate that withholds everything comes first, unless a cause explains it; then the first cause;
    then a gate that withholds something.
    """
    if not trial.windows:
        failure = (trial.failure or "", *log_lines(trial.log, trial.log_file))
        return Answer(NOT_MADE, "\n".join(failure), {})
    seen = observed(trial)
    trial_causes = causes(seen)
    gate = max(seen.findings, key=_weight, default=None)
    if trial_causes:
        label, evidence = trial_causes[0].name, trial_causes[0].evidence
        also = [cause.name for cause in trial_causes[1:]]
        evidence += f" (also: {', '.join(also)})" if also else ""
    elif gate and _weight(gate):
        label, evidence = gate.gate.name, gate.reason
    else:
        label, evidence = UNEXPLAINED, "no rule fires and no gate withholds anything"
    metrics = derive(trial)
    figures = {name: metrics[name] for name in FIGURES if name in metrics}
    return Answer(label, evidence, figures | dict(trial.readings))


def _weight(finding: Finding) -> float:
    return float("inf") if finding.withholds is None else len(finding.withholds)


def _disturbed(trial: Trial) -> bool:
    return any(finding.gate.outside for finding in judge(trial))
