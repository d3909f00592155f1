"""
What a block holds: the old version nine times, and versions with so much CPU more or less.

Four blocks of single trials are followed by one of duets, in which two servers are loaded at once.
10 % more is in each block twice, since how seldom that is missed is asked for; the others take
turns.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping

OLDS = tuple(f"old-{number}" for number in range(1, 10))
"""The same version, a process of its own each: three triples of old, old again and new."""

ALWAYS = ("more-10-a", "more-10-b")

IN_TURN = ("more-2", "more-5", "less-5")

EFFECTS: Mapping[str, float] = {
    **dict.fromkeys(OLDS, 0.0),
    **dict.fromkeys(ALWAYS, 0.10),
    **dict(zip(IN_TURN, (0.02, 0.05, -0.05), strict=True)),
}
"""Version -> what it takes more of a request's CPU, as a share."""

ROUND = 5
"""Blocks of which the last is one of duets."""


def is_duet(block: int) -> bool:
    """Return whether two servers are loaded at once in a block."""
    return block % ROUND == ROUND - 1


def singles(block: int) -> int:
    """Return how many blocks of single trials come before a block."""
    return block - block // ROUND


def versions(block: int, made: Collection[str] = EFFECTS) -> tuple[str, ...]:
    """Return the versions that a block holds, the old ones first, of a run that makes some."""
    if is_duet(block):
        return tuple(name for pair in _pairs(block, made) for name in pair)
    return tuple(name for name in (*OLDS, *ALWAYS, _changed(singles(block))) if name in made)


def order(seed: int, mood: str, block: int, made: Collection[str] = EFFECTS) -> list[str]:
    """Return the versions of a block of single trials in the order in which they run."""
    chosen = list(versions(block, made))
    random.Random(f"{seed}/{mood}/{block}").shuffle(chosen)
    return chosen


def duets(
    seed: int, mood: str, block: int, made: Collection[str] = EFFECTS
) -> list[tuple[str, str]]:
    """Return the pairs of a block of duets, old and new, in the order in which they run."""
    pairs = _pairs(block, made)
    random.Random(f"{seed}/{mood}/{block}").shuffle(pairs)
    return pairs


def _pairs(block: int, made: Collection[str]) -> list[tuple[str, str]]:
    olds = iter(OLDS)
    alike = [(next(olds), next(olds)) for _ in range(2)]
    pairs = [*alike, *((next(olds), new) for new in (*ALWAYS, _changed(block // ROUND)))]
    return [(old, new) for old, new in pairs if new in made]


def _changed(turn: int) -> str:
    return IN_TURN[turn % len(IN_TURN)]
