"""
A Procfile: a line for each kind of process, as `web: gunicorn shop.wsgi --workers 4`.

A shell takes the command apart. The variables, the user, and when a process is started again are
the platform's, and stand nowhere in the file.

Source: https://devcenter.heroku.com/articles/procfile
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lab.config.shell import start_of
from lab.config.sources import with_own_names
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings

CALLED = r"Procfile(\.\w+)?"

LINE = re.compile(r"([A-Za-z0-9_-]+):[ \t]*(\S.*?)[ \t\r]*$")
"""Name and command of a process; any other line has no meaning."""


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the processes that are a server."""
    return with_own_names(_starts(path, text))


def _starts(path: Path, text: str) -> Iterator[StartCommand]:
    for number, line in enumerate(text.split("\n"), start=1):
        if match := LINE.match(line):
            spot = Spot(path, number, match.start(2) + 1)
            start = start_of(match[1], match[2], spot, Surroundings(in_shell=True))
            if start is not None:
                yield start
