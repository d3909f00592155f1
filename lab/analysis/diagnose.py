"""
Diagnosis: what limited a trial.

The rules (`lab.analysis.causes`) are asked in a fixed order, and the first that fires is what the
trial was limited by. An overfull accept queue or a slow client spoils every figure that a later
rule looks at, so these come first; "server CPU" comes last, for a server that is busy with nothing
odd to be seen. That no rule fires is a legal answer: unexplained. And that one fires proves
nothing, until a counter-run has moved the metric as predicted (`lab.analysis.confirm`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lab.analysis.causes import busy, waiting
from lab.analysis.causes.signs import Signs, signs
from lab.analysis.gates import judge
from lab.model import Cause, Finding, Trial

CAUSES = (
    "accept queue",
    "generator",
    "router",
    "single worker",
    "GIL",
    "lock convoy",
    "logging",
    "reconnecting",
    "workers asleep",
    "respawning",
    "stalls",
    "I/O wait",
    "memory",
    "server CPU",
)
"""All names of causes, in the order in which they are looked for."""

Rule = Callable[[Signs], Cause | None]

OF_EVERY_LOAD: tuple[Rule, ...] = (waiting.accept_queue, waiting.generator)

OF_FULL_LOAD: tuple[Rule, ...] = (
    busy.router,
    busy.single_worker,
    busy.gil,
    busy.lock_convoy,
    waiting.logging_blocks,
    busy.reconnecting,
    waiting.workers_asleep,
)
"""Not for an open loop that the server keeps up with: there nothing limits it but the plan."""

OF_WAITS: tuple[Rule, ...] = (
    waiting.respawning,
    waiting.stalls,
    waiting.io_wait,
    waiting.memory,
)

MEANINGLESS = frozenset({"errors", "server died", "starvation", "machine"})
"""Gates that, when they withhold everything, are the explanation themselves."""


def causes(trial: Trial, without: frozenset[str] = frozenset()) -> tuple[Cause, ...]:
    """
    Return what limited *trial*, "limited by" first; nothing where it is unexplained.

    A trial whose throughput a gate withholds is diagnosed as well, because the cause is what
    explains the gate; one that is meaningless as a whole is not.

    Args:
        trial: What was measured.
        without: Names of causes that are refuted.
    """
    seen = _signs(trial)
    if seen is None:
        return ()
    full = trial.slot.arm.load.rate is None or "overload" in seen.gates
    asked = OF_EVERY_LOAD + (OF_FULL_LOAD if full else ()) + OF_WAITS
    found = _fired(asked, seen, without)
    if full:
        found = found or _fired((busy.server_cpu,), seen, without)
        if not any(cause.name == "logging" for cause in found):
            found += _fired((busy.logging_costs,), seen, without)
    return tuple(found)


def explainable(trial: Trial) -> bool:
    """Return whether *trial* could show a cause: it has replies, and is no mere accident."""
    return _signs(trial) is not None


def _signs(trial: Trial) -> Signs | None:
    findings = judge(trial)
    gates = {finding.gate: finding.reason for finding in findings}
    if any(_meaningless(finding, gates) for finding in findings):
        return None
    return signs(trial, gates)


def _meaningless(finding: Finding, gates: Mapping[str, str]) -> bool:
    if finding.gate == "starvation" and "accept queue" in gates:
        return False  # connections got nothing because they were turned away: that is a cause
    return finding.withholds is None and finding.gate in MEANINGLESS


def _fired(asked: Iterable[Rule], seen: Signs, without: frozenset[str]) -> list[Cause]:
    answers = [rule(seen) for rule in asked]
    return [cause for cause in answers if cause is not None and cause.name not in without]
