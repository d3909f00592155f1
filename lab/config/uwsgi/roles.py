"""
Application and server: which of uWSGI's options say what is served, and which how.

So one application can be served with the server options of another configuration.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Options = Sequence[tuple[str, str]]

NOT_WORKERS = (
    "attach-daemon",
    "attach-control-daemon",
    "smart-attach-daemon",
    "emperor",
    "legion",
)
"""Beginnings of options that make processes for which reload-mercy is meant."""

SERVED = re.compile(
    r"module|wsgi|wsgi-file|file|callable|(worker-)?mount|(manage|ignore)-script-name|eval|pyrun"
    r"|(ini-)?paste(-log.*)?|pecan|chdir2?|single-interpreter"
)
"""Options that say what is served: of two configurations one alone can say it."""

NEEDED = re.compile(
    r"home|pyhome|virtualenv|venv|pythonpath|python-path|pp|pyargv|(early-)?env(dir)?|unenv"
    r"|(shared-)?(py(thon)?-?)?import|py-.*|(post-)?pymodule-alias|no-site|reload-os-env"
    r"|(need-)?plugins?(-dir)?|autoload|gevent.*monkey.*"
)
"""Options that say what it needs: those of two configurations go together."""


def served_by(server: Options, application: Options) -> tuple[tuple[str, str], ...]:
    """
    Return the options that serve what *application* says as *server* does.

    >>> served_by([("module", "ours:app"), ("threads", "2")], [("module", "a:b"), ("env", "A=1")])
    (('module', 'a:b'), ('env', 'A=1'), ('threads', '2'))
    """
    first = [pair for pair in application if SERVED.fullmatch(pair[0]) or NEEDED.fullmatch(pair[0])]
    return (*first, *(pair for pair in server if not SERVED.fullmatch(pair[0])))


def serving(options: Options, app: str, folder: str) -> tuple[tuple[str, str], ...]:
    """Return *options* that serve *app*, imported in *folder*, in place of what they say."""
    return served_by(options, [("chdir", folder), ("module", app)])
