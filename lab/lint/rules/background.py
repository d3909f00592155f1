"""A server that goes to the background, and who watches it there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from lab.config import sources
from lab.config.sources import procfile, supervisor, systemd
from lab.config.steps import Drop
from lab.errors import ProfileError
from lab.lint.rules.rule import Case, Flaw, Severity, rule

WATCHERS = re.compile("|".join(kind.CALLED for kind in (systemd, supervisor, procfile)))
"""Names of files in which systemd, Supervisor and their like are told what to start."""

EXITS = (
    "the first process exits as soon as the server is in the background, so a container, systemd "
    "or Supervisor treats the server as stopped; leave it out"
)

MOST = 20
"""Such files that are read."""


@rule(
    "UW323",
    Severity.DANGEROUS,
    "daemonize",
    why=EXITS,
    source="core/utils.c:143 `_exit(0)`",
    bad="daemonize = /var/log/uwsgi.log",
    good="logto = /var/log/uwsgi.log",
    near_miss="if-env = BY_HAND\ndaemonize = /var/log/uwsgi.log\nendif =",
)
def in_background(config: Case) -> Iterator[Flaw]:
    """Whether somebody watches it, a Dockerfile or a unit beside it says."""
    setting = config.last("daemonize", "daemonize2")
    if setting is None:
        return
    text = "the first process exits as soon as the server is in the background, and "
    if watcher := _watcher(config):
        text += f"the service that {watcher} starts then counts as stopped; leave it out"
    elif config.known.container:
        text += "a container stops with its first process; leave it out"
    else:
        return
    yield config.flaw(setting, text, config.drop(setting))


@rule(
    "GU028",
    Severity.DANGEROUS,
    "daemon",
    why=EXITS,
    source="gunicorn/app/base.py:226 `util.daemonize`",
    bad="daemon = True",
    good='errorlog = "/var/log/shop.log"',
    near_miss="daemon = False",
)
def gunicorn_in_background(config: Case) -> Iterator[Flaw]:
    """Silent where nothing says that somebody watches it."""
    setting, around = config.last("daemon"), config.known.surroundings
    watched = config.known.container or (around.supervisor and around.unit_type != "forking")
    if setting and watched and config.on("daemon"):
        yield config.flaw(setting, steps=(Drop("daemon"),))


def _watcher(config: Case) -> str | None:
    """Return the name of a file beside the configuration that starts uWSGI with it."""
    folder = config.file.absolute().parent
    named = rf"(?<![\w.-]){re.escape(config.file.name)}(?![\w.-])"
    names = (name for name in config.known.names(folder) if WATCHERS.fullmatch(name))
    for name in islice(names, MOST):
        with suppress(ProfileError):
            for start in sources.starts_of(folder / name, config.known.read(folder / name) or ""):
                forking = start.surroundings.unit_type == "forking"
                if start.program == "uwsgi" and not forking and re.search(named, start.text):
                    return name
    return None
