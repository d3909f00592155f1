"""Workers were replaced in the window, and it was felt."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis
from lab.analysis.causes.signs import LOST_SHARE, Signs
from lab.config.moves import recycling
from lab.model.diagnosis import Cause

NAME = "respawning"


def _shows(s: Signs) -> Cause | None:
    replaced = s.get("server.respawned") or 0.0
    idle = s.load.rate is None and s.share is not None and not s.at_limit
    every = s.settings.processes is not None and replaced >= s.settings.processes
    if replaced < 1 or not (idle or every or s.stalled > LOST_SHARE):
        return None
    return Cause(
        NAME,
        f"{replaced:.0f} worker processes began in the window; {s.stalls:,} replies took far "
        f"longer than the median, {s.stalled:.0%} of the clients' time",
        phrases.against(phrases.server(s), phrases.drops(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, move=recycling.without)
