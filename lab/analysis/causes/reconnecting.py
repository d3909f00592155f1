"""Every request pays for a connection of its own, which is a large part of the work."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import Signs
from lab.config.moves import keepalive
from lab.model.diagnosis import Cause

NAME = "reconnecting"

NONE_REUSED = 0.9
"""Connections per reply from which none is used again."""

KERNEL_SHARE = 0.3
"""Of the server's CPU. Workers with one connection per request: at 0.35 keeping them saves a
quarter of the CPU per request, at 0.15 (this project's own application) less than a tenth."""


def _shows(s: Signs) -> Cause | None:
    if s.connects < NONE_REUSED or s.system is None or s.system < KERNEL_SHARE or not s.at_limit:
        return None
    if s.settings.routed:  # the router connects to a worker for each request, come what may
        return None
    return Cause(
        NAME,
        f"{s.connects:.2f} connections per reply, and the kernel used {s.system:.0%} of the "
        "server's CPU",
        phrases.against(phrases.server(s), phrases.generator(s), phrases.drops(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, When.FULL_LOAD, move=keepalive.kept)
