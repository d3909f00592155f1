"""Tasks waited for a disk while the server had CPU left."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis
from lab.analysis.causes.signs import Signs
from lab.config.moves import request_log
from lab.model.diagnosis import Cause

NAME = "I/O wait"

IO_PRESSURE = 0.05
"""Share of the time in which some task waited for a disk; a quiet machine shows below 0.01."""


def _shows(s: Signs) -> Cause | None:
    waited = s.get("pressure.io_some") or 0.0
    if waited <= IO_PRESSURE or s.at_limit or s.share is None:
        return None
    return Cause(
        NAME,
        f"some task of this machine waited for a disk in {waited:.0%} of the time",
        phrases.against(phrases.server(s), phrases.generator(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, move=request_log.without)
