"""Handshakes were dropped from a full queue, and clients waited for the kernel's retry."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Aim, Hypothesis, usual_aim
from lab.analysis.causes.signs import LOST_SHARE, Signs
from lab.analysis.gates import LATE
from lab.analysis.gates.network import ACCEPT_QUEUE
from lab.analysis.metrics import merged_latency
from lab.config.moves import listen
from lab.model.diagnosis import Cause
from lab.model.measurement import Window
from lab.model.plan import Arm, Better

NAME = "accept queue"

LATE_REPLIES = 0.02
"""Share of late replies from which p99 shows whether they are gone; below, throughput has to."""


def _shows(s: Signs) -> Cause | None:
    if ACCEPT_QUEUE not in s.gates or s.lost <= LOST_SHARE:
        return None
    return Cause(
        NAME,
        f"{s.get('listener.drops'):,.0f} handshakes dropped from a full accept queue, "
        f"{s.get('tcp.TCPSynRetrans') or 0:,.0f} sent again; {s.late:,} replies later than "
        f"{LATE:g} s; {s.lost:.0%} of the clients' time was spent waiting for retries",
        phrases.against(phrases.server(s), phrases.generator(s)),
    )


def _aim(arm: Arm, windows: Sequence[Window]) -> Aim:
    """Return p99 where late replies are many enough to show there; throughput else."""
    latency = merged_latency(windows)
    late = sum(count for us, count in latency.items() if us >= LATE * 1e6)
    if arm.load.rate is None and late / max(1, latency.total()) >= LATE_REPLIES:
        return "p99", Better.LOWER
    return usual_aim(arm, windows)


HYPOTHESIS = Hypothesis(NAME, _shows, move=listen.longer, aim=_aim)
