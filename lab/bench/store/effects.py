"""What each profile changed in stored runs, without their trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from lab.bench.store.encoding import decode
from lab.model.comparison import Estimate
from lab.model.profile import Profile

FIELDS = ("ratio", "low", "high", "n", "level")
"""Of a comparison in a summary, in the order of `Estimate`. An older one has no level."""

LADDER = "ladder"
"""The stored run of the whole ladder, which is quoted before any other."""

ENOUGH = 5
"""Pairs from which on a run is quoted; one that was made to count something has fewer."""

METRIC = "cpu"
"""It does not depend on whether the generator kept up."""


class _ProfileVersion(msgspec.Struct):
    name: str
    digest: str


class _Arm(msgspec.Struct):
    profile: _ProfileVersion


class _Plan(msgspec.Struct):
    arms: list[_Arm]


class _Made(msgspec.Struct):
    """What is read of a run.json."""

    plan: _Plan


def effects(folder: Path, profiles: Sequence[Profile]) -> Mapping[str, Estimate]:
    """
    Return by profile the ratio of its CPU per request to that of the profile that it is against.

    A run counts if its noise check passed, if it was at full load with `ENOUGH` blocks, and if both
    profiles have the digests that they have today. Of several runs that of the ladder counts, else
    the first by name, as on the page of profiles.

    Args:
        folder: Of the runs' folders.
        profiles: The profiles as they are, without those that cannot be read.
    """
    today = {profile.name: profile for profile in profiles}
    quoted: dict[str, Estimate] = {}
    paths = folder.glob("*/summary.json")
    for path in sorted(paths, key=lambda file: (file.parent.name != LADDER, file)):
        for (name, digest), (against, digest_against), ratio in _ratios(path):
            known = today.get(name)
            if known is None or known.against != against or against not in today:
                continue
            if (known.digest, today[against].digest) != (digest, digest_against):
                continue
            if ratio.n >= ENOUGH:
                quoted.setdefault(name, ratio)
    return quoted


def _ratios(path: Path) -> Iterator[tuple[tuple[str, str], tuple[str, str], Estimate]]:
    """Yield the steps of a run: name and digest of both profiles, and their ratio."""
    summary = msgspec.json.decode(path.read_bytes())
    if isinstance(summary, list):  # of several rates
        return
    load = summary["load"]
    if summary["exit_code"] or {"requests", "rate"} & load.keys() or summary["path"] != "/9000":
        return
    run = path.with_name("run.json")
    arms = decode(run.read_bytes(), _Made, run).plan.arms
    digests = {arm.profile.name: arm.profile.digest for arm in arms}
    for step in summary["steps"]:
        comparison = step.get("step", {}).get(METRIC, {})
        if "ratio" in comparison:
            name, before = step["profile"], step["before"]
            estimate = Estimate(*(comparison[key] for key in FIELDS if key in comparison))
            yield (name, digests[name]), (before, digests[before]), estimate
