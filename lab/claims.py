"""
The published claims, out of `claims.toml` beside this file, and what stored runs say to them.

A claim is decided by every run that has its workload, both its profiles and, for throughput, a
closed loop: the same step may be one thing under a burst of clients and another under a load that
lasts.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lab import profiles, workloads
from lab.analysis.claims import decide, missing
from lab.analysis.points import summaries
from lab.analysis.summary import Summary
from lab.errors import LabError
from lab.model import METRICS, Claim, ClaimVerdict, Decision, Run
from lab.system.programs import ROOT

FILE = Path(__file__).with_name("claims.toml")

RUNS = ROOT / "docs" / "runs"
"""The stored runs that decide the claims by default."""

DIRECTIONS = ("above", "below", "same")

ROUNDING = 0.006
"""By how much a ratio of two decimals may differ from that of the figures beside it."""


class ClaimsError(LabError):
    """A file of claims cannot be understood."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path = path
        super().__init__(f"{path}: {problem}")


def load(path: Path = FILE) -> tuple[Claim, ...]:
    """
    Return the claims, in the file's order.

    Raises:
        ClaimsError: The file cannot be read, or a claim is incomplete or contradicts itself; with
            its id.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ClaimsError(path, f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClaimsError(path, f"is not TOML: {error}") from None
    tables = document.get("claim")
    if set(document) != {"claim"} or not isinstance(tables, list):
        raise ClaimsError(path, "must hold tables [[claim]], one for each claim, and no more")
    claims = tuple(_claim(path, number, table) for number, table in enumerate(tables, 1))
    names = [claim.id for claim in claims]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ClaimsError(path, f"two claims are named {twice}")
    return claims


def stored_runs() -> tuple[Path, ...]:
    """Return the folders of the stored runs, in alphabetical order."""
    return tuple(path.parent for path in sorted(RUNS.glob("*/run.json")))


def verdicts(
    runs: Sequence[Run], claims: Sequence[Claim] | None = None
) -> tuple[ClaimVerdict, ...]:
    """
    Decide the claims (all of ours by default) by every run that can, in the claims' order.

    A claim that no run can decide has one verdict, untestable, that says what it takes.
    """
    seen = [each for run in runs for each in summaries(run)]
    return tuple(_verdicts(seen, load() if claims is None else claims))


def decided(summary: Summary) -> tuple[ClaimVerdict, ...]:
    """Return the verdicts that a run by itself gives; none for one that no claim is about."""
    return tuple(each for each in _verdicts([summary], load()) if each.run is not None)


def _verdicts(seen: Sequence[Summary], claims: Sequence[Claim]) -> Iterator[ClaimVerdict]:
    known = frozenset(profiles.find())
    for claim in claims:
        path = _path(claim.workload)
        able = [each for each in seen if missing(claim, each.run.plan, path) is None]
        if able:
            yield from (decide(claim, each) for each in able)
        else:
            yield ClaimVerdict(claim, Decision.UNTESTABLE, _needs(claim, known))


def _path(name: str) -> str | None:
    """Return what a workload asks for; None for one that this lab does not have."""
    return workloads.workload(name).path if name in workloads.NAMES else None


def _needs(claim: Claim, known: frozenset[str]) -> str:
    """Say what it takes to test a claim that no run can decide."""
    lacking = [f"profile {n}" for n in (claim.reference, claim.changed) if n not in known]
    if claim.workload not in workloads.NAMES:
        lacking.insert(0, f"workload {claim.workload}")
    if lacking:
        return f"Needs {', '.join(lacking)}, which this lab does not have yet."
    workload = "" if claim.workload == "fib" else f" --workload {claim.workload}"
    return f"No run can decide it: lab run {claim.reference} {claim.changed}{workload}"


def _claim(path: Path, number: int, table: Mapping[str, Any]) -> Claim:
    name = table.get("id", f"number {number}")
    known = {field.name for field in dataclasses.fields(Claim)}
    try:
        claim = msgspec.convert(table, Claim)
    except msgspec.ValidationError as error:
        raise ClaimsError(path, f"claim {name}: {error}") from None
    wrong = [f"has no field {key}" for key in sorted(table.keys() - known)]
    wrong += _contradictions(claim)
    if wrong:
        raise ClaimsError(path, f"claim {name}: {'; '.join(wrong)}")
    return claim


def _contradictions(claim: Claim) -> Iterator[str]:
    if claim.metric not in METRICS:
        yield f"there is no metric {claim.metric}; there are {', '.join(METRICS)}"
    if claim.ratio is None and claim.direction not in DIRECTIONS:
        yield f"needs a ratio, or a direction: {', '.join(DIRECTIONS)}"
    if claim.ratio is not None and (claim.ratio <= 0 or claim.direction is not None):
        yield "has a ratio above 0, or a direction, not both"
    if claim.ratio is not None and claim.published is not None:
        before, after = claim.published
        if min(before, after) <= 0:
            yield f"{before:g} and {after:g}: published figures are above 0"
        elif abs(after / before - claim.ratio) > ROUNDING:
            yield f"{after:g} / {before:g} is {after / before:.3g}, not {claim.ratio:g}"
