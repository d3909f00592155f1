"""Words that stand beside numbers."""

from __future__ import annotations


def counted(number: float, noun: str) -> str:
    """
    Return a number of things.

    >>> counted(1, "block"), counted(0, "block"), counted(1.5, "core")
    ('1 block', '0 blocks', '1.5 cores')
    """
    return f"{number:g} {noun}{'' if number == 1 else 's'}"
