"""
The state of a run for the web UI: the results so far, and the progress.

Locust's process also generates the load, in the same thread. So results are computed between two
trials, when no server runs, and only if somebody has asked for them since.
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
from lab.analysis.summary import Row, StepComparison, Summary
from lab.analysis.sweep import conclude_run
from lab.bench.trials.conduct import Outcome, PreparedRun
from lab.bench.trials.plan import named
from lab.bench.trials.progress import Course
from lab.model.comparison import Comparison, Departure
from lab.model.measurement import Run, Trial
from lab.model.metric import METRICS, shown
from lab.model.numbers import quantity, ratio
from lab.model.plan import CounterRun, Load, Plan, Role, Slot
from lab.model.wording import UNKNOWN, counted
from lab.report.causes import standing_of
from lab.report.files import pages
from lab.report.headline import ANOTHER

MEDIANS = {name: metric.live for name, metric in METRICS.items() if metric.live}
"""Metrics whose medians the table of profiles shows -> title of the column."""

RATIOS = {
    name: f"{MEDIANS[name].partition(' (')[0]}, over the first profile's" for name in shown(Load())
}
"""Metrics whose ratios the table of profiles shows -> title of the column."""

COLUMNS = {
    "name": "Profile",
    "trials": "Trials",
    "valid": "Valid",
    **MEDIANS,
    **{f"{name}_ratio": title for name, title in RATIOS.items()},
    "limited_by": "Limited by",
    "now": "Now",
}
"""Columns of the table of profiles: key -> title. Locust requires the first to be `name`."""

PAUSE_FACTOR = 20
"""A value is not computed again for this many times the seconds that it took: at most 5 % of the
run."""

T = TypeVar("T")


class CachedValue(Generic[T]):
    """A value that is computed again between two trials, if somebody has read it since."""

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute = compute
        self._value = compute()
        self._was_read = False
        self._fresh_until = 0.0
        self.version = 0
        """How often the value has changed."""

    def get(self) -> T:
        """Return the value as it was computed last."""
        self._was_read = True
        return self._value

    def refresh(self) -> None:
        """Compute the value again, unless nobody has read it, or the last time is too recent."""
        began = time.monotonic()
        if self._was_read and began >= self._fresh_until:
            self.set(self._compute())
            self._was_read = False
            ended = time.monotonic()
            self._fresh_until = ended + PAUSE_FACTOR * (ended - began)

    def set(self, value: T) -> None:
        """Replace the value."""
        self._value = value
        self.version += 1


class Live:
    """The state of one run; also the `lab.bench.trials.runner.Observer` of its trials."""

    def __init__(self, prepared: PreparedRun, command: Sequence[str], generator: str) -> None:
        """
        Begin without a trial.

        Args:
            prepared: The run.
            command: The command that repeats the run.
            generator: The name of the load generator.
        """
        plan = prepared.plan
        self._run = Run("under way", shlex.join(command), plan, {}, (), prepared.skipped, generator)
        self._course = Course(plan)
        self._now: tuple[Slot, int, str] | None = None
        self._outcome: Outcome | None = None
        self.conclusions = CachedValue(self._conclude)
        """The conclusions of the trials so far, one for each rate."""
        self.pages = CachedValue(self._render_pages)
        """The report of the blocks so far: name -> HTML; empty during the first block."""
        self.folder: Path | None = None
        """The folder of the run; None until it ends, and if it ended before its first trial."""
        self.stopped: tuple[str, ...] | None = None
        """Lines that say why the run ended early; None: it did not."""

    # -- the observer of the trials ----------------------------------------------------------------

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Store the stage of the current trial; refresh the report at the start of a block."""
        begins_block = self._now is not None and slot.block > self._now[0].block
        self._now = slot, attempt, stage
        if begins_block:
            self.pages.refresh()

    def finished(self, trial: Trial) -> None:
        """Add a trial to the results."""
        self._run = replace(self._run, trials=(*self._run.trials, trial))
        self._course.finished(trial.slot)
        self.conclusions.refresh()

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Add counter-runs to the rest of the run."""
        self._run = replace(self._run, counters=tuple(counters))
        self._course.confirming(counters)

    def leaving(self, departures: Sequence[Departure]) -> None:
        """Remove arms from the rest of the run."""
        self._course.leaving(departures)

    def ended(self, outcome: Outcome) -> None:
        """Show the final conclusions and pages."""
        self._outcome = outcome
        self.conclusions.set(outcome.conclusion.points)
        self._show_pages_of(outcome.folder)

    def interrupted(self, error: BaseException) -> None:
        """Show why the run ended early; see `lab.errors.LabError.folder` for its folder."""
        # The STOP button raises an exception without a message.
        self.stopped = (str(error) or "Stopped.", *getattr(error, "__notes__", ()))
        self.conclusions.set(self._conclude())
        self._show_pages_of(getattr(error, "folder", None))

    def _show_pages_of(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            files = sorted(folder.glob("report*.html"))
            self.pages.set({file.name: file.read_text(encoding="utf-8") for file in files})

    # -- the views ---------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """Return "under way", "done" or "ended early"."""
        if self._outcome is not None:
            return "done"
        return "under way" if self.stopped is None else "ended early"

    @property
    def percent(self) -> int:
        """Return the share of the trials that are done, in percent."""
        return 100 if self.state == "done" else 100 * self._course.done // max(1, self._planned)

    def progress(self) -> str:
        """Return a line: the trials done, all trials, and the time left."""
        done, limited = self._course.done, self._run.plan.minutes is not None
        if self.state != "under way":
            return counted(done, "trial") if limited else f"{done} of {self._planned} trials"
        about = "about " if limited else ""
        left = self._course.left() if limited else f"about {self._course.left()}"
        return f"{done} of {about}{self._planned} trials, {left}"

    @property
    def _planned(self) -> int:
        return self._course.planned

    def now(self) -> str:
        """Return a line about the current trial; empty if no trial runs."""
        if self._now is None or self.state != "under way":
            return ""
        return f"{self._now[0].arm.name}: {self._stage(*self._now)}"

    def _stage(self, slot: Slot, attempt: int, stage: str) -> str:
        roles = {Role.AA: ", for the noise check", Role.COUNTER: ", a counter-run"}
        role, again = roles.get(slot.arm.role, ""), ", again" if attempt else ""
        return f"block {_of_blocks(slot.block + 1, self._run.plan)}{role}{again}: {stage}"

    def rows(self) -> Iterator[dict[str, str]]:
        """Yield the rows of the table of profiles: key of `COLUMNS` -> text."""
        for conclusion, row, name in self._rows():
            summary = conclusion.summary
            ratios = {metric: _ratio_to_first(summary, row, metric) for metric in RATIOS}
            if row.profile.name == summary.run.plan.reference:
                ratios = {metric: f"noise check {_ratio(summary.aa[metric])}" for metric in RATIOS}
            yield {
                "name": name,
                "trials": _of_blocks(row.total, summary.run.plan),
                "valid": _valid(row),
                **{metric: quantity(metric, row.values.get(metric)) for metric in MEDIANS},
                **{f"{metric}_ratio": text for metric, text in ratios.items()},
                "limited_by": _limited_by(conclusion, row) or UNKNOWN,
                "now": self._stage(*self._now) if self._now and self._is_current(name) else "",
            }

    def figures(self) -> Iterator[dict[str, object]]:
        """Yield the rows for programs: numbers with all digits, None for unknown ones."""
        for conclusion, row, name in self._rows():
            summary = conclusion.summary
            figures: dict[str, object] = {
                "profile": name,
                "trials": row.total,
                "planned": None if summary.run.plan.minutes else summary.run.plan.blocks,
                "valid": row.valid,
            }
            for metric in MEDIANS:
                value = row.values.get(metric)
                scaled = None if value is None else f"{value * METRICS[metric].scale:.6g}"
                figures[f"{metric} [{METRICS[metric].unit}]"] = scaled
            for metric in RATIOS:
                comparison = _compared_with_first(summary, row, metric)
                interval = comparison.ratio if comparison is not None else None
                figures[f"{metric} ratio"] = getattr(interval, "value", None)
                for part in ("low", "high", "n"):
                    figures[f"{metric} {part}"] = getattr(interval, part, None)
                verdict = comparison.verdict.value if comparison and interval else None
                figures[f"{metric} verdict"] = verdict
            yield figures | {"limited by": _limited_by(conclusion, row)}

    def _conclude(self) -> tuple[Conclusion, ...]:
        return tuple(map(conclude, summaries(self._run)))

    def _rows(self) -> Iterator[tuple[Conclusion, Row, str]]:
        """Yield the rows in ladder order, each with its conclusion and name; rates one by one."""
        conclusions = self.conclusions.get()
        for conclusion in conclusions:
            at = conclusion.summary.run.plan.arms[0].at if len(conclusions) > 1 else {}
            for row in conclusion.summary.rows:
                yield conclusion, row, named(row.profile.name, at)

    def _is_current(self, name: str) -> bool:
        """Return whether the current trial is one of the row, or of its counter-run."""
        if self._now is None or self.state != "under way":
            return False
        current = self._now[0].arm.name
        counters = self._run.counters
        rows = {counter.arm.name: named(counter.of, counter.arm.at) for counter in counters}
        return rows.get(current, current) == name

    def _render_pages(self) -> dict[str, str]:
        """Return the report of the complete blocks: name -> HTML."""
        complete = self._now[0].block if self._now is not None else 0
        if not complete:
            return {}
        plan = replace(self._run.plan, blocks=complete)
        trials = tuple(trial for trial in self._run.trials if trial.slot.block < complete)
        so_far = summaries(replace(self._run, plan=plan, trials=trials))
        return dict(pages(Path("report.html"), conclude_run(so_far)))


def _of_blocks(number: int, plan: Plan) -> str:
    """Return a number with the number of all blocks, if that is known in advance."""
    return str(number) if plan.minutes is not None else f"{number} of {plan.blocks}"


def _step(summary: Summary, row: Row) -> StepComparison | None:
    """Return the comparisons of a row; None for the first profile and for reference lines."""
    return next((step for step in summary.steps if step.profile == row.profile.name), None)


def _compared_with_first(summary: Summary, row: Row, metric: str) -> Comparison | None:
    step = _step(summary, row)
    return None if step is None else step.baseline.get(metric)


def _ratio_to_first(summary: Summary, row: Row, metric: str) -> str:
    """Return the ratio to the first profile, and whether that serves another application."""
    text, step = _ratio(_compared_with_first(summary, row, metric)), _step(summary, row)
    other = text != UNKNOWN and step is not None and step.other_than_baseline
    return f"{text}, {ANOTHER}" if other else text


def _limited_by(conclusion: Conclusion, row: Row) -> str:
    """Return what limits a profile, and how sure that is; empty: unexplained."""
    limit = conclusion.limit_of(row.profile.name)
    return standing_of(limit) if limit is not None else ""


def _valid(row: Row) -> str:
    """Return the number of valid trials, and the gates of the others."""
    gates = [tally.gate.name for tally in row.tallies if tally.example.withholds != frozenset()]
    return f"{row.valid} of {row.total}" + (f": {', '.join(gates)}" if gates else "")


def _ratio(comparison: Comparison | None) -> str:
    if comparison is None or comparison.ratio is None:
        return UNKNOWN
    return f"{ratio(comparison.ratio)} {comparison.verdict_text}"
