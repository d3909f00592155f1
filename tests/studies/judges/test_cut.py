"""From blocks to comparisons: nothing overlaps, and nothing is used twice."""

import random
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest

from studies.judges import blocks
from studies.judges.cut import Decision, Row, cut, series
from studies.judges.recording import DUET, Block
from tests.kit import builders


def recorded(count):
    """Return so many blocks, each trial at the place that its order gives it."""
    return [
        Block(number, tuple(duets(number) if blocks.is_duet(number) else singles(number)))
        for number in range(count)
    ]


def singles(number):
    """Return the trials of a block of single ones."""
    for position, name in enumerate(blocks.order(1, "quiet", number)):
        yield builders.paced(1000.0, 1e-3, name=name, block=number, position=position)


def duets(number):
    """Return the trials of a block of duets."""
    for pair, names in enumerate(blocks.duets(1, "quiet", number)):
        for side, name in enumerate(names):
            place = {"block": number, "position": 2 * pair + side}
            yield builders.paced(1000.0, 1e-3, name=name, facts={DUET: str(pair)}, **place)


@dataclass
class Greedy:
    """A judge that takes as many rows as it draws, and remembers which."""

    chance: random.Random
    duets: bool = False
    in_a_row: int = 0
    name: str = "greedy"
    seen: list[int] = field(default_factory=list)

    def judge(self, rows):
        """Take one to nine rows."""
        wanted = self.chance.randint(1, 9)
        if wanted > len(rows):
            return None
        self.seen += [row.block for row in rows[:wanted]]
        return Decision(False, True, wanted, 3 * wanted)


@pytest.mark.parametrize("seed", range(20))
def test_no_block_is_used_twice(seed):
    """The next comparison begins where the one before ended; what is left over counts for none."""
    rows = next(series(recorded(60), 0.0, duets=False))
    judge = Greedy(random.Random(seed))
    comparisons = cut(judge, rows)
    assert judge.seen == [row.block for row in rows[: len(judge.seen)]]
    assert sum(decision.rows for decision in comparisons.decisions) == len(judge.seen)
    assert comparisons.unfinished is (len(judge.seen) < len(rows))


def test_base_and_head_are_measured_without_a_long_pause_between_them():
    """And begin where a neighbour leaves, so that the one that arrives meets the head."""
    rows = [
        replace(row, at=row.block * 20.0 + (3600.0 if number >= 50 else 0.0))
        for number, row in enumerate(next(series(recorded(150), 0.0, duets=False)))
    ]
    judge = Greedy(random.Random(1), in_a_row=20)
    begins = []
    take = judge.judge

    def noted(rest):
        begins.append(rest[0])
        ends = take(rest)
        assert ends is None or rest[ends.rows - 1].at - rest[0].at < 3600.0
        return ends

    judge.judge = noted
    cut(judge, rows)
    assert [blocks.singles(row.block) for row in begins] == [0, 20, 40, 60, 80, 100]


@pytest.mark.parametrize("duets", [False, True])
@pytest.mark.parametrize("share", sorted(set(blocks.EFFECTS.values())))
def test_no_trial_is_new_in_two_series(share, duets):
    """And in each what is new has what is asked for, and the old ones are old."""
    used = Counter()
    for rows in series(recorded(30), share, duets=duets):
        for row in rows:
            news = [trial for sample in (row.new,) if sample for trial in sample.trials]
            olds = [trial for sample in (row.old, row.again) if sample for trial in sample.trials]
            assert all(blocks.EFFECTS[trial.slot.arm.name] == share for trial in news)
            assert all(trial.slot.arm.name in blocks.OLDS for trial in olds)
            used.update((trial.slot.block, trial.slot.position) for trial in news)
    assert used
    assert set(used.values()) == {1}


def test_a_comparison_of_the_old_version_with_itself_shares_no_trial_with_another():
    """Three a block: old, old again, and a third."""
    used = Counter(
        (trial.slot.block, trial.slot.position)
        for rows in series(recorded(10), 0.0, duets=False)
        for row in rows
        for sample in (row.old, row.again, row.new)
        for trial in sample.trials
    )
    assert set(used.values()) == {1}
    assert len(used) == 8 * 9  # of ten blocks two are of duets


def test_blocks_of_the_old_version_alone_say_nothing_of_another():
    """They would be a base whose head comes long after it."""
    alone = [
        replace(block, trials=tuple(it for it in block.trials if it.slot.arm.name in blocks.OLDS))
        for block in recorded(10)
    ]
    assert all(len(rows) == 8 for rows in series(alone, 0.0, duets=False))
    assert [*series(alone, 0.10, duets=False)] == []


def test_the_first_attempt_is_what_others_see():
    """They repeat nothing; the lab has all attempts."""
    first, second = (
        builders.paced(1000.0, cpu, name="old-1", attempt=attempt)
        for attempt, cpu in ((0, 2e-3), (1, 1e-3))
    )
    others = [trial for trial in singles(0) if trial.slot.arm.name != "old-1"]
    rows = next(series([Block(0, (first, second, *others))], 0.0, duets=False))
    assert isinstance(rows[0], Row)
    assert rows[0].old.cpu == pytest.approx(2e-3, rel=0.01)
    assert rows[0].old.trials == (first, second)
