"""Tasks waited for memory."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis
from lab.analysis.causes.signs import Signs
from lab.config.moves import processes
from lab.model.diagnosis import Cause

NAME = "memory"

MEMORY_PRESSURE = 0.01
"""Share of the time in which some task waited for memory; 0 as long as there is enough."""


def _shows(s: Signs) -> Cause | None:
    waited = s.get("pressure.memory_some") or 0.0
    if waited <= MEMORY_PRESSURE:
        return None
    return Cause(
        NAME,
        f"some task of this machine waited for memory in {waited:.1%} of the time",
        phrases.against(phrases.server(s), phrases.generator(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, move=processes.halved)
