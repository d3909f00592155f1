"""Words that stand beside numbers, and numbers as they are typed."""

from __future__ import annotations

import re


def counted(number: float, noun: str) -> str:
    """
    Return a number of things.

    >>> counted(1, "block"), counted(0, "block"), counted(1.5, "core")
    ('1 block', '0 blocks', '1.5 cores')
    """
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def seconds(text: str) -> float:
    """
    Parse a duration.

    >>> seconds("2.5s"), seconds("500ms"), seconds("1m")
    (2.5, 0.5, 60.0)
    """
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)(ms|s|m)?", text)
    if match is None:
        raise ValueError(f"{text!r} is no duration; write 3, 2.5s, 500ms or 1m")
    return float(match[1]) * {"ms": 0.001, "m": 60.0}.get(match[2], 1.0)
