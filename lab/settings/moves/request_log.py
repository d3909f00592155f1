"""The log of requests."""

from __future__ import annotations

from lab import settings
from lab.model.plan import Arm
from lab.settings.moves.move import Move, set_options


def without(arm: Arm) -> Move | None:
    """Log no requests."""
    if not settings.of(arm.profile).logs:
        return None
    return set_options(arm.profile, "disable-logging", "disable-logging", disable_logging="true")
