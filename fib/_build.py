"""
The record that setup.py leaves beside the compiled build: what made it, or why there is none.

An extension does not change when its sources do, and an editable installation goes on using the
old one without a word; the hash in the record is what tells.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

_HERE = Path(__file__).parent
_SOURCES = ("_core.py", "_core_c.pxd")  # in the order in which setup.py hashes them


def _read_record() -> dict[str, object] | None:
    """Read the record; None if there is none."""
    try:
        record = json.loads((_HERE / "_core_c.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def failure() -> str | None:
    """Return why the last build with a compiler failed; None if it did not, or was not tried."""
    record = _read_record()
    failed = record.get("failed") if record else None
    return failed if isinstance(failed, str) else None


def build_info() -> dict[str, object]:
    """
    Describe the compiled build, whether or not it is in use.

    Returns:
        "built", the record, and "stale", whether the sources differ from those it was made of.
        Each is absent where it cannot be known.
    """
    record = _read_record()
    if record is None or "failed" in record:
        return {}
    try:
        now = hashlib.sha256(b"".join((_HERE / name).read_bytes() for name in _SOURCES)).hexdigest()
    except FileNotFoundError:
        return {"built": record}
    return {"built": record, "stale": now != record.get("source_sha256")}
