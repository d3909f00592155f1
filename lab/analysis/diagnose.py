"""
Diagnosis: what limited a trial.

The rules (`lab.analysis.causes`) are asked in a fixed order, and the first that fires is what the
trial was limited by. An overfull accept queue or a slow client spoils every figure that a later
rule looks at, so these come first; "server CPU" comes last, for a server that is busy with nothing
odd to be seen. That no rule fires is a legal answer: unexplained. And that one fires proves
nothing, until a counter-run has moved the metric as predicted (`lab.analysis.confirm`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lab.analysis.causes import HYPOTHESES
from lab.analysis.causes.hypothesis import When
from lab.analysis.causes.signs import Signs, signs
from lab.analysis.gates.network import ACCEPT_QUEUE
from lab.analysis.gates.open_loop import OVERLOAD
from lab.analysis.gates.replies import STARVATION
from lab.analysis.observations import Observation
from lab.model.diagnosis import Cause
from lab.model.finding import Finding, Gate


def causes(observation: Observation, without: frozenset[str] = frozenset()) -> tuple[Cause, ...]:
    """
    Return what limited a trial, "limited by" first; nothing where it is unexplained.

    A trial whose throughput a gate withholds is diagnosed as well, because the cause is what
    explains the gate; one that is meaningless as a whole is not.

    Args:
        observation: The trial, judged.
        without: Names of causes that are refuted.
    """
    read = _signs(observation)
    if read is None:
        return ()
    full = observation.trial.slot.arm.load.rate is None or OVERLOAD in read.gates
    usual = (When.EVERY_LOAD, When.FULL_LOAD) if full else (When.EVERY_LOAD,)
    matching_causes = _matching(usual, read, without)
    if full:
        matching_causes = matching_causes or _matching((When.LAST,), read, without)
        named = {cause.name for cause in matching_causes}
        matching_causes += _matching((When.BESIDE,), read, without | named)
    return tuple(matching_causes)


def explainable(observation: Observation) -> bool:
    """Return whether a trial could show a cause: it has replies, and is no mere accident."""
    return _signs(observation) is not None


def _signs(observation: Observation) -> Signs | None:
    gates = {finding.gate: finding.reason for finding in observation.findings}
    if any(_meaningless(finding, gates) for finding in observation.findings):
        return None
    return signs(observation.trial, gates)


def _meaningless(finding: Finding, gates: Mapping[Gate, str]) -> bool:
    if finding.gate is STARVATION and ACCEPT_QUEUE in gates:
        return False  # connections got nothing because they were turned away: that is a cause
    return finding.withholds is None and finding.gate.explains


def _matching(whens: Iterable[When], seen: Signs, without: frozenset[str]) -> list[Cause]:
    """Return the causes that *seen* shows, of those that are asked for so, in their order."""
    answers = [hypothesis.shows(seen) for hypothesis in HYPOTHESES if hypothesis.when in whens]
    return [cause for cause in answers if cause is not None and cause.name not in without]
