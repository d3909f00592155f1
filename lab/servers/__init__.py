"""Application servers under test: started alone, proved to answer, stopped without a trace."""

from __future__ import annotations

from lab.model.profile import Profile
from lab.servers.command import CommandServer
from lab.servers.uwsgi import UwsgiServer


def adapter(profile: Profile) -> UwsgiServer | CommandServer:
    """Return what runs *profile*."""
    return UwsgiServer() if profile.server == "uwsgi" else CommandServer()
