"""The duet: both at once, judged by the ratios of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.stats import paired
from studies.judges.cut import Decision, Row

PAIRS = 10


@dataclass(frozen=True, slots=True)
class DuetJudge:
    """
    Says that the head is slower where the interval of the mean ratio lies above 1, at 95 %.

    Whatever the machine does, it does to both. Source: Bulej et al., Duet Benchmarking, ICPE 2020;
    the interval is Student's of the logarithms, since a bootstrap of ten pairs is too narrow.
    """

    name: str
    metric: str
    duets: bool = True
    in_a_row: int = 0

    def judge(self, rows: Sequence[Row]) -> Decision | None:
        """Judge from the first of *rows* on; None where they end before it has decided."""
        if len(rows) < PAIRS:
            return None
        ratios = []
        for row in rows[:PAIRS]:
            old = row.old.cost(self.metric)
            new = row.new.cost(self.metric) if row.new is not None else None
            if old and new:
                ratios.append(math.log(new / old))
        decided = len(ratios) > 1
        red = decided and paired(ratios).low > 1
        return Decision(red, decided, PAIRS, 2 * PAIRS)
