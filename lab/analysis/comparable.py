"""
May two runs be compared? Only where nothing differs but what is being compared.

What is compared is the project's own code, the application and its dependencies: they may differ
and are shown. The machine, the kernel, the server, the load generator, the load and the profiles
may not: a ratio to the reference is another one on another processor.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from lab.config.difference import difference
from lab.errors import LabError
from lab.model.measurement import Run
from lab.model.nested import flatten, steady
from lab.model.profile import Profile
from lab.model.request import Expectation
from lab.model.wording import in_a_line
from lab.model.workload import Workload

COMPARED = (
    "distributions.", "fib.", "git.", "runtime.distributions.", "runtime.others.distributions.",
)  # fmt: skip
"""Keys of an environment that may differ: the code under test."""

UNSTEADY = ("machine.memory", "machine.swap")
"""Keys that differ by a few pages from one start of the same machine to the next."""

INSTRUMENT = frozenset({"gevent", "greenlet", "gunicorn", "locust", "msgspec", "uwsgi"})
"""Distributions that serve or load, and are no application's dependency: these may not differ."""


@dataclasses.dataclass(frozen=True, slots=True)
class DifferingKey:
    """A key in which two runs differ."""

    key: str
    before: str
    after: str
    """"absent" where there is none."""


class MismatchError(LabError):
    """Two runs differ in more than what is being compared."""

    exit_code = 2

    def __init__(self, before: str, after: str, differing: tuple[DifferingKey, ...]) -> None:
        self.differing = differing
        # What is stored makes no line of its own.
        rows = (in_a_line(f"{key.key}: {key.before} / {key.after}") for key in differing)
        lines = "".join(f"\n    {row}" for row in rows)
        super().__init__(
            f"{in_a_line(f'{before} and {after}')} cannot be compared; they differ in{lines}\n"
            "Make both runs on the same machine, with the same command."
        )


class NothingSharedError(LabError):
    """Two runs have no ratio in common."""

    exit_code = 2

    def __init__(self, before: str, after: str, reference: str) -> None:
        super().__init__(
            f"{before} and {after} have no profile in common except the reference {reference}: "
            "run at least two."
        )


def require_comparable(before: Run, after: Run) -> tuple[DifferingKey, ...]:
    """
    Return in what two comparable runs differ.

    Raises:
        MismatchError: They are not; with every key that forbids it, and both values.
        NothingSharedError: Only their reference is in both.
    """
    allowed: list[DifferingKey] = []
    forbidden = [*differences(_conditions(before), _conditions(after)), *_profiles(before, after)]
    # What was read before the first trial of each.
    first = (next(iter(run.environments.values()), {}) for run in (before, after))
    for differing_key in differences(*first):
        if differing_key.key.startswith("servers.") and "absent" in (
            differing_key.before,
            differing_key.after,
        ):
            continue  # a peer that is in one of the runs alone
        (allowed if _may_differ(differing_key.key) else forbidden).append(differing_key)
    if forbidden:
        raise MismatchError(before.name, after.name, tuple(forbidden))
    names = ({profile.name for profile in run.plan.profiles} for run in (before, after))
    if not set.intersection(*names) - {after.plan.reference}:
        raise NothingSharedError(before.name, after.name, after.plan.reference)
    return tuple(allowed)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[DifferingKey]:
    """
    Yield in what two environments differ, by dotted key and in its order.

    >>> one, other = ({"cpu": {"cores": cores}, "now": cores} for cores in (2, 4))
    >>> [each.key for each in differences(one, other)]
    ['cpu.cores']
    """
    left, right = (dict(flatten(steady(environment))) for environment in (before, after))
    for key in sorted(left.keys() | right.keys()):
        if left.get(key) != right.get(key):
            yield DifferingKey(key, _text(left.get(key)), _text(right.get(key)))


def _may_differ(key: str) -> bool:
    if key.removeprefix("distributions.") in INSTRUMENT:
        return False
    return key.startswith(COMPARED) or key in UNSTEADY


def _conditions(run: Run) -> dict[str, Any]:
    """Return what the server was asked, but for folders: two checkouts may be compared."""
    plan = run.plan
    settings: dict[str, Any] = {
        "workload": dataclasses.asdict(_comparable(plan.workload)),
        "load": dataclasses.asdict(plan.load),
        "plan": {
            "reference": plan.reference,
            "window": plan.window,
            "warmup": plan.warmup,
            "turns": plan.turns,
        },
        "generator": run.generator,
        "backing": {
            backing_service.name: f"{backing_service.release} {backing_service.digest}"
            for backing_service in plan.backing
        },
        "rates": {",".join(arm.at.values()): arm.load.rate for arm in plan.arms if arm.at},
    }
    cores = [t.readings["server.cores"] for t in run.trials if "server.cores" in t.readings]
    if cores:
        settings["server"] = {"cores": statistics.median(cores), "share": plan.share}
    settings["cores"] = {"shared": run.shares_cores}
    # By number: a pod has another name each time.
    hosts = sorted(run.hosts.values(), key=repr)
    settings["hosts"] = {str(number): dict(host) for number, host in enumerate(hosts, 1)}
    return settings


def _comparable(workload: Workload) -> Workload:
    """Return *workload* but for folders, the order of requests, and how replies varied."""
    runtime = workload.runtime
    return dataclasses.replace(
        workload,
        chdir=None,
        runtime=dataclasses.replace(runtime, python=None, uwsgi=None, cwd=None, chdir=None),
        seed=0,
        expect=_required(workload.expect),
        requests=tuple(
            dataclasses.replace(request, expect=_required(request.expect))
            for request in workload.requests
        ),
    )


def _required(expect: Expectation) -> Expectation:
    return dataclasses.replace(expect, pattern=None, varies="") if expect.varies else expect


def _profiles(before: Run, after: Run) -> Iterator[DifferingKey]:
    left = {profile.name: profile for profile in before.plan.profiles}
    right = {profile.name: profile for profile in after.plan.profiles}
    for name, profile in left.items():
        if name in right and profile.digest != right[name].digest:
            yield _profile(profile, right[name])


def _profile(before: Profile, after: Profile) -> DifferingKey:
    """Name the options in which two profiles of one name differ."""
    changes = difference(after, before)
    options = [
        *((key, "absent", value) for key, value in changes.added),
        *((key, value, "absent") for key, value in changes.removed),
        *changes.changed,
    ]
    if not options:  # such as the same options in another order
        return DifferingKey(f"profile {before.name}", before.digest[:12], after.digest[:12])
    left, right = (
        ", ".join(f"{option[0]} = {option[side]}" for option in options) for side in (1, 2)
    )
    return DifferingKey(f"profile {before.name}", left, right)


def _text(value: Any) -> str:
    if value is None:
        return "absent"
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
