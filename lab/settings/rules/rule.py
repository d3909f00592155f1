"""What a rule is, and conditions that rules share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.settings.meaning import Settings

IMPLY_MASTER = (
    "alarm",
    "cheap",
    "cron",
    "enable-metrics",
    "evil-reload",
    "forkbomb",
    "idle",
    "legion",
    "log-master",
    "logger",
    "master-fifo",
    "metric",
    "mule",
    "py-auto-reload",
    "py-autoreload",
    "py-tracebacker",
    "python-auto-reload",
    "req-logger",
    "spooler",
    "stats",
    "threaded-log",
    "touch-",
    "unique-cron",
)
"""Beginnings of uWSGI's options that switch the master on by themselves. Too many rather than too
few: a rule that needs its absence is silent then."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An option, when it has no effect, and what to do."""

    server: str
    """Name of the server in `lab.settings.meaning.Settings`."""
    option: str
    when: Callable[[Settings], bool]
    """Whether it has no effect; asked of profiles that set the option."""
    why: str


def no_master(read: Settings) -> bool:
    """Return whether nothing switches uWSGI's master on."""
    implied = any(name.startswith(IMPLY_MASTER) for name in read.options)
    return not implied and not read.sets("master")
