"""The client was at its limit and the server was not."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis
from lab.analysis.causes.signs import Signs
from lab.model.diagnosis import Cause

NAME = "generator"


def _shows(s: Signs) -> Cause | None:
    seen = s.gates.get("generator-bound") or s.gates.get("late generator")
    if seen is None:
        return None
    return Cause("generator", seen, phrases.against(phrases.server(s), phrases.drops(s)))


HYPOTHESIS = Hypothesis(NAME, _shows)
