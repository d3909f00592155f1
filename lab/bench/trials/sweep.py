"""
A sweep: one quantity of the load, the size of what is asked, or a number of the servers' own.

Every block holds every profile at every value, so that a machine that drifts moves all of them.
What is said at one value is said as of a run of its own: see `lab.analysis.points`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lab.bench import workloads
from lab.bench.trials.plan import arm_of, validate_load
from lab.config.scale import scaled
from lab.errors import UsageError
from lab.model.plan import Arm, Load
from lab.model.profile import Profile
from lab.model.workload import Workload

QUANTITIES = {
    "connections": "1,20,100",
    "rate": "500,1000,2000",
    "size": "1k,10k,100k",
    "workers": "1,2,4,8",
    "threads": "1,4,16,64",
}
"""What can be swept -> an example of its values. `rate` is `--rate` by another name."""

SIZE = "[0-9]+k"
"""What the name of a workload ends with, if others differ from it by their size alone."""

COUNTS = ("connections", "workers", "threads")
"""Those whose values are whole numbers."""


@dataclass(frozen=True, slots=True)
class Point:
    """What is asked, and how, where one value of a sweep stands."""

    at: Mapping[str, str]
    """What sets it apart from the other points; empty where there is no other."""
    load: Load
    workload: Workload
    servers: tuple[str, int] | None = None
    """How many workers or threads each profile is to have; None for its own number."""

    def arm(self, profile: Profile) -> Arm:
        """
        Return the arm of *profile* here.

        Raises:
            UsageError: It has no such number to vary.
        """
        given = profile if self.servers is None else scaled(profile, *self.servers)
        return arm_of(given, self.workload, self.load, self.at)


@dataclass(frozen=True, slots=True)
class Sweep:
    """One quantity, and the values that it takes."""

    name: str
    values: tuple[str, ...]

    def points(self, load: Load, workload: Workload) -> Iterator[Point]:
        """
        Yield the points, in the order of the values.

        Args:
            load: As it is where the sweep does not say otherwise.
            workload: The same of what is asked.

        Raises:
            UsageError: It cannot have one of the values.
        """
        for value in self.values:
            at = {self.name: value} if len(self.values) > 1 else {}
            if self.name == "connections":
                loaded = replace(load, connections=int(value))
                validate_load(loaded)
                yield Point(at, loaded, workload)
            elif self.name == "size":
                yield Point(at, load, _sized(workload, value))
            else:
                yield Point(at, load, workload, (self.name, int(value)))


def parse_sweep(text: str) -> Sweep:
    """
    Parse a quantity and its values.

    Raises:
        UsageError: It cannot be meant so.

    >>> parse_sweep("connections=1, 20")
    Sweep(name='connections', values=('1', '20'))
    """
    name, equals, listed = text.partition("=")
    if name not in QUANTITIES or not equals:
        examples = ", ".join(f"{quantity}={values}" for quantity, values in QUANTITIES.items())
        raise UsageError(f"--sweep {text}: write a quantity and its values, as in {examples}")
    values = tuple(value.strip() for value in listed.split(","))
    twice = next((value for value in values if values.count(value) > 1), None)
    if not all(values):
        raise UsageError(f"--sweep {text}: a value is missing; write {name}={QUANTITIES[name]}")
    if twice is not None:
        raise UsageError(f"--sweep {text}: {twice} is there twice")
    if name in COUNTS and (wrong := [value for value in values if not _is_number(value)]):
        raise UsageError(f"--sweep {text}: {wrong[0]} is no number of {name}")
    return Sweep(name, values)


def _is_number(text: str) -> bool:
    return re.fullmatch("0|[1-9][0-9]{0,5}", text) is not None


def _sized(workload: Workload, value: str) -> Workload:
    """
    Return the variant of *workload* of the size *value*, with the same headers and servers.

    Raises:
        UsageError: There is none, or a path is named beside its size.
    """
    known = workloads.find()
    named = workload.unsized if workload.name in known else ""
    variants = {}
    for name in known:
        of, _, size = name.rpartition("-")
        if of == named and re.fullmatch(SIZE, size):
            variants[size] = name
    if not variants:
        problem = f"{workload.name} has one size; say --workload payload-1k, or echo-1k"
        raise UsageError(f"--sweep size={value}: {problem}")
    if value not in variants:
        problem = f"{named} is there in {', '.join(variants)}"
        raise UsageError(f"--sweep size={value}: {problem}")
    if len(workload.asks) > 1 or workload.path != workloads.read(workload.name).workload.path:
        problem = "the size says what is asked for; leave out --path"
        raise UsageError(f"--sweep size={value}: {problem}")
    variant = workloads.read(variants[value]).workload
    request = replace(variant.asks[0], headers=workload.asks[0].headers)
    variant = replace(variant, runtime=workload.runtime)
    return workloads.asking(variant, (request,), workload.host)
