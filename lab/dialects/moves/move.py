"""What a move is, and the ways to write one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.model.plan import Load
from lab.model.profile import Profile

Options = tuple[tuple[str, str], ...]

MOST_WORKERS = 256
"""Worker processes that a move may ask for; more do not start before a server's deadline."""


@dataclass(frozen=True, slots=True)
class Move:
    """One change of a profile, its load or its workload."""

    name: str
    """Ends the name of its profile: "http-socket" makes baseline~http-socket."""
    text: str
    """For people: "http-socket instead of http"."""
    options: Options
    """All of the changed profile, resolved."""
    load: Load | None = None
    """Where the change is in the load."""
    workload: str | None = None
    """Where the change is in what is asked: its name in `lab.workloads`."""


def set_options(profile: Profile, name: str, text: str, **values: object) -> Move:
    """Return the move that sets each of *values*, an underscore standing for a hyphen."""
    named = {key.replace("_", "-"): value for key, value in values.items()}
    return Move(name, text, with_values(profile.options, named))


def with_values(options: Options, values: Mapping[str, object]) -> Options:
    """Return *options* with each value once, at the end; "workers" is another word for one."""
    gone = set(values) | ({"workers"} if "processes" in values else set())
    kept = tuple((key, value) for key, value in options if key not in gone)
    return kept + tuple((key, str(value)) for key, value in values.items())


def drop(profile: Profile, name: str, text: str, *options: str) -> Move | None:
    """Return the move that leaves *options* out; None where none of them is written."""
    kept = tuple((key, value) for key, value in profile.options if key not in options)
    return None if kept == profile.options else Move(name, text, kept)
