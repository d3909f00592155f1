"""The lock under which worker processes wait for connections."""

from __future__ import annotations

from lab.dialects.moves.move import Move, drop
from lab.model.plan import Arm


def without(arm: Arm) -> Move | None:
    """Wait for connections without a lock."""
    return drop(arm.profile, "no-thunder-lock", "thunder-lock off", "thunder-lock")
