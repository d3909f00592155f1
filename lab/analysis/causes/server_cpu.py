"""The server computes with all that it has, and nothing odd is seen: the legal limit."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import Signs
from lab.config.moves import application
from lab.model.diagnosis import Cause
from lab.model.wording import counted

NAME = "server CPU"


def _shows(s: Signs) -> Cause | None:
    if not s.at_limit or s.used is None or s.cpu is None or s.cores is None:
        return None
    limit = counted(s.cores, "core")
    if s.capacity is not None and s.capacity < 0.95 * s.cores:
        limit += f", of which others left it {max(s.capacity, s.used):.2f}"
    return Cause(
        NAME,
        f"the server used {s.used:.2f} of {limit}; {s.cpu * 1e6:,.0f} µs a reply",
        phrases.against(phrases.generator(s), phrases.drops(s), phrases.switches(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, When.LAST, move=application.smallest)
