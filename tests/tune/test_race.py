"""A race: who stays, who leaves, and when it is over."""

from __future__ import annotations

import math

from lab.cli.tune.race import BLOCKS, standing

FASTER, SAME, SLOWER = math.log(1.2), 0.0, math.log(0.8)
NOBODY = frozenset()


def rows(*blocks):
    """Return blocks of gains in contenders' order; None for one that was not in it."""
    return [{n: gain for n, gain in enumerate(block) if gain is not None} for block in blocks]


def test_everybody_is_in_the_first_two_blocks():
    """One block has no spread, so nobody leaves after it."""
    for made in (rows(), rows((SLOWER, FASTER))):
        assert standing(("a", "b"), made, NOBODY).alive == (0, 1)


def test_who_is_unlikely_to_gain_a_percent_leaves():
    """After two blocks; who is clearly better stays."""
    made = rows((SLOWER, FASTER), (SLOWER + 0.01, FASTER + 0.01))
    assert standing(("a", "b"), made, NOBODY).alive == (1,)


def test_of_one_group_fewer_stay_after_each_block():
    """Three after two blocks, then two, then one; of another group nobody has to leave for it."""
    gains = (*(FASTER + number / 100 for number in range(5)), FASTER)
    groups = ("w",) * 5 + ("x",)
    alive = [standing(groups, rows(*[gains] * made), NOBODY).alive for made in (2, 3, 4)]
    assert alive == [(2, 3, 4, 5), (3, 4, 5), (4, 5)]


def test_a_race_ends_when_all_who_are_left_are_clear():
    """By two standard errors; or after five blocks."""
    clear = rows((FASTER, SLOWER), (FASTER + 0.01, SLOWER))
    assert standing(("a", "b"), clear, NOBODY).over
    open_ = rows((0.5, 0.0), (0.0, 0.5))
    assert not standing(("a", "b"), open_, NOBODY).over
    assert standing(("a", "b"), open_ * 3, NOBODY).alive == ()
    assert BLOCKS == 5


def test_who_is_barred_is_in_no_block():
    """As one that is above a limit of memory; nor does it win by the blocks that it was in."""
    assert standing(("a", "b"), rows(), frozenset({0})).alive == (1,)
    seen = rows((FASTER, SAME), (FASTER, SAME))
    assert standing(("a", "b"), seen, NOBODY).gains[0].wins
    assert not standing(("a", "b"), seen, frozenset({0})).gains[0].wins


def test_who_never_counts_gains_nothing():
    """A contender whose trials all failed cannot win, and leaves."""
    now = standing(("a", "b"), rows((None, SAME), (None, SAME)), NOBODY)
    assert 0 not in now.alive
    assert not now.gains[0].wins
