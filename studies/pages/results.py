"""Single figures of the stored results in studies/results, for a sentence."""

from __future__ import annotations

import functools
import json
import math
import statistics
from collections.abc import Iterator
from typing import Any

from lab.analysis.stats import paired
from lab.errors import UsageError
from lab.model import numbers
from tools.pages.files import ROOT

RESULTS = ROOT / "studies" / "results"

UNITS = {"%": 1e2, "µs": 1e6, "ms": 1e3, "MB": 1e-6}
"""What a stored figure is multiplied by to be in the unit; it is stored in SI units."""

EACH = "*"
"""A key that stands for all keys at its place."""


def value(name: str, keys: str, unit: str | None = None) -> str:
    """
    Return a figure of a result, the median where there are several.

    Args:
        name: Of the file, without its suffix.
        keys: From the outermost to the figure's own, with " / " between them.
        unit: One of UNITS; by default the figure is printed as it is stored.
    """
    if unit is not None and unit not in UNITS:
        raise UsageError(f"{unit}: a result is in {', '.join(UNITS)}")
    figure = _median(name, keys)
    if unit is None:
        return numbers.count(figure) if figure == int(figure) else numbers.figure(figure)
    return f"{numbers.figure(figure * UNITS[unit])} {unit}"


def above(name: str, keys: str, other: str) -> str:
    """Return by which share a figure exceeds *other*, whose key stands in the last key's place."""
    return f"{_median(name, keys) / _median(name, _beside(keys, other)) - 1:.0%}"


def over(name: str, keys: str, other: str) -> str:
    """Return the ratio of a figure to *other*, paired by round, with its interval; see `above`."""
    rounds = zip(_numbers(name, keys), _numbers(name, _beside(keys, other)), strict=True)
    ratio = paired([math.log(value / beside) for value, beside in rounds])
    return numbers.ratio(ratio).removeprefix("~")


def counted(name: str, word: str, keys: str) -> str:
    """Return how many of the values at *keys* are *word*."""
    return numbers.count(sum(stored_value == word for stored_value in _values(name, keys)))


def _beside(keys: str, other: str) -> str:
    """Return *keys* with *other* in the last one's place."""
    return " / ".join((*keys.split(" / ")[:-1], other))


def _median(name: str, keys: str) -> float:
    return float(statistics.median(_numbers(name, keys)))


def _numbers(name: str, keys: str) -> list[float]:
    values = list(_values(name, keys))
    if not all(isinstance(number, int | float) for number in values):
        raise UsageError(f"{name}.json: what stands at {keys} is no number")
    return values


def _values(name: str, keys: str) -> Iterator[Any]:
    """Yield what stands at *keys*; of a list each of its items."""
    nodes = [_stored(name)]
    for key in keys.split(" / "):
        inside = [child for one in nodes for child in _inside(one, key)]
        if not inside:
            raise UsageError(f"{name}.json has no {key!r} of {keys!r}")
        nodes = inside
    for node in nodes:
        yield from node if isinstance(node, list) else [node]


def _inside(value: Any, key: str) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values()) if key == EACH else [value[key]] if key in value else []
    return value if isinstance(value, list) and key == EACH else []


@functools.cache
def _stored(name: str) -> Any:
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        raise UsageError(f"{path}: there is no such result")
    return json.loads(path.read_text(encoding="utf-8"))
