"""The trials that count, each with its metrics and findings: computed once for all comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lab.analysis.gates import judge
from lab.analysis.metrics import derive
from lab.model import (
    Arm,
    CounterRun,
    Expectation,
    Finding,
    Plan,
    Profile,
    Run,
    Slot,
    Trial,
    Workload,
)


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
    last = {(trial.slot.block, trial.slot.position): trial for trial in run.trials}
    return tuple(_observation(trial, run) for _, trial in sorted(last.items()))


def plan_of(slot: Slot, plan: Plan, counters: Sequence[CounterRun]) -> Plan:
    """
    Return the plan that a slot is run and judged by.

    A counter-run may have another load, and a profile that serves no application has a reply of
    its own.
    """
    workload = None
    if slot.arm is Arm.COUNTER:
        counter = next(each for each in counters if each.profile.name == slot.profile)
        workload = counter.workload
        plan = replace(
            plan,
            profiles=(counter.profile,),
            reference=counter.profile.name,
            load=counter.load or plan.load,
        )
    if workload is None:
        profile = next(each for each in plan.profiles if each.name == slot.profile)
        workload = workload_of(profile, plan.workload)
    return plan if workload == plan.workload else replace(plan, workload=workload)


def workload_of(profile: Profile, workload: Workload) -> Workload:
    """Return what is asked of *profile* in a run of *workload*: the same, but for its own reply."""
    if profile.reply is None:
        return workload
    return Workload(profile.name, workload.path, Expectation(body=profile.reply.encode()))


def _observation(trial: Trial, run: Run) -> Observation:
    plan = plan_of(trial.slot, run.plan, run.counters)
    findings = judge(trial, plan)
    metrics = derive(trial, plan.load)
    if any(finding.withholds is None for finding in findings):
        metrics = {}
    withheld = {name for finding in findings for name in finding.withholds or ()}
    kept = {name: value for name, value in metrics.items() if name not in withheld}
    return Observation(trial, kept, findings)
