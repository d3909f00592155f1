"""The replacement of workers by age, requests or memory."""

from __future__ import annotations

from lab.dialects.moves.move import Move, drop
from lab.model.plan import Arm

RECYCLING = (
    "evil-reload-on-as",
    "evil-reload-on-rss",
    "max-requests",
    "max-requests-delta",
    "max-worker-lifetime",
    "max-worker-lifetime-delta",
    "min-worker-lifetime",
    "reload-on-as",
    "reload-on-rss",
)


def without(arm: Arm) -> Move | None:
    """Keep the workers."""
    return drop(arm.profile, "no-recycling", "no recycling of workers", *RECYCLING)
