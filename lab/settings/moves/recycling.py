"""The replacement of workers by age, requests or memory."""

from __future__ import annotations

from lab.model.plan import Arm
from lab.settings.moves.move import Move, drop

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
