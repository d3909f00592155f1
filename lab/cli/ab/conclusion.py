"""What one run of two versions comes to, or two of which the second has to agree."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.ending import blocks_to_tell
from lab.analysis.judging import FAILED, UNJUDGED, Judgement, ThresholdOutcome
from lab.analysis.undecided import seconds_of
from lab.bench.trials.conduct import Outcome
from lab.model.measurement import Run
from lab.report import opening, summary_json
from lab.report.thresholds import judgement_line
from lab.report.versions import sentence

BROKEN = 1
"""Exit status where a version does not run."""

UNCONFIRMED = 3
"""Exit status where a second run does not agree with the first."""


def verdict_line(judgement: Judgement, run: Run) -> str:
    """Return what a run says to one limit, in a line; of one that is open what would tell."""
    line = judgement_line(judgement)
    if judgement.outcome is not ThresholdOutcome.OPEN:
        return line
    if judgement.bound is not None:  # which says itself what it is for want of
        return line
    blocks = blocks_to_tell(judgement, run)
    if blocks is None:
        return f"{line} Use a wider limit or a quieter machine."
    more = f"--blocks {blocks}"
    if run.plan.minutes is not None:
        minutes = math.ceil(blocks / run.blocks * seconds_of(run) / 60)
        more = f"--minutes {max(minutes, int(run.plan.minutes) + 1)}"
    return f"{line} About {more} would decide it, or a wider limit."


@dataclass(frozen=True, slots=True)
class PairRun:
    """One run of both versions."""

    outcome: Outcome
    differs: Sequence[str]
    """In what they differ, in lines."""
    verdicts: Sequence[str]
    """What it says to each limit, in lines."""
    crossed: frozenset[str]
    """Limits that the trials cross."""
    counted: int
    """Exit status of the limits on counts."""
    status: int
    """Its exit status."""
    untold: Sequence[str] = ()
    """Limits that are inconclusive."""

    def answer(self, metric: str) -> str:
        """Return what it comes to, in a sentence that has a metric's ratio."""
        text = sentence(self.outcome.conclusion, metric)
        if self.status == BROKEN:
            return f"a version failed in half of its trials or more: {text}"
        if self.status != UNJUDGED:
            return text
        if not self.untold:
            return f"inconclusive: this run was too noisy: {text}"
        return f"inconclusive: this run could not decide whether {', '.join(self.untold)}: {text}"


@dataclass(frozen=True, slots=True)
class PairConclusion:
    """What one run comes to, or two."""

    first: PairRun
    wanted: bool
    """Whether a crossed limit has to be confirmed."""
    second: PairRun | None = None

    @property
    def is_waited_for(self) -> bool:
        """Whether a second run has to agree. A count has no noise, and needs none."""
        return self.wanted and bool(self.first.crossed) and self.first.counted != FAILED

    @property
    def agreed(self) -> bool | None:
        """Whether both cross the same limit; None where a second run is not needed."""
        if not self.is_waited_for:
            return None
        return self.second is not None and bool(self.first.crossed & self.second.crossed)

    @property
    def status(self) -> int:
        """The exit status."""
        if self.agreed is not False:
            return self.first.status
        broken = self.second is not None and self.second.status == BROKEN
        return BROKEN if broken else UNCONFIRMED

    def answer(self, metric: str) -> str:
        """Return what it comes to, in a sentence that has a metric's ratio."""
        if self.agreed is False and self.second is not None:
            text = sentence(self.first.outcome.conclusion, metric)
            unconfirmed = "a limit is crossed, but the second run did not confirm it"
            return f"inconclusive: {unconfirmed}: {text}"
        return self.first.answer(metric)

    @property
    def verdicts(self) -> Sequence[str]:
        """What both runs say, in lines."""
        return [*self.first.verdicts, *self.verdicts_of_second]

    @property
    def verdicts_of_second(self) -> Sequence[str]:
        """What the second run says, in lines; none before it was made."""
        return [f"second run: {line}" for line in self.second.verdicts] if self.second else []

    @property
    def end(self) -> str:
        """What the exit status means, in a line."""
        if self.status != UNCONFIRMED or self.agreed is not False:
            conclusion = self.first.outcome.conclusion if self.status == UNJUDGED else None
            return opening.exit_text(self.status, conclusion)
        why = "does not agree" if self.second else "did not end"
        return f"exit {UNCONFIRMED}: a limit is crossed and not confirmed: the second run {why}"

    @property
    def json(self) -> str:
        """The first run's summary, and beside it what `lab ab` makes of it."""
        fields = {"exit_code": self.status, "confirmed": self.agreed, "told": self.verdicts}
        summary = json.loads(summary_json.render(self.first.outcome.conclusion))
        return json.dumps(summary | {"ab": fields}, indent=1, sort_keys=True)
