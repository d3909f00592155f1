"""The lock under which worker processes wait for connections."""

from __future__ import annotations

from lab.model.plan import Arm
from lab.settings.moves.move import Move, drop


def without(arm: Arm) -> Move | None:
    """Wait for connections without a lock."""
    return drop(arm.profile, "no-thunder-lock", "thunder-lock off", "thunder-lock")
