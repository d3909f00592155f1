"""
A comparison while it goes on, for the web UI: what the trials so far say, and what is still to do.

Locust's process is also the load generator's, in one thread. So all that takes time is computed
between two trials, when no server runs, and a look at the page costs the formatting of a few
strings.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lab.analysis.confirm import limited_by
from lab.analysis.summary import Row, Summary, summarise
from lab.experiment.conduct import Outcome, Prepared
from lab.experiment.plan import pilot
from lab.model import Comparison, CounterRun, Role, Run, Slot, Trial
from lab.report.causes import standing_of
from lab.report.numbers import UNKNOWN, quantity, ratio

COLUMNS = {
    "name": "Profile",
    "trials": "Trials",
    "valid": "Valid",
    "throughput": "Requests/s (median)",
    "cpu": "CPU a request (µs)",
    "p99": "p99 (ms)",
    "throughput_ratio": "Requests/s, over the first profile's",
    "cpu_ratio": "CPU a request, over the first profile's",
    "limited_by": "Limited by",
    "now": "Now",
}
"""Columns of the table of profiles: key -> title. Locust wants the first to be `name`."""

MEDIANS = ("throughput", "cpu", "p99")
RATIOS = ("throughput", "cpu")
"""Metrics that the table shows."""

NOTE = "Run folder: "
"""How the note begins with which `lab.experiment.conduct` names the folder of a run cut short."""


class Live:
    """One comparison, which is told what `lab.experiment.runner.Observer` is told."""

    def __init__(self, prepared: Prepared, command: Sequence[str], generator: str) -> None:
        """
        Begin with no trial.

        Args:
            prepared: What is going to be run.
            command: The command that repeats it.
            generator: Its generator's name.
        """
        plan = prepared.plan
        run = Run("under way", shlex.join(command), plan, {}, (), prepared.skipped, generator)
        self.summary: Summary = summarise(run)
        """Of the trials so far; in the end what is in the run's folder."""
        self.folder: Path | None = None
        """The run's, at its end; None when it ended before its first trial."""
        self.stopped: tuple[str, ...] | None = None
        """Lines that say why it ended before all of the plan was carried out."""
        self._complete = False
        self._trials: list[Trial] = []
        self._planned = plan.blocks * (len(plan.profiles) + 1)
        self._done: set[tuple[int, int]] = set()
        self._now: tuple[Slot, int, str] | None = None
        self._expected = prepared.seconds
        self._began = time.monotonic()

    # -- what the runner says ----------------------------------------------------------------------

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Remember what goes on."""
        self._now = slot, attempt, stage

    def finished(self, trial: Trial) -> None:
        """Take one more trial into account."""
        self._trials.append(trial)
        self._done.add((trial.slot.block, trial.slot.position))
        self.summary = summarise(replace(self.summary.run, trials=tuple(self._trials)))

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Count in the trials that confirm causes."""
        plan = self.summary.run.plan
        self._planned += len(counters) * (plan.blocks - pilot(plan))
        run = replace(self.summary.run, counters=tuple(counters))
        self.summary = replace(self.summary, run=run)

    def ended(self, outcome: Outcome) -> None:
        """Take the end's word for everything."""
        self.folder, self.summary = outcome.folder, outcome.summaries[0]
        self._complete = True

    def interrupted(self, error: BaseException) -> None:
        """Remember what ended it early; a note on *error* names the folder."""
        notes: Sequence[str] = getattr(error, "__notes__", ())
        # What the STOP button raises in the middle of a run has no words of its own.
        self.stopped = (str(error) or "Stopped.", *notes)
        folders = [note.removeprefix(NOTE) for note in notes if note.startswith(NOTE)]
        self.folder = Path(folders[0]) if folders else None

    # -- what is shown -----------------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether trials are still to come."""
        return self.state == "under way"

    @property
    def state(self) -> str:
        """Return "under way", "done" or "ended early"."""
        if self._complete:
            return "done"
        return "under way" if self.stopped is None else "ended early"

    @property
    def percent(self) -> int:
        """Return how many of the trials are done."""
        return 100 * len(self._done) // self._planned

    def progress(self) -> str:
        """Say how far it is, in a line."""
        done = f"{len(self._done)} of {self._planned} trials"
        if not self.under_way:
            return done
        return f"{done}, {_left(self._remaining())}"

    def now(self) -> str:
        """Say what is being done at this moment; empty when nothing is."""
        if self._now is None or not self.under_way:
            return ""
        return f"{self._now[0].arm.name}: {self._stage(*self._now)}"

    def _stage(self, slot: Slot, attempt: int, stage: str) -> str:
        arm = {Role.AA: ", for the A/A arm", Role.COUNTER: ", a counter-run"}.get(slot.arm.role, "")
        again = ", again" if attempt else ""
        blocks = self.summary.run.plan.blocks
        return f"block {slot.block + 1} of {blocks}{arm}{again}: {stage}"

    def rows(self) -> Iterator[dict[str, str]]:
        """Yield the table of profiles in ladder order: text by the keys of `COLUMNS`."""
        plan, summary = self.summary.run.plan, self.summary
        steps = {step.profile: step.baseline for step in summary.steps}
        for row in summary.rows:
            name = row.profile.name
            if name == plan.reference:
                ratios = {metric: f"A/A {_ratio(summary.aa[metric])}" for metric in RATIOS}
            else:
                # A reference line is a row, and no step.
                compared = steps.get(name, {})
                ratios = {metric: _ratio(compared.get(metric)) for metric in RATIOS}
            yield {
                "name": name,
                "trials": f"{row.total} of {plan.blocks}",
                "valid": _valid(row),
                **{metric: quantity(metric, row.values.get(metric)) for metric in MEDIANS},
                **{f"{metric}_ratio": text for metric, text in ratios.items()},
                "limited_by": cause(summary, name) or UNKNOWN,
                "now": self._stage(*self._now) if self._now and self._concerns(name) else "",
            }

    def _concerns(self, profile: str) -> bool:
        """Return whether the trial under way is one of *profile*, or a counter-run of it."""
        if self._now is None or not self.under_way:
            return False
        counters = {each.arm.name: each.of for each in self.summary.run.counters}
        ran = self._now[0].arm.name
        return counters.get(ran, ran) == profile

    def _remaining(self) -> float:
        """Return seconds, from the pace so far."""
        if not self._done:
            return self._expected
        pace = (time.monotonic() - self._began) / len(self._done)
        return pace * (self._planned - len(self._done))


def cause(summary: Summary, profile: str) -> str:
    """Return what limits *profile*, and how far that is proved; empty when nothing explains it."""
    found = limited_by(summary.diagnoses.get(profile, ()))
    return standing_of(found) if found is not None else ""


def _valid(row: Row) -> str:
    """Say how many trials count, and which gates the others met."""
    gates = [tally.gate for tally in row.tallies if tally.example.withholds != frozenset()]
    return f"{row.valid} of {row.total}" + (f": {', '.join(gates)}" if gates else "")


def _ratio(comparison: Comparison | None) -> str:
    if comparison is None or comparison.ratio is None:
        return UNKNOWN
    return f"{ratio(comparison.ratio)} {comparison.verdict.value}"


def _left(seconds: float) -> str:
    """
    Say how long it still takes.

    >>> _left(250)
    'about 5 min left'
    """
    return (
        f"about {round(seconds)} s left"
        if seconds < 90
        else f"about {-(-seconds // 60):.0f} min left"
    )
