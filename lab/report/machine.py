"""
The machine and the versions, a line each, out of what `lab.runs.environment` read.

An environment is nested and any part of it may be absent, so it is flattened to dotted keys and
asked for; what was not read is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

MACHINE = (
    ("{}", ("cpu.model",)),
    ("{} cores", ("cpu.cores", "cpu.count")),
    ("{}", ("machine.virtualisation", "cpu.virtualisation", "virtualisation")),
    ("Linux {}", ("kernel.release", "system.kernel", "machine.kernel", "kernel")),
)
"""What to say of the machine, and the keys under which it may be found, the first that is there."""

VERSIONS = (
    ("Python {}", ("python.version",)),
    ("uWSGI {}", ("uwsgi.version", "versions.uwsgi", "tools.uwsgi")),
    ("Locust {}", ("locust.version", "versions.locust", "distributions.locust")),
    ("fib {}", ("fib.implementation", "fib.build")),
    ("commit {}", ("git.commit", "project.commit")),
)
"""The same of the software."""

COMMIT = 12
"""Characters of a commit that name it for a person."""


def machine_lines(environments: Mapping[str, Mapping[str, object]]) -> tuple[str, ...]:
    """Return lines for a report's head, of the environment in which the run began."""
    if not environments:
        return ()
    known = dict(_flatten(next(iter(environments.values()))))
    lines = []
    for wanted in (MACHINE, VERSIONS):
        found = []
        for text, keys in wanted:
            value = next((known[key] for key in keys if known.get(key)), None)
            if value is not None:
                if text.startswith("commit"):
                    changed = " (modified)" if known.get("git.dirty") == "True" else ""
                    value = value[:COMMIT] + changed
                found.append(text.format(value))
        if found:
            lines.append(", ".join(found))
    return tuple(lines)


def _flatten(value: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if isinstance(item, Mapping):
            yield from _flatten(item, f"{prefix}{key}.")
        elif isinstance(item, str | int | float):
            yield f"{prefix}{key}", str(item)
