"""
A recording: folders of runs as the lab keeps them, a mood each, and how they were made.

    RECORDING/recording.json            seed, sizes, what is planted, and the machine
    RECORDING/MOOD/RUN/                 run.json and trials.ndjson, by the lab's own writer
    RECORDING/MOOD/RUN/planted.ndjson   what the neighbour does in each block, written before it

Each call of the recorder appends a run. Its blocks go on where those before have ended, and the
last one does not count unless it is whole: a SIGKILL costs the block under way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from lab.bench.store.folder import read_json, read_run, write_json
from lab.errors import ResultsError
from lab.model.measurement import Trial
from lab.model.nested import flatten
from studies.judges import blocks
from studies.judges.moods import Mood

NAME = "recording.json"

DUET = "duet"
"""Fact of a trial that was made beside another: the number of the pair in its block."""

OF_THE_MACHINE = ("cpu", "machine", "kernel", "python", "uwsgi")
"""Parts of an environment that are the same in all of a recording."""

UNSTEADY = ("machine.memory", "machine.swap")
"""Keys that differ by a few pages from one start of a machine to the next."""

SERVED = ("flask", "werkzeug", "prometheus-client", "uwsgi")
"""Distributions that are the same in all of a recording: what the server runs."""


@dataclass(frozen=True, slots=True)
class TrialSizes:
    """How long a trial lasts, and how it is loaded."""

    warmup: float
    """Seconds."""
    window: float
    """Seconds."""
    connections: int


@dataclass(frozen=True, slots=True)
class Recording:
    """How a recording is made; `lab.bench.store.folder.read_json` reads it from its file."""

    FORMAT: ClassVar[int] = 1
    WHAT: ClassVar[str] = "recording of studies.judges"

    format: int
    seed: int
    sizes: TrialSizes
    turns: Mapping[str, int]
    """Version -> turns of an empty loop a request."""
    request: float
    """CPU seconds of a request of the old version, by which the turns were chosen."""
    environment: Mapping[str, Any]
    """As it was read before the first trial."""


@dataclass(frozen=True, slots=True)
class Block:
    """All trials of one block, each of its attempts, in the order in which they ran."""

    number: int
    """From 0, over all runs of a mood."""
    trials: tuple[Trial, ...]

    @property
    def is_duet(self) -> bool:
        """Whether two servers were loaded at once."""
        return blocks.is_duet(self.number)

    @property
    def has_new(self) -> bool:
        """Whether it holds other versions than the old one."""
        return any(trial.slot.arm.name not in blocks.OLDS for trial in self.trials)


def read_recording(folder: Path) -> Recording | None:
    """
    Return how a recording is made, or None where there is none yet.

    Raises:
        ResultsError: It is damaged.
    """
    path = folder / NAME
    return read_json(path, Recording) if path.exists() else None


def write_recording(folder: Path, recording: Recording) -> None:
    """
    Begin a recording.

    Raises:
        ResultsError: It cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / NAME, recording)


def require_same(recording: Recording, folder: Path, environment: Mapping[str, Any]) -> None:
    """
    Refuse to add another machine's blocks, or another server's.

    Raises:
        ResultsError: With each key that differs.
    """
    here, there = (_steady(machine) for machine in (environment, recording.environment))
    differing = sorted(key for key in here.keys() | there.keys() if here.get(key) != there.get(key))
    if differing:
        differences = "".join(
            f"\n    {key}: {there.get(key)} / {here.get(key)}" for key in differing
        )
        problem = (
            f"was made on another machine; there and here differ{differences}\nName another folder"
        )
        raise ResultsError(folder, problem)


def read_blocks(folder: Path, mood: Mood) -> Iterator[Block]:
    """
    Yield the whole blocks of a mood, in the order in which they were made.

    Raises:
        ResultsError: A run is damaged.
    """
    for folder_of_run in runs(folder, mood):
        run, by_block = read_run(folder_of_run), dict[int, list[Trial]]()
        for trial in run.trials:
            by_block.setdefault(trial.slot.block, []).append(trial)
        made = {arm.name for arm in run.plan.arms}
        for number, trials in sorted(by_block.items()):
            if {trial.slot.arm.name for trial in trials} == {*blocks.versions(number, made)}:
                yield Block(number, tuple(trials))


def runs(folder: Path, mood: Mood) -> list[Path]:
    """Return the runs of a mood, the earliest first."""
    return sorted(path.parent for path in (folder / mood).glob("*/run.json"))


def next_block(folder: Path, mood: Mood) -> int:
    """Return the number of the first block that is not whole, or not begun."""
    return max((block.number + 1 for block in read_blocks(folder, mood)), default=0)


def _steady(environment: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: environment.get(name, {}) for name in OF_THE_MACHINE}
    served = environment.get("distributions", {})
    parts["distributions"] = {name: served.get(name) for name in SERVED}
    return {key: value for key, value in flatten(parts) if key not in UNSTEADY}
