"""The server stands still from time to time."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis
from lab.analysis.causes.signs import LOST_SHARE, STALL_LEAST, Signs
from lab.model.diagnosis import Cause

NAME = "stalls"


def _shows(s: Signs) -> Cause | None:
    resent = s.get("tcp.TCPSynRetrans") or 0.0
    if s.stalled <= LOST_SHARE or s.get("listener.drops") or resent >= 1:
        return None
    return Cause(
        NAME,
        f"{s.stalls:,} replies took longer than {STALL_LEAST * 1e3:.0f} ms and far longer than the "
        f"median of {s.p50 * 1e3:.3g} ms: {s.stalled:.0%} of the clients' time",
        phrases.against(
            phrases.drops(s),
            "no handshake was sent again" if resent == 0 else "",
            phrases.server(s),
        ),
    )


HYPOTHESIS = Hypothesis(NAME, _shows)
