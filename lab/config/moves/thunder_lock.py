"""The lock under which worker processes wait for connections."""

from __future__ import annotations

from lab.config import servers
from lab.config.moves.move import Move, told
from lab.config.vocabulary.steps_for_meaning import NO
from lab.model.plan import Arm


def without(arm: Arm) -> Move | None:
    """Wait for connections without a lock."""
    if not servers.settings(arm.profile).accept_lock:
        return None
    return Move("no-thunder-lock", "thunder-lock off", told(arm, {"turns": NO}))
