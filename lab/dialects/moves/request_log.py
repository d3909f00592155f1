"""The log of requests."""

from __future__ import annotations

from lab import dialects
from lab.dialects.moves.move import Move, told
from lab.dialects.vocabulary.wanted import NO
from lab.model.plan import Arm


def without(arm: Arm) -> Move | None:
    """Log no requests."""
    if not dialects.settings(arm.profile).logs:
        return None
    return Move("disable-logging", "disable-logging", told(arm, {"access-log": NO}))
