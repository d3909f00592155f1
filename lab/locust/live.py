"""
A comparison while it goes on, for the web UI: what the trials so far say, and what is still to do.

Locust's process is also the load generator's, in one thread. So a report is made between two
trials, when no server runs, and only if somebody looks; a look costs a few strings.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from lab.analysis.conclude import conclude
from lab.analysis.conclusion import Conclusion
from lab.analysis.points import summaries
from lab.analysis.summary import Row, Rung, Summary
from lab.analysis.sweep import conclude_run
from lab.bench.trials.conduct import Outcome, PreparedRun
from lab.bench.trials.plan import named
from lab.bench.trials.progress import Course
from lab.model.comparison import Comparison, Departure
from lab.model.measurement import Run, Trial
from lab.model.metric import METRICS, shown
from lab.model.numbers import UNKNOWN, quantity, ratio
from lab.model.plan import CounterRun, Load, Plan, Role, Slot
from lab.model.wording import counted
from lab.report.causes import standing_of
from lab.report.files import pages
from lab.report.headline import ANOTHER

MEDIANS = {name: metric.live for name, metric in METRICS.items() if metric.live}
RATIOS = {
    name: f"{MEDIANS[name].partition(' (')[0]}, over the first profile's" for name in shown(Load())
}
"""Metrics that the table of profiles shows -> title of the column."""

COLUMNS = {
    "name": "Profile",
    "trials": "Trials",
    "valid": "Valid",
    **MEDIANS,
    **{f"{name}_ratio": title for name, title in RATIOS.items()},
    "limited_by": "Limited by",
    "now": "Now",
}
"""Columns of that table: key -> title. Locust wants the first to be `name`."""

SPARE = 20
"""Nothing is repeated before so many times what it took last: 5 % of the run at the most."""

T = TypeVar("T")


class Lookout(Generic[T]):
    """What is made anew between two trials, if somebody has looked at it since."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._value = make()
        self._looked_at = False
        self._rests_until = 0.0
        self.edition = 0
        """How often it has changed."""

    def look(self) -> T:
        """Return the last one that was made."""
        self._looked_at = True
        return self._value

    def renew(self) -> None:
        """Make it anew, if it is worth it."""
        began = time.monotonic()
        if self._looked_at and began >= self._rests_until:
            self.settle(self._make())
            self._looked_at = False
            ended = time.monotonic()
            self._rests_until = ended + SPARE * (ended - began)

    def settle(self, value: T) -> None:
        """Make it *value*."""
        self._value = value
        self.edition += 1


class Live:
    """One comparison, which is told what `lab.bench.trials.runner.Observer` is told."""

    def __init__(self, prepared: PreparedRun, command: Sequence[str], generator: str) -> None:
        """
        Begin with no trial.

        Args:
            prepared: What is going to be run.
            command: The command that repeats it.
            generator: Its generator's name.
        """
        plan = prepared.plan
        self._run = Run("under way", shlex.join(command), plan, {}, (), prepared.skipped, generator)
        self._course = Course(plan)
        self._now: tuple[Slot, int, str] | None = None
        self._outcome: Outcome | None = None
        self.said = Lookout(self._said)
        """What the trials so far say, rate by rate."""
        self.pages = Lookout(self._pages)
        """The report of the blocks so far: name -> HTML; none before the end of the first."""
        self.folder: Path | None = None
        """The run's, at its end; None when it ended before its first trial."""
        self.stopped: tuple[str, ...] | None = None
        """Lines that say why it ended before all of the plan was carried out."""

    # -- what the runner says ----------------------------------------------------------------------

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Remember what goes on; where a block begins, report those before it."""
        begins = self._now is not None and slot.block > self._now[0].block
        self._now = slot, attempt, stage
        if begins:
            self.pages.renew()

    def finished(self, trial: Trial) -> None:
        """Take one more trial into account."""
        self._run = replace(self._run, trials=(*self._run.trials, trial))
        self._course.finished(trial.slot)
        self.said.renew()

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Count in the trials that confirm causes."""
        self._run = replace(self._run, counters=tuple(counters))
        self._course.confirming(counters)

    def leaving(self, departures: Sequence[Departure]) -> None:
        """Leave out what no block holds any more."""
        self._course.leaving(departures)

    def ended(self, outcome: Outcome) -> None:
        """Take the end's word for everything."""
        self._outcome = outcome
        self.said.settle(outcome.conclusion.points)
        self._leave(outcome.folder)

    def interrupted(self, error: BaseException) -> None:
        """Remember what ended it early, and in which folder; see `lab.errors.LabError.folder`."""
        # What the STOP button raises in the middle of a run has no words of its own.
        self.stopped = (str(error) or "Stopped.", *getattr(error, "__notes__", ()))
        self.said.settle(self._said())
        self._leave(getattr(error, "folder", None))

    def _leave(self, folder: Path | None) -> None:
        """Show the pages in *folder* from now on."""
        self.folder = folder
        if folder is not None:
            files = sorted(folder.glob("report*.html"))
            self.pages.settle({file.name: file.read_text(encoding="utf-8") for file in files})

    # -- what is shown -----------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """Return "under way", "done" or "ended early"."""
        if self._outcome is not None:
            return "done"
        return "under way" if self.stopped is None else "ended early"

    @property
    def percent(self) -> int:
        """Return how many of the trials are done."""
        return 100 if self.state == "done" else 100 * self._course.done // max(1, self._planned)

    def progress(self) -> str:
        """Say how far it is, in a line."""
        made, of_minutes = self._course.done, self._run.plan.minutes is not None
        if self.state != "under way":
            return counted(made, "trial") if of_minutes else f"{made} of {self._planned} trials"
        about = "about " if of_minutes else ""
        left = self._course.left() if of_minutes else f"about {self._course.left()}"
        return f"{made} of {about}{self._planned} trials, {left}"

    @property
    def _planned(self) -> int:
        return self._course.planned

    def now(self) -> str:
        """Say what is being done at this moment; empty when nothing is."""
        if self._now is None or self.state != "under way":
            return ""
        return f"{self._now[0].arm.name}: {self._stage(*self._now)}"

    def _stage(self, slot: Slot, attempt: int, stage: str) -> str:
        arm = {Role.AA: ", for the noise check", Role.COUNTER: ", a counter-run"}.get(
            slot.arm.role, ""
        )
        again = ", again" if attempt else ""
        return f"block {_of(slot.block + 1, self._run.plan)}{arm}{again}: {stage}"

    def rows(self) -> Iterator[dict[str, str]]:
        """Yield the table of profiles in ladder order: text by the keys of `COLUMNS`."""
        for conclusion, row, name in self._rows():
            summary = conclusion.summary
            compared = {metric: _over_first_said(summary, row, metric) for metric in RATIOS}
            if row.profile.name == summary.run.plan.reference:
                compared = {
                    metric: f"noise check {_ratio(summary.aa[metric])}" for metric in RATIOS
                }
            yield {
                "name": name,
                "trials": _of(row.total, summary.run.plan),
                "valid": _valid(row),
                **{metric: quantity(metric, row.values.get(metric)) for metric in MEDIANS},
                **{f"{metric}_ratio": text for metric, text in compared.items()},
                "limited_by": _cause(conclusion, row) or UNKNOWN,
                "now": self._stage(*self._now) if self._now and self._concerns(name) else "",
            }

    def figures(self) -> Iterator[dict[str, object]]:
        """Yield the same with numbers in full, for other programs; None where nothing is known."""
        for conclusion, row, name in self._rows():
            summary = conclusion.summary
            found: dict[str, object] = {
                "profile": name,
                "trials": row.total,
                "planned": None if summary.run.plan.minutes else summary.run.plan.blocks,
                "valid": row.valid,
            }
            for metric in MEDIANS:
                value = row.values.get(metric)
                scaled = None if value is None else f"{value * METRICS[metric].scale:.6g}"
                found[f"{metric} [{METRICS[metric].unit}]"] = scaled
            for metric in RATIOS:
                comparison = _over_first(summary, row, metric)
                interval = comparison.ratio if comparison is not None else None
                found[f"{metric} ratio"] = getattr(interval, "value", None)
                for part in ("low", "high", "n"):
                    found[f"{metric} {part}"] = getattr(interval, part, None)
                verdict = comparison.verdict.value if comparison and interval else None
                found[f"{metric} verdict"] = verdict
            yield found | {"limited by": _cause(conclusion, row)}

    def _said(self) -> tuple[Conclusion, ...]:
        return tuple(map(conclude, summaries(self._run)))

    def _rows(self) -> Iterator[tuple[Conclusion, Row, str]]:
        """Yield each row with its conclusion and its name: of many rates with its own."""
        conclusions = self.said.look()
        for conclusion in conclusions:
            at = conclusion.summary.run.plan.arms[0].at if len(conclusions) > 1 else {}
            for row in conclusion.summary.rows:
                yield conclusion, row, named(row.profile.name, at)

    def _concerns(self, name: str) -> bool:
        """Return whether the trial under way is one of this row, or a counter-run of it."""
        if self._now is None or self.state != "under way":
            return False
        ran = self._now[0].arm
        of = {counter.arm.name: named(counter.of, counter.arm.at) for counter in self._run.counters}
        return of.get(ran.name, ran.name) == name

    def _pages(self) -> dict[str, str]:
        whole = self._now[0].block if self._now is not None else 0
        if not whole:
            return {}
        plan = replace(self._run.plan, blocks=whole)
        trials = tuple(trial for trial in self._run.trials if trial.slot.block < whole)
        so_far = summaries(replace(self._run, plan=plan, trials=trials))
        return dict(pages(Path("report.html"), conclude_run(so_far)))


def _of(number: int, plan: Plan) -> str:
    """Return a number of blocks, and of how many, where that is known beforehand."""
    return str(number) if plan.minutes is not None else f"{number} of {plan.blocks}"


def _step(summary: Summary, row: Row) -> Rung | None:
    """Return the row's comparisons; a reference line has none, and neither has the first row."""
    return next((step for step in summary.steps if step.profile == row.profile.name), None)


def _over_first(summary: Summary, row: Row, metric: str) -> Comparison | None:
    step = _step(summary, row)
    return None if step is None else step.baseline.get(metric)


def _over_first_said(summary: Summary, row: Row, metric: str) -> str:
    """Say how the row compares with the first profile, and where that serves something else."""
    said, step = _ratio(_over_first(summary, row, metric)), _step(summary, row)
    other = said != UNKNOWN and step is not None and step.other_than_baseline
    return f"{said}, {ANOTHER}" if other else said


def _cause(conclusion: Conclusion, row: Row) -> str:
    """Return what limits a profile, and how far that is proved; empty when nothing explains it."""
    limit = conclusion.limit_of(row.profile.name)
    return standing_of(limit) if limit is not None else ""


def _valid(row: Row) -> str:
    """Say how many trials count, and which gates the others met."""
    gates = [tally.gate.name for tally in row.tallies if tally.example.withholds != frozenset()]
    return f"{row.valid} of {row.total}" + (f": {', '.join(gates)}" if gates else "")


def _ratio(comparison: Comparison | None) -> str:
    if comparison is None or comparison.ratio is None:
        return UNKNOWN
    return f"{ratio(comparison.ratio)} {comparison.verdict_text}"
