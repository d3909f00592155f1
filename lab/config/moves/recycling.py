"""The replacement of workers by age, requests or memory."""

from __future__ import annotations

from lab.config.moves.move import Move
from lab.config.steps import Drop
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
    written = dict(arm.profile.options)
    steps = tuple(Drop(option) for option in RECYCLING if option in written)
    return Move("no-recycling", "no recycling of workers", steps) if steps else None
