"""One process of one thread does the work and cannot do more, and a core is idle."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import IDLE_CORE, Signs
from lab.analysis.gates import BUSY
from lab.config.moves import processes
from lab.model.diagnosis import Cause

NAME = "single worker"

ALONE = 0.3
"""Cores that all other processes of the server use at the most, when one does the work."""


def _shows(s: Signs) -> Cause | None:
    busiest, idle = s.get("server.busiest"), s.get("server.idle")
    if busiest is None or idle is None or busiest < BUSY or idle < IDLE_CORE:
        return None
    if not _alone(s, busiest) or s.threads > 1 or s.settings.processes not in {1, None}:
        return None
    return Cause(
        NAME,
        f"one process used {busiest:.2f} core with {idle:.2f} idle cores beside it",
        phrases.against(phrases.generator(s), phrases.switches(s), phrases.drops(s)),
    )


def _alone(s: Signs, busiest: float) -> bool:
    """Return whether the busiest process does the server's work, and is not the router."""
    routed = s.get("server.router") or 0.0
    return routed < busiest and (s.used or 0.0) - busiest - routed < ALONE


HYPOTHESIS = Hypothesis(NAME, _shows, When.FULL_LOAD, move=processes.second)
