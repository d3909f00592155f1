"""
Private copies of servers that a command starts: what they have in common.

They run unchanged, but listen at the address of the trial, and are isolated from production.
"""

from __future__ import annotations

import json
from pathlib import Path

from lab.model.digest import digest_of
from lab.model.profile import Peer, PrivateCopy, Profile
from lab.model.runtime import OWN

FREE_PORT, PRIVATE_SOCKET = "a free port", "a private UNIX socket"
"""The address of a private copy, for people."""

OVER_UWSGI = "asked over the uwsgi protocol"
"""The remark on an address for a proxy."""

PID, STATSD, LOG = (
    "would overwrite the file of a real server",
    "would report the metrics of the trial",
    "would write to the real log",
)
"""Why a copy leaves out an option for a pidfile, a statsd host, or a log."""


def started_by(
    name: str, path: Path, words: tuple[str, ...], options: tuple[tuple[str, str], ...]
) -> Profile:
    """Return the profile of a user's configuration that one command starts."""
    options = (*options, ("run", json.dumps(words)))
    return Profile(
        name=name,
        server="command",
        path=path,
        summary="",
        against=None,
        options=options,
        digest=digest_of(options),
        interfaces=(OWN, "wsgi"),
        peer=Peer(commands=(words,)),
        private_copy=PrivateCopy(path.parent),
    )
