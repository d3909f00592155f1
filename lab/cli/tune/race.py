"""
A race: who may still be better than the champion after some blocks, and by how much.

Nothing that is found here is claimed, so it may be looked at after every block. What is claimed
comes from a fresh comparison of the winner alone: see `lab.cli.tune.blocks.Proof`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BLOCKS = 5
"""Blocks of a race at the most."""

WORTH = math.log1p(0.01)
"""Logarithm of the gain below which a change is not worth a line."""

FIRST = 2
"""Blocks after which somebody may leave: one has no spread."""

LEAST_SPREAD = 1e-3
"""Of gains within blocks, as a logarithm: less is luck."""

Row = Mapping[int, float]
"""One block: number of a contender -> logarithm of its gain over the champion."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What a race has seen of one contender."""

    mean: float
    """Mean logarithm of its gain; minus infinity of one that was not seen in two blocks."""

    error: float
    """Its standard error, by the spread of all contenders."""

    blocks: int
    """In which it was seen."""

    @property
    def wins(self) -> bool:
        """Whether it is likely enough to be better to go on with."""
        return self.mean - self.error / 2 > WORTH

    @property
    def ratio(self) -> float:
        """How many times better it looked."""
        return math.exp(self.mean)


WON = Gain(math.inf, 0.0, FIRST)
"""Of who stands in for a champion that cannot stay."""

UNSEEN = Gain(-math.inf, math.inf, 0)
"""Of one that no block held, or that cannot win."""


@dataclass(frozen=True, slots=True)
class RaceStanding:
    """How a race stands."""

    alive: tuple[int, ...]
    """Numbers of the contenders that the next block holds."""

    gains: tuple[Gain, ...]
    """Of every contender, by number."""

    @property
    def over(self) -> bool:
        """Whether another block would tell nothing that is asked."""
        gains = [self.gains[index] for index in self.alive]
        return all(gain.blocks >= FIRST and gain.mean - 2 * gain.error > WORTH for gain in gains)


def standing(groups: Sequence[str], rows: Sequence[Row], barred: frozenset[int]) -> RaceStanding:
    """
    Return how a race stands after the blocks of *rows*; the same for the same blocks.

    A contender leaves as soon as it is unlikely to gain 1 %; and of one group, of which only one
    can win, fewer stay after each block.

    Args:
        groups: Of each contender.
        rows: The blocks so far.
        barred: Contenders that cannot win, such as those above a limit of memory.
    """
    alive = [index for index in range(len(groups)) if index not in barred]
    for made in range(FIRST, len(rows) + 1):
        gains = _gains(len(groups), rows[:made])
        alive = [index for index in alive if gains[index].mean + gains[index].error > WORTH]
        alive = _best_of_groups(alive, groups, gains, max(1, BLOCKS - made))
    gains = tuple(
        UNSEEN if index in barred else gain for index, gain in enumerate(_gains(len(groups), rows))
    )
    return RaceStanding(tuple(alive) if len(rows) < BLOCKS else (), gains)


def _best_of_groups(
    alive: Sequence[int], groups: Sequence[str], gains: Sequence[Gain], most: int
) -> list[int]:
    """Return who stays: of each group so many, the best."""
    of: dict[str, list[int]] = defaultdict(list)
    for index in sorted(alive, key=lambda number: -gains[number].mean):
        of[groups[index]].append(index)
    return sorted(member for members in of.values() for member in members[:most])


def _gains(count: int, rows: Sequence[Row]) -> tuple[Gain, ...]:
    """Return the mean gain of each contender, with an error from the spread of all of them."""
    seen = [[row[index] for row in rows if index in row] for index in range(count)]
    means = [sum(values) / len(values) if values else -math.inf for values in seen]
    squares = sum(
        (value - mean) ** 2
        for values, mean in zip(seen, means, strict=True)
        if len(values) > 1
        for value in values
    )
    degrees = sum(len(values) - 1 for values in seen if len(values) > 1)
    spread = math.sqrt(max(LEAST_SPREAD**2, squares / degrees)) if degrees else math.inf
    return tuple(
        Gain(mean if len(values) >= FIRST else -math.inf, spread / math.sqrt(max(1, len(values))),
             len(values))
        for values, mean in zip(seen, means, strict=True)
    )  # fmt: skip
