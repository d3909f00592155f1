"""What is asked of the server."""

from __future__ import annotations

from lab.config.moves.move import Move
from lab.model.plan import Arm

SMALLEST = "hello"
"""Name of the workload of the smallest WSGI application."""


def smallest(arm: Arm) -> Move | None:  # noqa: ARG001 - one shape for all
    """Ask for less work: the smallest application that there is."""
    text = "the smallest WSGI application instead of its own"
    return Move(SMALLEST, text, workload=SMALLEST)
