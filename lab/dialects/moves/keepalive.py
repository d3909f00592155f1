"""Connections that are used for more than one request."""

from __future__ import annotations

from dataclasses import replace

from lab import dialects
from lab.dialects.moves.move import Move, with_values
from lab.dialects.uwsgi import asks_to_close
from lab.model.plan import Arm

MOST_KEEPING = 16
"""Worker processes for kept connections, each of which holds one. More would measure their number:
with 32, for 64 clients, throughput of a Flask application fell to less than half."""


def kept(arm: Arm) -> Move | None:
    """
    Keep connections open: the client if the server would, else the workers themselves.

    A header that tells clients to close would undo either, so it goes as well.
    """
    asked = tuple(option for option in arm.profile.options if not asks_to_close(*option))
    if not arm.load.keepalive and arm.profile.keepalive:
        load = replace(arm.load, keepalive=True)
        return Move("keepalive", "clients that keep connections", asked, load)
    if arm.profile.keepalive or not any(key == "http-socket" for key, _ in arm.profile.options):
        return None
    # A kept connection holds its worker, so each connection needs one.
    read = dialects.settings(arm.profile)
    if read.processes is None or read.at_once is None:
        return None
    wanted = max(read.processes, -(-arm.load.connections // read.at_once))
    if wanted > MOST_KEEPING:
        return None
    options = tuple(
        ("http11-socket" if key == "http-socket" else key, value) for key, value in asked
    )
    text = f"http11-socket instead of http-socket, a worker for each connection ({wanted})"
    load = replace(arm.load, keepalive=True)
    return Move("http11-socket", text, with_values(options, {"processes": wanted}), load)
