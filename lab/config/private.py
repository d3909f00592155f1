"""
What the private copies of servers that are started by a command have in common.

They run as they are, but listen where the lab asks, and reach nothing beyond their trial.
"""

from __future__ import annotations

import json
from pathlib import Path

from lab.model.digest import digest_of
from lab.model.profile import Peer, PrivateCopy, Profile
from lab.model.runtime import OWN

FREE_PORT, PRIVATE_SOCKET = "a free port", "a private UNIX socket"
"""What becomes of an address."""

OVER_UWSGI = "asked over the uwsgi protocol"
"""What is said of one where that is a proxy's."""

PID, STATSD, LOG = (
    "would overwrite the file of a real server",
    "would report the metrics of the trial",
    "would write to the real log",
)
"""Why an option is left out that names a pidfile, a host for figures, or a log."""


def started_by(
    name: str, path: Path, words: tuple[str, ...], options: tuple[tuple[str, str], ...]
) -> Profile:
    """Return the profile of a configuration of the user's that one command starts."""
    told_so = (*options, ("run", json.dumps(words)))
    return Profile(
        name=name,
        server="command",
        path=path,
        summary="",
        against=None,
        options=told_so,
        digest=digest_of(told_so),
        interfaces=(OWN, "wsgi"),
        peer=Peer(commands=(words,)),
        private_copy=PrivateCopy(path.parent),
    )
