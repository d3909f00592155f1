"""Nested mappings, such as an environment, by dotted keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


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
