"""A backing service that is measured along, such as a database, had no more to give."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import Signs
from lab.analysis.gates.backing import SATURATED
from lab.model import Cause

NAME = "backend"


def _shows(s: Signs) -> Cause | None:
    busiest = s.get("backend.busiest")
    if busiest is None or busiest < SATURATED:
        return None
    return Cause(
        NAME,
        f"the backend ran or waited for a CPU for {busiest:.0%} of the time, "
        f"{(s.each('backend.cpu') or 0.0) * 1e6:,.0f} µs of CPU per reply",
        phrases.against(phrases.server(s), phrases.generator(s), phrases.drops(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, When.FULL_LOAD)
