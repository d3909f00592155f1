"""gunicorn keeps a client's connection open for so many seconds."""

from __future__ import annotations

from lab.settings.meaning import Settings
from lab.settings.rules.rule import Rule


def _sync(read: Settings) -> bool:
    # With more than one thread gunicorn takes gthread instead. A value that is computed is unknown.
    worker_class = read.options.get("worker_class", "sync")
    return worker_class == "sync" and read.options.get("threads", 1) == 1


RULE = Rule(
    "gunicorn",
    "keepalive",
    _sync,
    "gunicorn's sync workers close after every reply; leave it out, or set worker_class = "
    '"gthread"',
)
