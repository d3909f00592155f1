"""Let every judge judge a recording, and count what they say."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from studies.judges import change_points, others
from studies.judges.change_points import Otava
from studies.judges.counted import Counted, JudgesResult
from studies.judges.counts import read_counts
from studies.judges.cut import Cut, Judge, cut, seconds_a_trial, series
from studies.judges.made import NAMES, MoodMade, made
from studies.judges.moods import Mood
from studies.judges.others import BaseThenHead
from studies.judges.own import LabAb
from studies.judges.paired import DuetJudge
from studies.judges.recording import Block, Recording, read_blocks


def judged(folder: Path, recording: Recording, command: str) -> JudgesResult:
    """
    Let every judge judge a whole recording.

    Raises:
        ResultsError: The recording is damaged.
    """
    recorded: dict[str, MoodMade] = {}
    by_mood: dict[str, dict[str, dict[str, Counted]]] = {}
    with Otava() as otava:
        for mood in Mood:
            blocks = list(read_blocks(folder, mood))
            seconds = seconds_a_trial(blocks)
            if seconds is None:
                continue
            recorded[mood] = made(blocks, seconds)
            by_mood[mood] = {
                judge.name: _counted(judge, blocks, seconds) for judge in judges(otava, seconds)
            }
    if by_mood:
        by_mood["all"] = _together(list(by_mood.values()))
    sizes = recording.sizes
    return JudgesResult(
        format=JudgesResult.FORMAT,
        command=command,
        seed=recording.seed,
        sizes={
            "warmup": sizes.warmup,
            "window": sizes.window,
            "connections": float(sizes.connections),
        },
        turns=recording.turns,
        request=recording.request,
        machine={name: recording.environment.get(name) for name in ("cpu", "kernel", "python")},
        recorded=recorded,
        moods=by_mood,
        instructions=read_counts(folder),
    )


def judges(otava: Otava, seconds: float) -> Iterator[Judge]:
    """Yield all judges, by CPU per request and by time where both can be had."""
    for metric in ("cpu", "time"):
        yield BaseThenHead(f"25 % limit, {metric}", others.bencher, metric)
        yield BaseThenHead(f"best of ten, {metric}", others.best, metric)
        yield BaseThenHead(f"median and minimum, {metric}", others.median_beyond, metric)
        yield BaseThenHead(
            f"change point, {metric}",
            others.change_point(otava),
            metric,
            base=change_points.BASE,
            head=change_points.HEAD,
        )
        yield DuetJudge(f"duet, {metric}", metric)
        yield LabAb(f"lab ab, {metric}", metric, seconds)
        yield LabAb(f"lab ab --confirm, {metric}", metric, seconds, confirm=True)
    yield BaseThenHead("Welch over requests, time", others.welch, "time")
    yield BaseThenHead("Mann-Whitney over requests, time", others.mann_whitney, "time")


def _counted(judge: Judge, blocks: Sequence[Block], seconds: float) -> dict[str, Counted]:
    return {
        name: _count(
            [cut(judge, rows) for rows in series(blocks, share, duets=judge.duets)], seconds
        )
        for name, share in NAMES.items()
    }


def _count(cuts: Sequence[Cut], seconds: float) -> Counted:
    decisions = [decision for one in cuts for decision in one.decisions]
    minutes = [decision.trials * seconds / 60 for decision in decisions]
    return Counted(
        comparisons=len(decisions),
        red=sum(decision.red for decision in decisions),
        untold=sum(not decision.told for decision in decisions),
        unfinished=sum(judged_cut.unfinished for judged_cut in cuts),
        minutes=statistics.median(minutes) if minutes else None,
        longest=max(minutes, default=None),
    )


def _together(
    moods: Sequence[Mapping[str, Mapping[str, Counted]]],
) -> dict[str, dict[str, Counted]]:
    return {
        judge: {name: _sum([mood[judge][name] for mood in moods]) for name in NAMES}
        for judge in moods[0]
    }


def _sum(counts: Sequence[Counted]) -> Counted:
    known = [counted.minutes for counted in counts if counted.minutes is not None]
    longest = [counted.longest for counted in counts if counted.longest is not None]
    return Counted(
        comparisons=sum(counted.comparisons for counted in counts),
        red=sum(counted.red for counted in counts),
        untold=sum(counted.untold for counted in counts),
        unfinished=sum(counted.unfinished for counted in counts),
        minutes=statistics.median(known) if known else None,
        longest=max(longest, default=None),
    )
