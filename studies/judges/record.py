"""Append blocks of one mood to a recording, for so many minutes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from lab.bench.load.process import EngineGenerator
from lab.bench.machine.temporary import swept
from lab.bench.store.environment import Cores, digest, read_environment, split_cores
from lab.bench.store.folder import FORMAT, RunHeader, RunWriter
from lab.bench.trials.conduct import real_parts
from lab.bench.trials.runner import REPEAT_SHARE, Parts, Silent, disturbed, run
from lab.errors import UsageError
from lab.model.finding import Finding
from lab.model.measurement import Trial
from lab.model.plan import Arm, Plan, Slot
from studies.judges import blocks, moods
from studies.judges.blocks import OLDS
from studies.judges.moods import Mood
from studies.judges.recording import (
    Recording,
    TrialSizes,
    next_block,
    read_recording,
    require_same,
    write_recording,
)
from studies.judges.trials import Duet, calibrate, plan_of, planted_turns

SIZES = TrialSizes(warmup=0.2, window=0.6, connections=64)
"""Of a recording that is begun: see the package for why so short."""

PLANTED = "planted.ndjson"


IDLE, LOOK = 0.10, 0.5
"""Share of the machine that may be in use before a block begins, and the seconds of one look."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a recorder."""

    mood: Mood
    minutes: float
    """Time that the blocks may take."""
    seed: int
    """Of a recording that is begun: of its orders and of what the neighbour does."""
    at_once: bool = False
    """Do not wait before a block until nobody else uses the machine; make one block at least."""
    alike: bool = False
    """Leave out all versions but the old one: for comparisons of it with itself alone."""


@swept()
def record(folder: Path, wanted: Wanted, say: Callable[[str], None]) -> int:
    """
    Make blocks until the next would not be over in time, and return how many.

    Before each it waits until the machine is idle, since all that is to disturb it is planted.

    Args:
        folder: The recording; begun where there is none.
        wanted: What is asked for.
        say: Told in a line what was begun.

    Raises:
        ResultsError: The recording is another machine's, is damaged, or cannot be written.
        LabError: The service does not run here.
    """
    until, mood = time.monotonic() + wanted.minutes * 60, wanted.mood
    cores, environment = split_cores(), read_environment()
    if cores is None:
        raise UsageError("server and generator need a CPU each, and there is one in all")
    recording = read_recording(folder)
    if recording is None:
        recording = _begun(folder, wanted.seed, until, cores, environment)
        say(f"{folder}: begun; a request needs {recording.request * 1e6:.0f} µs of CPU")
    require_same(recording, folder, environment)
    turns = {name: n for name, n in recording.turns.items() if name in OLDS or not wanted.alike}
    plan = plan_of(turns, recording.seed, recording.sizes)
    header = RunHeader(
        format=FORMAT,
        command=f"python -m studies.judges record --mood {mood} --minutes {wanted.minutes:g}"
        + " --alike" * wanted.alike,
        generator=EngineGenerator.name,
        started_at=time.time(),
        plan=plan,
        environments={digest(environment): environment},
        skipped={},
    )
    first = next_block(folder, mood)
    with closing(RunWriter(folder / mood, header)) as writer:
        writer.write_header()
        parts = real_parts(EngineGenerator(), cores, writer.append, digest(environment))
        recorder = _Recorder(recording, wanted, plan, parts, cores, writer.folder)
        made = recorder.blocks(first, until)
        if not writer.has_trials:
            writer.discard()
        return made


def _is_idle(latest: float) -> bool:
    """Wait until nobody uses the machine, and return whether it was so before a moment."""
    while time.monotonic() < latest:
        if psutil.cpu_percent(LOOK) < IDLE * 100:
            return True
    return False


def _begun(
    folder: Path, seed: int, until: float, cores: Cores, environment: dict[str, object]
) -> Recording:
    """Choose how much is planted, and write how this recording is made."""
    parts = real_parts(EngineGenerator(), cores, lambda _trial: None)
    turns, request = planted_turns(*calibrate(parts, SIZES, lambda: _is_idle(until)))
    begun = Recording(
        format=Recording.FORMAT,
        seed=seed,
        sizes=SIZES,
        turns=turns,
        request=request,
        environment=environment,
    )
    write_recording(folder, begun)
    return begun


class _Repeats:
    """What `lab.bench.trials.runner` allows a run: a tenth of its trials, two at the least."""

    def __init__(self) -> None:
        self.trials = self.repeats = 0

    def again(self, findings: Sequence[Finding]) -> bool:
        """Return whether a trial of which this is found is repeated."""
        self.trials += 1
        wanted = disturbed(findings) and self.repeats < max(2, REPEAT_SHARE * self.trials)
        self.repeats += wanted
        return wanted


class _OneBlock:
    """A schedule of one block."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self.trials = 1000
        """So many that the runner's own limit of repeats is never reached: `_Repeats` has it."""
        self._arms: Sequence[Arm] | None = arms

    def next(self, _trials: Sequence[Trial]) -> Sequence[Arm] | None:
        """Return the arms once."""
        arms, self._arms = self._arms, None
        return arms


@dataclass(frozen=True, slots=True)
class _Recorder:
    recording: Recording
    wanted: Wanted
    plan: Plan
    parts: Parts
    cores: Cores
    folder: Path

    def blocks(self, first: int, until: float) -> int:
        """Make blocks from the number *first* on, and return how many."""
        made, longest, repeats = 0, 0.0, _Repeats()
        arms = {arm.name: arm for arm in self.plan.arms}
        while self._may_begin(made, until - longest):
            began, number = time.monotonic(), first + made
            record = _numbered(self.parts.record, number)
            parts = replace(self.parts, record=record, again=repeats.again)
            with self._neighbour(number):
                if blocks.is_duet(number):
                    self._duets(number, arms, parts)
                else:
                    names = blocks.order(self.recording.seed, self.wanted.mood, number, arms)
                    run(self.plan, parts, Silent(), _OneBlock([arms[name] for name in names]))
            made, longest = made + 1, max(longest, time.monotonic() - began)
        return made

    def _may_begin(self, made: int, latest: float) -> bool:
        """Wait for an idle machine, and return whether it was so before the *latest* moment."""
        if self.wanted.at_once:
            return not made or time.monotonic() < latest
        return _is_idle(latest)

    @contextmanager
    def _neighbour(self, number: int) -> Iterator[None]:
        planned = moods.schedule(self.wanted.mood, self.recording.seed, number)
        with (self.folder / PLANTED).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"block": number, "load": planned}) + "\n")
        with moods.neighbour(planned, self.cores[0][0]):
            yield

    def _duets(self, number: int, arms: dict[str, Arm], parts: Parts) -> None:
        duet = Duet(self.plan, parts, self.cores)
        pairs = blocks.duets(self.recording.seed, self.wanted.mood, number, arms)
        for pair, names in enumerate(pairs):
            old, new = (Slot(number, 2 * pair + side, arms[n]) for side, n in enumerate(names))
            for trial in duet.trials(old, new, pair):
                parts.record(trial)


def _numbered(record: Callable[[Trial], None], number: int) -> Callable[[Trial], None]:
    """Return what records a trial of the runner's first block as one of block *number*."""
    return lambda trial: record(replace(trial, slot=replace(trial.slot, block=number)))
