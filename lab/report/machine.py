"""
The machine and the versions, a line each.

Any part of an environment may be absent; what was not read is not mentioned.
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.analysis.machine import Facts, Network, facts
from lab.model.nested import worded
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
    "servers": "{}",
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


def machine_lines(facts: Facts) -> tuple[str, ...]:
    """Return lines for a report's head: the machine, and the versions."""
    known = dict(facts)
    if commit := known.get("git.commit"):
        known["git.commit"] = str(commit)[:COMMIT] + (
            " (modified)" if known.get("git.dirty") else ""
        )
    return tuple(filter(None, (worded(known, words) for words in (MACHINE, VERSIONS))))


def environment_lines(environment: Mapping[str, object]) -> tuple[str, ...]:
    """Return the same of one environment, as `lab.bench.store.environment` read it."""
    return machine_lines(facts({"": environment}))


def network_lines(network: Network | None) -> tuple[str, ...]:
    """Return lines that say from which other hosts the load came, and how far they are."""
    if network is None:
        return ()
    away = "at a distance not known"
    if network.nearest is not None:
        ends = (f"{seconds * 1e3:.2g} ms" for seconds in network.nearest)
        away = f"{' to '.join(dict.fromkeys(ends))} away"
    lines = [f"load over a network, {away}, from {counted(network.count, 'host')}"]
    lines += [f"{', '.join(host.names)}: {worded(host.facts, HOST)}" for host in network.hosts]
    return tuple(lines)
