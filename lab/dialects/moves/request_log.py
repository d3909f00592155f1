"""The log of requests."""

from __future__ import annotations

from lab import dialects
from lab.dialects.moves.move import Move, set_options
from lab.model.plan import Arm


def without(arm: Arm) -> Move | None:
    """Log no requests."""
    if not dialects.settings(arm.profile).logs:
        return None
    return set_options(arm.profile, "disable-logging", "disable-logging", disable_logging="true")
