"""Findings as JSON for scripts, as plain as `summary.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lab.model import Estimate


def to_json(value: Mapping[str, Any]) -> str:
    """Return *value* as JSON: keys sorted, six significant figures, without what is not known."""
    plain = json.dumps(_plain(value), ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    return plain + "\n"


def of_estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    """Return a ratio with its interval."""
    if estimate is None:
        return None
    return {
        "ratio": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        # Beyond six figures is noise, and the last bits differ between C libraries.
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
