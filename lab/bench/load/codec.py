"""
Windows as JSON values and back.

One pair of functions, so that what a generator process answers and what a Locust worker sends are
one format: the one of `trials.ndjson`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lab.model.measurement import Window


def encode_window(window: Window) -> dict[str, Any]:
    """Return *window* as JSON values; the histogram's keys become text, as JSON has it."""
    encoded: dict[str, Any] = msgspec.to_builtins(window, str_keys=True)
    return encoded


def decode_window(encoded: object) -> Window:
    """
    Return the window that `encode_window` gave *encoded* for; unknown keys are passed over.

    Raises:
        ValueError: A field is missing, or not of its kind.
    """
    return msgspec.convert(encoded, Window, str_keys=True)
