"""
From blocks to comparisons: each judge takes what it needs, and the next begins where it ended.

So no trial is used twice by a judge in one series, and a judge that decides early judges more
often. A comparison that the recording's end cuts off is counted apart: it says nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lab.analysis.metrics import derive, merged_latency
from lab.model.measurement import Trial
from studies.judges.blocks import ALWAYS, EFFECTS, IN_TURN, OLDS, singles
from studies.judges.recording import DUET, Block

TRIPLES = tuple(OLDS[first : first + 3] for first in range(0, len(OLDS), 3))
"""Old, old again, and a third that is compared with them where nothing differs."""


PAUSE = 600.0
"""Seconds between two blocks from which on the head would be measured long after its base."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What a trial shows to a judge that knows no gates and repeats nothing: its first attempt."""

    trials: tuple[Trial, ...]
    """All attempts, for the lab's own judgement."""
    cpu: float | None
    """Seconds a request."""
    throughput: float | None
    """Requests/s."""
    latency: Mapping[int, int]
    """Microseconds -> replies."""

    def cost(self, metric: str) -> float | None:
        """Return what a request costs by *metric*, the less the better; None if not known."""
        if metric == "cpu":
            return self.cpu
        return 1 / self.throughput if self.throughput else None


@dataclass(frozen=True, slots=True)
class Row:
    """One block, as a comparison sees it."""

    block: int
    at: float
    """When it began, in POSIX seconds."""
    old: Sample
    again: Sample | None
    """None in a block of duets."""
    new: Sample | None
    """None in a block without that version."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a judge said, and what it took."""

    red: bool
    told: bool
    """Whether it said anything: the lab, and some others, may say that they cannot tell."""
    rows: int
    """Blocks that the next comparison has to leave alone."""
    trials: int
    """Its own."""


class Judge(Protocol):
    """A reading of a tool."""

    @property
    def name(self) -> str:
        """What it is called in the results."""

    @property
    def duets(self) -> bool:
        """Whether it takes blocks of duets."""

    @property
    def in_a_row(self) -> int:
        """Blocks at a multiple of which it begins, without a long pause before its end; or 0."""

    def judge(self, rows: Sequence[Row]) -> Decision | None:
        """Judge from the first of *rows* on; None where they end before it has decided."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The comparisons of one judge in one series."""

    decisions: tuple[Decision, ...]
    unfinished: bool
    """Whether rows are left in which a further one did not come to its end."""


def cut(judge: Judge, rows: Sequence[Row]) -> Cut:
    """Let a judge decide, and again from where it ended, until the rows are used up."""
    decisions: list[Decision] = []
    unfinished = False
    for stretch in _stretches(rows) if judge.in_a_row else [rows]:
        begin = _next(judge, stretch, 0)
        while begin < len(stretch):
            decision = judge.judge(stretch[begin:])
            if decision is None:
                unfinished = True
                break
            assert decision.rows > 0
            decisions.append(decision)
            begin = _next(judge, stretch, begin + decision.rows)
    return Cut(tuple(decisions), unfinished=unfinished)


def _stretches(rows: Sequence[Row]) -> list[list[Row]]:
    """Return rows without a long pause between two."""
    stretches: list[list[Row]] = []
    for row in rows:
        if not stretches or row.at - stretches[-1][-1].at > PAUSE:
            stretches.append([])
        stretches[-1].append(row)
    return stretches


def _next(judge: Judge, rows: Sequence[Row], begin: int) -> int:
    """Return the first row from *begin* on at which a comparison of this judge may begin."""
    if not judge.in_a_row:
        return begin
    fitting = (at for at in range(begin, len(rows)) if not singles(rows[at].block) % judge.in_a_row)
    return next(fitting, len(rows))


def series(blocks: Sequence[Block], share: float, *, duets: bool) -> Iterator[list[Row]]:
    """
    Yield rows in which new takes *share* more than old; no two series have a new one in common.

    Of single trials there is a row a block, and a series for each triple of old ones; of duets one
    series, with a row for each pair.

    Args:
        blocks: Of one mood.
        share: One of `blocks.EFFECTS`.
        duets: Whether those of duets, else those of single trials.
    """
    chosen = [block for block in blocks if block.is_duet is duets and (not share or block.has_new)]
    if duets:
        yield _duets(chosen, share)
        return
    for number, triple in enumerate(TRIPLES):
        news = _news(share, number)
        rows = [_row(block, triple, news) for block in chosen]
        if any(row.new is not None for row in rows):
            yield rows


def _news(share: float, number: int) -> tuple[str, ...]:
    """Return the versions that are new in the series of one triple, of which a block has one."""
    if share == 0:
        return TRIPLES[number][2:]
    named = [name for name in (*ALWAYS, *IN_TURN) if EFFECTS[name] == share]
    return tuple(named[number : number + 1])


def _row(block: Block, triple: Sequence[str], news: Sequence[str]) -> Row:
    by_version = samples(block.trials)
    new = next((by_version[name] for name in news if name in by_version), None)
    return Row(
        block.number, block.trials[0].started_at, by_version[triple[0]], by_version[triple[1]], new
    )


def _duets(blocks: Sequence[Block], share: float) -> list[Row]:
    """Return a row for each pair, several of a block one after the other."""
    rows = []
    for block in blocks:
        sides: dict[str, list[Trial]] = {}
        for trial in block.trials:
            sides.setdefault(trial.facts[DUET], []).append(trial)
        for old, new in sides.values():
            if EFFECTS[new.slot.arm.name] == share:
                pair = sample((old,)), None, sample((new,))
                rows.append(Row(block.number, old.started_at, *pair))
    return rows


def samples(trials: Sequence[Trial]) -> dict[str, Sample]:
    """Return version -> what its trial shows."""
    attempts: dict[str, list[Trial]] = {}
    for trial in trials:
        attempts.setdefault(trial.slot.arm.name, []).append(trial)
    return {name: sample(tuple(version_trials)) for name, version_trials in attempts.items()}


def sample(trials: tuple[Trial, ...]) -> Sample:
    """Return what one trial shows, from all of its attempts."""
    first = trials[0]
    metrics = derive(first)
    latency = merged_latency(first.windows)
    return Sample(trials, metrics.get("cpu"), metrics.get("throughput"), latency)


def seconds_a_trial(blocks: Sequence[Block]) -> float | None:
    """Return the median seconds from the start of one single trial to that of the next."""
    gaps = [
        after.started_at - before.started_at
        for block in blocks
        if not block.is_duet
        for before, after in zip(block.trials, block.trials[1:], strict=False)
    ]
    return statistics.median(gaps) if gaps else None
