"""
The machine and the versions, a line each, out of what `lab.runs.environment` read.

Any part of an environment may be absent; what was not read is not mentioned.
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.model.nested import flatten

MACHINE = {
    "cpu.model": "{}",
    "cpu.cores": "{} cores",
    "machine.virtualisation": "{}",
    "kernel.release": "Linux {}",
}
"""Dotted key -> what to say of it."""

VERSIONS = {
    "python.version": "Python {}",
    "uwsgi.version": "uWSGI {}",
    "distributions.locust": "Locust {}",
    "fib.implementation": "fib {}",
    "git.commit": "commit {}",
}
"""The same of the software."""

COMMIT = 12
"""Characters of a commit that name it for a person."""


def machine_lines(environments: Mapping[str, Mapping[str, object]]) -> tuple[str, ...]:
    """Return lines for a report's head, of the environment in which the run began."""
    known = dict(flatten(next(iter(environments.values()), {})))
    for name in ("python", "uwsgi"):  # of the user's own environment, where that serves
        known[f"{name}.version"] = known.get(f"runtime.{name}", known.get(f"{name}.version"))
    if commit := known.get("git.commit"):
        known["git.commit"] = commit[:COMMIT] + (" (modified)" if known.get("git.dirty") else "")
    lines = (
        ", ".join(text.format(known[key]) for key, text in wanted.items() if known.get(key))
        for wanted in (MACHINE, VERSIONS)
    )
    return tuple(filter(None, lines))
