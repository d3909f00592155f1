"""Servers under test: started, checked, stopped."""

from __future__ import annotations

from lab.bench.servers.command import CommandServer
from lab.bench.servers.uwsgi import UwsgiServer
from lab.model.profile import Profile


def adapter(profile: Profile) -> UwsgiServer | CommandServer:
    """Return what runs *profile*."""
    return UwsgiServer() if profile.server == "uwsgi" else CommandServer()
