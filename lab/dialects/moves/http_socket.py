"""uWSGI's HTTP router."""

from __future__ import annotations

from lab.dialects.moves.move import Move
from lab.dialects.uwsgi import of_router
from lab.model.plan import Arm


def without_router(arm: Arm) -> Move | None:
    """Let the workers speak HTTP themselves."""
    if not any(key == "http" and "{port}" in value for key, value in arm.profile.options):
        return None
    options = tuple(
        ("http-socket" if key == "http" else key, value)
        for key, value in arm.profile.options
        if key == "http" or not of_router(key)
    )
    return Move("http-socket", "http-socket instead of http", options)
