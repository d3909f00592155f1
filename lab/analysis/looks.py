"""
When a comparison ends, and at which level its interval is judged.

A run of a fixed number of blocks is judged once, at 95 %. A run of minutes is looked at after some
of its blocks. What is beyond doubt at a look ends there, at 99.5 %; what is open at the end of the
time is judged at 96 %. The interval that is reported holds the truth in 95 % of cases or more,
whichever of the two it is (simulated, `tests/analysis/test_margin.py`). A run that somebody stops
may have been stopped because its figures pleased. What is open then is judged at 98.76 %: see
`STOPPED`.

Sources: Haybittle, Br. J. Radiol. 44 (1971); Peto et al., Br. J. Cancer 34 (1976); Pocock,
Biometrika 64 (1977).
"""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.compare import LEAST_FLOOR, Side, aa_side, compare, floor, profile_side
from lab.analysis.observations import Observation
from lab.analysis.stats import CONFIDENCE
from lab.model.comparison import Comparison
from lab.model.measurement import Run
from lab.model.plan import Plan

EARLY = 0.995
"""Level at a look."""

END = 0.96
"""Level of what is open when a run ends by itself: the data did not choose that moment."""

STOPPED = 0.9876
"""Level of what is open when a run was stopped. The first six looks at this level together err in
5 % of runs, all eight in 6 %."""

SMALL = 0.05
"""A comparison ends where the change is below this share: nothing worth minutes is left in it."""


def settled(comparison: Comparison) -> bool:
    """
    Return whether more blocks are not worth their time.

    It is better, worse, or below 5 %; or the generator's limit keeps it open, and not the noise.
    """
    if comparison.verdict.differs:
        return True
    if comparison.may_be is not None and comparison.blocks_needed is None:
        return True
    return comparison.below is not None and comparison.below <= SMALL


def level_of(plan: Plan) -> float:
    """Return the level of what is open when a run ends by itself."""
    return END if plan.looks else CONFIDENCE


def ended_early(comparison: Comparison) -> bool:
    """Return whether a look has ended the comparison."""
    ratio = comparison.ratio
    return ratio is not None and ratio.level == EARLY and settled(comparison)


class Comparisons:
    """The comparisons of a run, each judged as its plan says."""

    def __init__(self, run: Run, observations: Sequence[Observation]) -> None:
        """
        Compare nothing yet.

        Args:
            run: Its plan has the looks, if there are any.
            observations: Its trials, judged.
        """
        self._observations = observations
        self._reference = run.plan.reference
        self._against_both = run.plan.against_both
        self._end_of_side: dict[Side, int] = {}
        for item in observations:
            slot = item.trial.slot
            self._end_of_side[slot.arm.name, slot.arm.role] = slot.block + 1
        self._blocks_made = max(self._end_of_side.values(), default=0)
        # The last block of a run that is stopped, or under way, may lack some of its arms.
        self._whole_blocks = self._blocks_made if run.ended else self._blocks_made - 1
        self._looks = tuple(look for look in run.plan.looks if look <= self._whole_blocks)
        self._level = level_of(run.plan)
        if run.plan.looks and not run.ended:
            self._level = STOPPED
        # A run that ends at a look may have ended because all was decided then.
        self._end_chosen_by_data = run.ended and self._blocks_made in run.plan.looks
        self._floors: dict[tuple[str, int], float] = {}

    def of(
        self,
        metric: str,
        changed: Side,
        reference: Side,
        observations: Sequence[Observation] | None = None,
    ) -> Comparison:
        """
        Compare one side with another: at the look that ended it, else at the end.

        Args:
            metric: By which.
            changed: The numerator; see `lab.analysis.compare.compare`.
            reference: The denominator.
            observations: Others than the run's, such as with metrics that a gate withholds.
        """
        items = self._observations if observations is None else observations
        sides = changed, reference
        for look in self._looks:
            so_far = [item for item in items if item.trial.slot.block < look]
            comparison = self._compared(so_far, metric, sides, self.floor(metric, look), EARLY)
            if settled(comparison) or self._stopped_at(look, changed, reference):
                return comparison
        return self._compared(items, metric, sides, self.floor(metric), self._level)

    def whole(self, metric: str, changed: Side, reference: Side) -> Comparison:
        """
        Compare by all pairs that there are, also those after the look that ended the comparison.

        For other questions than its verdict, such as a threshold: "slower" is no answer to
        "slower by more than 5 %?".
        """
        left = any(self._stopped_at(look, changed, reference) for look in self._looks)
        level = EARLY if left or self._end_chosen_by_data else self._level
        sides = changed, reference
        return self._compared(self._observations, metric, sides, self.floor(metric), level)

    def noise(self, metric: str, blocks: int | None = None) -> Comparison:
        """Return the A/A comparison of the first *blocks*, or of all; always at 95 %."""
        items = self._observations
        if blocks is not None:
            items = [item for item in items if item.trial.slot.block < blocks]
        sides = aa_side(self._reference), profile_side(self._reference)
        return compare(items, metric, *sides, LEAST_FLOOR, trim=self._against_both)

    def floor(self, metric: str, blocks: int | None = None) -> float:
        """Return the floor that the first *blocks* showed, or all; of ends that of the capacity."""
        key = metric, self._blocks_made if blocks is None else blocks
        if key not in self._floors:
            ends = self.noise(metric, blocks).between is not None
            self._floors[key] = floor(self.noise("capacity" if ends else metric, blocks))
        return self._floors[key]

    def _compared(
        self,
        items: Sequence[Observation],
        metric: str,
        sides: tuple[Side, Side],
        noise: float,
        level: float,
    ) -> Comparison:
        """Compare as the plan says: with its reference's second trials as well, and trimmed."""
        both = self._against_both
        again = (
            aa_side(self._reference) if both and sides[1] == profile_side(self._reference) else None
        )
        return compare(items, metric, *sides, noise, again=again, level=level, trim=both)

    def _stopped_at(self, look: int, *sides: Side) -> bool:
        """Return whether the run went on after *look* without one of the sides."""
        return look < self._whole_blocks and any(
            self._end_of_side.get(side) == look for side in sides
        )
