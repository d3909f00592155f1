"""Worker processes take turns in waiting for connections."""

from __future__ import annotations

from lab.settings.meaning import Settings
from lab.settings.rules.rule import Rule


def _one_process(read: Settings) -> bool:
    return read.options.get("processes", read.options.get("workers", "1")) == "1"


RULES = (
    Rule(
        "uWSGI",
        "thunder-lock",
        _one_process,
        "it keeps processes apart, and there is one; leave it out, or add processes",
    ),
    Rule(
        "uWSGI",
        "thunder-lock",
        lambda read: "http11-socket" in read.options,
        "workers of http11-socket do not take the lock; leave it out",
    ),
)
