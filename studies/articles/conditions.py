"""What a claim asks of a run before the run can say anything to it: see `claims.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lab.analysis.health import HEADLINE, passed_aa
from lab.analysis.metrics import usable_cores
from lab.analysis.summary import Summary
from lab.model.measurement import Run
from lab.model.nested import flatten
from lab.model.wording import counted
from studies.articles.claim import Claim


def wanted(claim: Claim) -> dict[str, str]:
    """Return all that the claim needs, for people, by the name of its field."""
    needs = {}
    if claim.cores is not None:
        needs["cores"] = f"at least {counted(claim.cores, 'server core')}"
    if claim.connections is not None:
        needs["connections"] = f"at least {claim.connections:,} connections"
    if claim.version is not None:
        needs["version"] = f"at least {claim.version}"
    if claim.variable is not None:
        needs["variable"] = f"a server of your own, named by {claim.variable}"
    if claim.rate is not None:
        needs["rate"] = "an open loop (--rate)"
    return needs


def unmet(claim: Claim, summary: Summary) -> list[tuple[str, str]]:
    """
    Return the conditions that a run does not meet: what the claim needs, and what the run had.

    What the run does not say of itself is not met: nothing is decided on a guess.
    """
    run, needs, conditions = summary.run, wanted(claim), []
    if claim.cores is not None:
        cores = server_cores(run, (claim.reference, claim.changed))
        if cores is None or cores < claim.cores:
            conditions.append((needs["cores"], _had(None if cores is None else f"{cores:g}")))
    connections = run.plan.load.connections
    if claim.connections is not None and connections < claim.connections:
        conditions.append((needs["connections"], _had(f"{connections:,}")))
    if claim.version is not None:
        name, _, least = claim.version.partition(" ")
        version = _version(run.environments, name)
        if version is None or numbers(version) < numbers(least):
            conditions.append((needs["version"], _had(version)))
    theirs = [service.url for service in run.plan.backing if service.theirs]
    if claim.variable is not None and claim.variable not in theirs:
        conditions.append((needs["variable"], "had one that stands in its place"))
    if claim.rate is not None and run.plan.load.rate is None:
        conditions.append((needs["rate"], "has a closed one"))
    return conditions


def unsound(summary: Summary) -> list[tuple[str, str]]:
    """
    Return why a run decides nothing at all: what every claim needs, and what the run did.

    A run that was stopped may have been stopped at the moment that pleases; one of minutes is
    judged at a level that allows for it. A noise check that failed is exit status 3, unless a
    broken server made it 1.
    """
    reasons = []
    if summary.measured < summary.planned:
        reasons.append(("a run with all of its trials", "ended early"))
    if not passed_aa(summary.aa[HEADLINE], summary.run.plan.smallest):
        reasons.append(("a run that passed its noise check", "did not"))
    return reasons


def numbers(version: str) -> tuple[int, ...]:
    """
    Return a version as it is compared.

    >>> numbers("2.0.31") > numbers("2.0.9")
    True
    """
    return tuple(map(int, re.findall(r"\d+", version)))


def _had(reading: str | None) -> str:
    return "does not say what it had" if reading is None else f"had {reading}"


def server_cores(run: Run, names: Sequence[str]) -> float | None:
    """
    Return the fewest that a server of these profiles could use; None where it was not read.

    One that is not pinned can use all, as the load can.
    """
    measured = [
        trial
        for trial in run.trials
        if trial.windows and any(trial.measures(name) for name in names)
    ]
    readings = [trial.readings for trial in measured]
    core_counts = [usable_cores(trial_readings) for trial_readings in readings]
    known = [cores for cores in core_counts if cores is not None]
    return min(known) if known and len(known) == len(core_counts) else None


def _version(environments: Mapping[str, Mapping[str, object]], name: str) -> str | None:
    """Return the version of a server, or of a Python distribution, where the run began."""
    known = dict(flatten(next(iter(environments.values()), {})))
    version = known.get(f"{name}.version", known.get(f"distributions.{name}"))
    return None if version is None else str(version)
