"""The client was at its limit and the server was not."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis
from lab.analysis.causes.signs import Signs
from lab.analysis.gates.effort import GENERATOR_BOUND
from lab.analysis.gates.open_loop import LATE_GENERATOR
from lab.model.diagnosis import Cause

NAME = "generator"


def _shows(s: Signs) -> Cause | None:
    seen = s.gates.get(GENERATOR_BOUND) or s.gates.get(LATE_GENERATOR)
    if seen is None:
        return None
    return Cause("generator", seen, phrases.against(phrases.server(s), phrases.drops(s)))


HYPOTHESIS = Hypothesis(NAME, _shows)
