"""
What a person sees while a comparison runs: on standard error, so that results stay clean.

On a terminal one line that moves; elsewhere, such as in a CI log, one line a block.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bar

from lab.bench.trials.announcement import varying_replies
from lab.bench.trials.plan import estimate, pilot, trial_seconds
from lab.errors import log_lines
from lab.model.comparison import Departure
from lab.model.finding import Finding
from lab.model.measurement import Failure, Trial
from lab.model.plan import CounterRun, Plan, Role, Slot
from lab.model.wording import counted, duration


class Course:
    """How much of a plan is done, and how long the rest takes."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._done: set[tuple[int, int]] = set()
        self._began = time.monotonic()
        self.in_block = len(plan.block)
        """Trials of a block."""
        self._planned = plan.blocks * self.in_block

    @property
    def planned(self) -> int:
        """Trials in all; of a run of minutes as many as the pace so far lets expect."""
        if self._plan.minutes is None:
            return self._planned
        left = self._seconds_left()
        return min(self._planned, self.done + math.ceil(left / self._pace()))

    @property
    def done(self) -> int:
        """Trials that are done; one that was repeated counts once."""
        return len(self._done)

    def finished(self, slot: Slot) -> bool:
        """Count a trial, and return whether it is the first of its slot."""
        before = self.done
        self._done.add((slot.block, slot.position))
        return self.done > before

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Count in what every block after the pilot holds from now on."""
        self.in_block += len(counters)
        self._planned += len(counters) * (self._plan.blocks - pilot(self._plan))

    def leaving(self, departures: Sequence[Departure]) -> None:
        """Leave out what no block holds any more."""
        self.in_block -= len(departures)

    def left(self) -> str:
        """Say how long the rest takes at the pace so far, such as "4 min 10 s left"."""
        if self._plan.minutes is not None:
            return f"at most {duration(self._seconds_left())} left"
        if not self._done:
            return f"{duration(estimate(self._plan))} left"
        return f"{duration(self._pace() * (self.planned - self.done))} left"

    def _pace(self) -> float:
        """Return the seconds of a trial, as it was so far or should be."""
        if not self._done:
            return trial_seconds(self._plan)
        return max((time.monotonic() - self._began) / self.done, 1e-3)

    def _seconds_left(self) -> float:
        """Return how much of its minutes a run has left."""
        assert self._plan.minutes is not None
        return max(0.0, self._plan.minutes * 60 - (time.monotonic() - self._began))


class Progress:
    """An observer of the runner (see `lab.bench.trials.runner.Observer`)."""

    def __init__(self, plan: Plan, console: Console) -> None:
        self._plan = plan
        self._console = console
        self._course = Course(plan)
        self._of_block = 0
        self._invalid: dict[tuple[int, int], Sequence[Finding]] = {}
        self._bar = Bar(
            TextColumn("{task.description:<38}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[remaining]}"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task: TaskID = self._bar.add_task(
            "starting", total=self._course.planned, remaining=self._course.left()
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def settled(self, plan: Plan) -> None:
        """Say what is required of replies that vary."""
        for line in varying_replies(plan):
            self._console.print(line, markup=False, soft_wrap=True)

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Show what a trial is at."""
        arm = {Role.AA: " (a/a)", Role.COUNTER: " (counter-run)"}.get(slot.arm.role, "")
        again = " again" if attempt else ""
        self._bar.update(self._task, description=f"{slot.arm.name}{arm}{again}: {stage}")

    def finished(self, trial: Trial, findings: Sequence[Finding]) -> None:
        """Count a trial; say at once what is wrong with it."""
        first = self._course.finished(trial.slot)
        remaining = self._course.left()
        done, planned = self._course.done, self._course.planned
        if trial.failure is not None and trial.failed is not Failure.LEFT_OUT:
            # A path that is broken at the edge of the screen cannot be copied.
            failure = "\n".join((trial.failure, *log_lines(trial.log, trial.log_file)))
            self._console.print(f"{trial.slot.arm.name}: {failure}", markup=False, soft_wrap=True)
        if (ended := trial.facts.get("restarted")) is not None:
            text = f"backing service {ended} had ended, and was started again"
            self._console.print(text, markup=False)
        place = trial.slot.block, trial.slot.position
        self._invalid.pop(place, None)  # of a trial and its repeats the last counts
        if withholding := [finding for finding in findings if finding.withholds != frozenset()]:
            self._invalid[place] = withholding
        invalid = f"{len(self._invalid)} of {counted(done, 'trial')} invalid"
        shown = f"{remaining}, {invalid}" if self._invalid else remaining
        self._bar.update(self._task, completed=done, total=planned, remaining=shown)
        self._of_block += first
        if not first or self._of_block < self._course.in_block:
            return
        self._of_block = 0
        if not self._console.is_terminal:
            gates = dict.fromkeys(
                finding.gate.name for of in self._invalid.values() for finding in of
            )
            why = f" ({', '.join(gates)})" if gates else ""
            of = "" if self._plan.minutes is not None else f" of {self._plan.blocks}"
            self._console.print(
                f"block {trial.slot.block + 1}{of} done, {invalid}{why}, {remaining}",
                markup=False,
                soft_wrap=True,
            )
        items = self._invalid.items()
        void = {
            place: finding for place, of in items for finding in of if finding.withholds is None
        }
        if trial.slot.block == 0 and len(void) == done:  # the next blocks would be in vain, too
            for finding in {finding.gate: finding for finding in void.values()}.values():
                message = f"{finding.gate.name}: {finding.reason}. {finding.advice}"
                text = f"warning: no valid trial so far. {message}"
                self._console.print(text, markup=False, soft_wrap=True)

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Say what is put to the test from now on, and count it in."""
        self._course.confirming(counters)
        self._bar.update(self._task, total=self._course.planned)
        for counter in counters:
            text = f"to confirm: {counter.cause} at {counter.of}, by {counter.toggle}"
            self._console.print(text, markup=False, soft_wrap=True)

    def leaving(self, departures: Sequence[Departure]) -> None:
        """Say who leaves and why."""
        self._course.leaving(departures)
        for departure in departures:
            self._console.print(str(departure), markup=False, soft_wrap=True)
