"""
The machine and the versions, a line each, out of what `lab.runs.environment` read.

Any part of an environment may be absent; what was not read is not mentioned.
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.model.measured import Run
from lab.model.nested import flatten, worded
from lab.model.wording import counted

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

HOST = {
    "cpu.model": "{}",
    "cpu.cores": "{} cores",
    "kernel.release": "Linux {}",
    "python.version": "Python {}",
    "distributions.locust": "Locust {}",
    "network.mtu": "MTU {}",
}
"""The same of a host that the load comes from."""

COMMIT = 12
"""Characters of a commit that name it for a person."""


def machine_lines(environments: Mapping[str, Mapping[str, object]]) -> tuple[str, ...]:
    """Return lines for a report's head, of the environment in which the run began."""
    known = dict(flatten(next(iter(environments.values()), {})))
    for name in ("python", "uwsgi"):  # of the user's own environment, where that serves
        known[f"{name}.version"] = known.get(f"runtime.{name}", known.get(f"{name}.version"))
    if commit := known.get("git.commit"):
        known["git.commit"] = commit[:COMMIT] + (" (modified)" if known.get("git.dirty") else "")
    return tuple(filter(None, (worded(known, words) for words in (MACHINE, VERSIONS))))


def network_lines(run: Run) -> tuple[str, ...]:
    """Return lines that say from which other hosts the load came, and how far they are."""
    if not run.hosts:
        return ()
    windows = [window for trial in run.trials for window in trial.windows if window.host]
    nearest: dict[str, float] = {}
    for window in windows:
        if window.rtt is not None:
            nearest[window.host] = min(window.rtt, nearest.get(window.host, window.rtt))
    away = [f"{nearest[name] * 1e3:.2g} ms" for name in sorted(nearest, key=lambda n: nearest[n])]
    ends = " to ".join(dict.fromkeys((away[0], away[-1]))) if away else "at a distance not known"
    hosts = counted(len(run.hosts), "host")
    said = [f"load over a network, {ends}{' away' if away else ''}, from {hosts}"]
    alike: dict[str, list[str]] = {}
    for name, facts in run.hosts.items():
        alike.setdefault(worded(dict(flatten(facts)), HOST), []).append(name)
    said += [f"{', '.join(names)}: {text}" for text, names in alike.items()]
    return tuple(said)
