"""
What a person sees while a comparison runs: on standard error, so that results stay clean.

On a terminal one line that moves; elsewhere, such as in a CI log, one line a block.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bar

from lab.experiment.plan import estimate, pilot
from lab.model import CounterRun, Failure, Finding, Plan, Role, Slot, Trial


class Progress:
    """An observer of the runner (see `lab.experiment.runner.Observer`)."""

    def __init__(self, plan: Plan, console: Console | None = None) -> None:
        self._plan = plan
        self._console = console or Console(stderr=True)
        self._in_block = len(plan.block)
        self._total = plan.blocks * self._in_block
        self._of_block = 0
        self._done: set[tuple[int, int]] = set()
        self._invalid = 0
        self._began = time.monotonic()
        self._bar = Bar(
            TextColumn("{task.description:<38}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[remaining]}"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task: TaskID = self._bar.add_task(
            "starting", total=self._total, remaining=_left(estimate(plan))
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

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Show what a trial is at."""
        arm = {Role.AA: " (a/a)", Role.COUNTER: " (counter-run)"}.get(slot.arm.role, "")
        again = " again" if attempt else ""
        self._bar.update(self._task, description=f"{slot.arm.name}{arm}{again}: {stage}")

    def finished(self, trial: Trial, findings: Sequence[Finding]) -> None:
        """Count a trial; say at once what is wrong with it."""
        again = (trial.slot.block, trial.slot.position) in self._done
        self._done.add((trial.slot.block, trial.slot.position))
        remaining = self._remaining()
        self._bar.update(self._task, completed=len(self._done), remaining=_left(remaining))
        if trial.failure is not None and trial.failed is not Failure.LEFT_OUT:
            self._console.print(f"{trial.slot.arm.name}: {trial.failure}", markup=False)
        self._invalid += bool(findings)
        self._of_block += not again
        whole_block = self._of_block == self._in_block
        if whole_block and not again:
            self._of_block = 0
        if whole_block and not again and not self._console.is_terminal:
            self._console.print(
                f"block {trial.slot.block + 1} of {self._plan.blocks} done, "
                f"{self._invalid} trials with a finding, {_left(remaining)}",
                markup=False,
            )

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Say what is put to the test from now on, and count it in."""
        self._in_block += len(counters)
        self._total += len(counters) * (self._plan.blocks - pilot(self._plan))
        self._bar.update(self._task, total=self._total)
        for each in counters:
            self._console.print(
                f"to confirm: {each.cause} at {each.of}, by {each.toggle}", markup=False
            )

    def _remaining(self) -> float:
        """Return seconds, from the pace so far."""
        pace = (time.monotonic() - self._began) / len(self._done)
        return pace * (self._total - len(self._done))


def _left(seconds: float) -> str:
    """
    Say how long it still takes.

    >>> _left(250)
    '4 min 10 s left'
    """
    minutes, seconds = divmod(round(seconds), 60)
    return (f"{minutes} min " if minutes else "") + f"{seconds} s left"
