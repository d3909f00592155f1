"""Words that stand beside numbers, and numbers as they are typed."""

from __future__ import annotations

import re


def counted(number: float, noun: str) -> str:
    """
    Return a number of things.

    >>> counted(1, "block"), counted(0, "block"), counted(1.5, "core")
    ('1 block', '0 blocks', '1.5 cores')
    """
    return f"{number:,g} {noun}{'' if number == 1 else 's'}"


MOST_SHOWN = 200
"""Bytes of a server's reply that are shown to people."""


def shown(data: bytes) -> str:
    r"""
    Return the first `MOST_SHOWN` bytes of *data* in quotes, with control characters escaped.

    >>> print(shown(b"no\x1b[0m\n"), shown(b"x" * 300)[-6:])
    'no\x1b[0m\n' xx'...
    """
    text = repr(data[:MOST_SHOWN].decode("utf-8", "replace"))
    return f"{text}..." if len(data) > MOST_SHOWN else text


def share(text: str) -> float:
    """
    Parse a share in percent.

    >>> share("20%"), share("7.5%")
    (0.2, 0.075)
    """
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)%", text)
    if match is None or not 0 < float(match[1]) <= 100:
        raise ValueError(f"{text!r} is no percentage above 0% and up to 100%; write 5% or 20%")
    return float(match[1]) / 100


def seconds(text: str) -> float:
    """
    Parse a duration.

    >>> seconds("2.5s"), seconds("500ms"), seconds("1m"), seconds("1h")
    (2.5, 0.5, 60.0, 3600.0)
    """
    match = re.fullmatch(r"(-?)(\d+\.?\d*|\.\d+)(ms|s|m|h)?", text)
    if match is None or match[1]:
        problem = "is no duration" if match is None else "is below 0"
        raise ValueError(f"{text!r} {problem}; write 3, 2.5s, 500ms, 1m or 1h")
    return float(match[2]) * {"ms": 0.001, "m": 60.0, "h": 3600.0}.get(match[3], 1.0)
