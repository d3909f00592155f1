"""A server that goes to the background, and who watches it there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lab.lint.rules.rule import Case, Flaw, Severity, rule

WATCHERS = re.compile(r".+\.service|supervisor[\w.-]*\.(?:conf|ini)|Procfile")
"""Names of files in which systemd, Supervisor and their like are told what to start."""

COMMAND = r"^\s*(?:ExecStart\s*=|command\s*=|\w+:).*\buwsgi\b.*(?<![\w.-]){}(?![\w.-])"
"""A line of theirs that starts uWSGI with a file."""

FORKS = re.compile(r"^\s*Type\s*=\s*forking\b", re.MULTILINE)
"""By which systemd expects that the first process ends."""

MOST = 20
"""Such files that are read."""


@rule(
    "UW323",
    Severity.DANGEROUS,
    "daemonize",
    why="the first process exits as soon as the server is in the background, so a container, "
    "systemd or Supervisor treats the server as stopped; leave it out",
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


def _watcher(config: Case) -> str | None:
    """Return the name of a file beside the configuration that starts uWSGI with it."""
    folder = config.file.absolute().parent
    starts = re.compile(COMMAND.format(re.escape(config.file.name)), re.MULTILINE)
    named = (name for name in config.known.names(folder) if WATCHERS.fullmatch(name))
    for name in islice(named, MOST):
        text = (config.known.read(folder / name) or "").replace("\\\n", " ")
        if starts.search(text) and not FORKS.search(text):
            return name
    return None
