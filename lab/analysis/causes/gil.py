"""The threads of one busy process take turns, and a core is idle."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import IDLE_CORE, Signs
from lab.analysis.gates import BUSY
from lab.config.moves import processes
from lab.model.diagnosis import Cause

NAME = "GIL"

GIL_SWITCHES = 0.2
"""Voluntary switches per reply. Threads that hand the interpreter lock on show 0.3-1.3, processes
of one thread at full load 0.01-0.04."""

GIL_BUSIEST = 1.1
"""Cores above which the threads of a process do run side by side, so that no lock holds them."""


def _shows(s: Signs) -> Cause | None:
    busiest, idle, switches = s.get("server.busiest"), s.get("server.idle"), s.switches
    if busiest is None or idle is None or switches is None or s.threads < 2:
        return None
    if not BUSY <= busiest <= GIL_BUSIEST or idle < IDLE_CORE or switches < GIL_SWITCHES:
        return None
    if (s.get("server.router") or 0.0) >= busiest:
        return None
    return Cause(
        NAME,
        f"a process of {s.threads} threads used {busiest:.2f} core, no more than one thread "
        f"could, with {idle:.2f} idle cores beside it and {switches:.2g} voluntary switches "
        "per reply",
        phrases.against(phrases.generator(s), phrases.drops(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, When.FULL_LOAD, move=processes.instead_of_threads)
