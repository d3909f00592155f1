"""The log of requests."""

from __future__ import annotations

from lab.config import servers
from lab.config.moves.move import Move, told
from lab.config.vocabulary.steps_for_meaning import NO
from lab.model.plan import Arm


def without(arm: Arm) -> Move | None:
    """Log no requests."""
    if not servers.settings(arm.profile).logs:
        return None
    return Move("disable-logging", "disable-logging", told(arm, {"access-log": NO}))
