"""The accept queue."""

from __future__ import annotations

from pathlib import Path

from lab.config.moves.move import Move, told
from lab.model.plan import Arm

SOMAXCONN = Path("/proc/sys/net/core/somaxconn")

DEFAULT_LISTEN = 100
"""uWSGI's own."""


def longer(arm: Arm) -> Move | None:
    """Make the accept queue twice as long as the clients are many, as far as the kernel allows."""
    wanted = min(2 * arm.load.connections, _somaxconn())
    now = dict(arm.profile.options).get("listen", str(DEFAULT_LISTEN))
    if now.isdecimal() and int(now) >= wanted:
        return None
    return Move("listen", f"listen = {wanted}", told(arm, {"backlog": wanted}))


def _somaxconn() -> int:
    try:
        return int(SOMAXCONN.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file in some sandboxes: uWSGI then checks nothing
        return 4096
