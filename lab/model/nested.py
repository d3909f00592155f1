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


def worded(known: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """
    Return what is known, each in its words; what is not known is left out.

    Args:
        known: Dotted key -> value, as `flatten` yields them.
        words: Dotted key -> what to say of it, with {} for the value.

    >>> worded({"model": "EPYC", "cores": 2, "os": None}, {"cores": "{} cores", "os": "on {}"})
    '2 cores'
    """
    return ", ".join(text.format(known[key]) for key, text in words.items() if known.get(key))
