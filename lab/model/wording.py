"""Words that stand beside numbers."""

from __future__ import annotations


def counted(number: float, noun: str) -> str:
    """
    Return a number of things.

    >>> counted(1, "block"), counted(0, "block"), counted(1.5, "core")
    ('1 block', '0 blocks', '1.5 cores')
    """
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


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
