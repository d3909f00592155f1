"""A backing service that is measured along, such as a database, had no more to give."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import IDLE_CORE, Signs
from lab.analysis.gates import BUSY
from lab.analysis.gates.backing import SATURATED
from lab.model.diagnosis import Cause
from lab.model.wording import counted

NAME = "backend"


def _shows(s: Signs) -> Cause | None:
    if s.backend is None:
        return None
    each = f"{(s.each('backend.cpu') or 0.0) * 1e6:,.0f} µs of CPU per reply"
    if _no_core_left(s):
        # The one that uses more of them limits.
        if s.backend < (s.used or 0.0):
            return None
        seen = f"the backend used {s.backend:.2f} and the server {s.used:.2f} of "
        seen += f"{counted(s.cores or 0.0, 'core')}; {each} are the backend's"
    else:
        # Without an idle core, who waits for a CPU waits for the one that the server has.
        busiest = s.get("backend.busiest") or 0.0
        if busiest < SATURATED or (s.get("server.idle") or 0.0) < IDLE_CORE:
            return None
        seen = f"the backend ran or waited for a CPU for {busiest:.0%} of the time, {each}"
    return Cause(
        NAME, seen, phrases.against(phrases.server(s), phrases.generator(s), phrases.drops(s))
    )


def _no_core_left(s: Signs) -> bool:
    """Return whether server and backend together used up the cores that they share."""
    if s.used is None or s.capacity is None or s.backend is None:
        return False
    return s.used + s.backend >= BUSY * (s.capacity + s.backend)


HYPOTHESIS = Hypothesis(NAME, _shows, When.FULL_LOAD)
