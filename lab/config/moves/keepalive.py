"""Connections that are used for more than one request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lab.config import servers
from lab.config.moves.move import Move, told
from lab.config.steps import Drop, Put, Rename, Step
from lab.config.uwsgi import asks_to_close
from lab.model.plan import Arm
from lab.model.profile import Profile

MOST_KEEPING = 16
"""Worker processes for kept connections, each of which holds one. More would measure their number:
with 32, for 64 clients, throughput of a Flask application fell to less than half."""


def kept(arm: Arm) -> Move | None:
    """
    Keep connections open: the client if the server would, else the workers themselves.

    A header that tells clients to close would undo either, so it goes as well.
    """
    asked = tuple(_not_closing(arm.profile))
    load = replace(arm.load, keepalive=True)
    if not arm.load.keepalive and arm.profile.keepalive:
        return Move("keepalive", "clients that keep connections", asked, load)
    if arm.profile.keepalive or not any(key == "http-socket" for key, _ in arm.profile.options):
        return None
    # A kept connection holds its worker, so each connection needs one.
    read = servers.settings(arm.profile)
    if read.processes is None or read.at_once is None:
        return None
    wanted = max(read.processes, -(-arm.load.connections // read.at_once))
    if wanted > MOST_KEEPING:
        return None
    steps = (*asked, Rename("http-socket", "http11-socket"), *told(arm, {"workers": wanted}))
    text = f"http11-socket instead of http-socket, a worker for each connection ({wanted})"
    return Move("http11-socket", text, steps, load)


def _not_closing(profile: Profile) -> Iterator[Step]:
    """Yield how the header goes, and the others stay."""
    headers = [pair for pair in profile.options if pair[0] == "add-header"]
    if any(asks_to_close(*pair) for pair in headers):
        yield Drop("add-header")
        yield from (Put(*pair) for pair in headers if not asks_to_close(*pair))
