"""The machine of a run, its software, and the other hosts that its load came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.model.measurement import Run
from lab.model.nested import flatten

FACTS = (
    "cpu.model",
    "cpu.cores",
    "machine.virtualisation",
    "kernel.release",
    "python.version",
    "uwsgi.version",
    "servers",
    "distributions.locust",
    "fib.implementation",
    "git.commit",
    "git.dirty",
)
"""Dotted keys of what a reader is told of an environment."""

HOST = (
    "cpu.model",
    "cpu.cores",
    "kernel.release",
    "python.version",
    "distributions.locust",
    "network.mtu",
)
"""The same of a host that the load comes from."""

_NAMED = re.compile(r"([A-Za-z][\w-]*)(?:\W+version\W*)?\W+(\d+\.\d[\w.]*)")
"""Name and version in what a server's command prints: "gunicorn (version 27.0.1)"."""

Facts = Mapping[str, Any]
"""Dotted key -> value; what was not read is absent."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts that are alike."""

    names: tuple[str, ...]
    facts: Facts


@dataclass(frozen=True, slots=True)
class Network:
    """Where the load of a run came from, if not from the server's host."""

    hosts: tuple[Hosts, ...]

    nearest: tuple[float, float] | None
    """Seconds of the shortest round trip to the nearest host, and to the farthest; None where they
    are not known."""

    @property
    def count(self) -> int:
        """Number of hosts."""
        return sum(len(host.names) for host in self.hosts)


def facts(environments: Mapping[str, Mapping[str, object]]) -> Facts:
    """Return what a reader is told of the environment in which a run began."""
    known = dict(flatten(next(iter(environments.values()), {})))
    printed = (str(value) for name, value in known.items() if name.startswith("servers."))
    named = filter(None, map(_NAMED.search, printed))
    known["servers"] = ", ".join(dict.fromkeys(" ".join(match.groups()) for match in named))
    for name in ("python", "uwsgi"):  # of the user's own environment, where that serves
        known[f"{name}.version"] = known.get(f"runtime.{name}", known.get(f"{name}.version"))
    return _chosen(known, FACTS)


def network(run: Run) -> Network | None:
    """Return from which other hosts the load came, and how far they are; None from none."""
    if not run.hosts:
        return None
    nearest: dict[str, float] = {}
    for window in (window for trial in run.trials for window in trial.windows if window.host):
        if window.rtt is not None:
            nearest[window.host] = min(window.rtt, nearest.get(window.host, window.rtt))
    alike: dict[tuple[tuple[str, Any], ...], list[str]] = {}
    for name, host_facts in run.hosts.items():
        key = tuple(_chosen(dict(flatten(host_facts)), HOST).items())
        alike.setdefault(key, []).append(name)
    ends = (min(nearest.values()), max(nearest.values())) if nearest else None
    return Network(tuple(Hosts(tuple(names), dict(key)) for key, names in alike.items()), ends)


def _chosen(known: Facts, keys: tuple[str, ...]) -> Facts:
    return {key: known[key] for key in keys if known.get(key)}
