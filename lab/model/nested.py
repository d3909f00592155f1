"""Nested mappings, such as an environment, by dotted keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

VOLATILE = frozenset({"now"})
"""Top-level keys of an environment that say nothing of the machine: the load of the moment."""


def steady(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must agree where two environments are compared."""
    return {name: value for name, value in environment.items() if name not in VOLATILE}


def flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """
    Yield every item that is no mapping, with the names that lead to it.

    >>> dict(flatten({"cpu": {"model": "EPYC", "cores": 2}, "now": None}))
    {'cpu.model': 'EPYC', 'cpu.cores': 2, 'now': None}
    """
    for name, item in value.items():
        if isinstance(item, Mapping):
            yield from flatten(item, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", item
