"""uWSGI's HTTP router."""

from __future__ import annotations

from lab.config.moves.move import Move
from lab.config.uwsgi.steps import without_router as steps
from lab.model.plan import Arm


def without_router(arm: Arm) -> Move | None:
    """Let the workers speak HTTP themselves."""
    if not any(key == "http" and "{port}" in value for key, value in arm.profile.options):
        return None
    written = (key for key, _ in arm.profile.options)
    return Move("http-socket", "http-socket instead of http", tuple(steps(written)))
