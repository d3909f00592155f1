"""
What uWSGI's options mean.

Source: uWSGI 2.0.31, core/uwsgi.c (uwsgi_opt_true), core/master.c, core/socket.c.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence

from lab.config.meaning import is_written
from lab.config.uwsgi.table import uwsgi_options

Options = Sequence[tuple[str, str]]
"""Options in order, repeats kept."""

OFF = frozenset({"false", "off", "no", "0"})
"""What uWSGI takes for no; any other text is yes."""

BINDS = re.compile(
    r"socket|(u|su|pu)wsgi-socket|(ssl|raw|http|http11|https|(fastcgi|scgi)(-nph)?)-socket"
    r"|(undeferred-)?shared-socket|zerg-?pool|zerg-server|subscription-server|stats(-server)?"
    r"|http|httprouter|https2?|http-to-https|fastrouter|rawrouter|sslrouter2?"
    r"|(emperor|http|fastrouter|rawrouter|sslrouter)-(stats|stats-server|ss|subscription-server)"
)
"""Options that take an address and listen there."""

APPLICATION = ("module", "wsgi", "wsgi-file", "file", "callable")
"""Options that say what is served, in place of which the environment may name another one."""

PYTHONPATH = ("pythonpath", "python-path", "pp")
"""Options that name folders to import from."""


def application(options: Mapping[str, str]) -> str | None:
    """
    Return what a server with these options serves; None where they name nothing.

    A file of the folder that is served from is written as the module that it is.

    >>> application({"wsgi-file": "loadtests/workloads/fib/_article.py", "callable": "app"})
    'loadtests.workloads.fib._article:app'
    """
    module = options.get("module", options.get("wsgi"))
    file = options.get("wsgi-file", options.get("file"))
    if module is None and file is not None:
        relative_path = file.removeprefix(f"{options.get('chdir', '{root}')}/")
        elsewhere = relative_path.startswith(("/", "{"))
        module = file if elsewhere else relative_path.removesuffix(".py").replace("/", ".")
    if module is None or ":" in module:
        return module
    return f"{module}:{options.get('callable', 'application')}"


def is_on(options: Mapping[str, str], name: str) -> bool:
    """
    Return whether an option is written, and not with a word for no.

    >>> is_on({"master": "1"}, "master"), is_on({"master": "Off"}, "master")
    (True, False)
    """
    return is_written(options, name, OFF)


def asks_to_close(option: str, value: str) -> bool:
    """Return whether an option adds the header "Connection: close", however it is spelt."""
    return option == "add-header" and "".join(value.split()).lower() == "connection:close"


def keeps_connections(pairs: Options) -> bool:
    """Return whether a server with these options keeps a client's connection open."""
    if any(asks_to_close(*pair) for pair in pairs):
        return False
    options = dict(pairs)
    return "http11-socket" in options or int(options.get("http-keepalive", "0")) > 0


def of_router(option: str) -> bool:
    """Return whether an option is for the HTTP router alone, and means nothing without it."""
    return option.startswith(("http-", "https")) and not option.startswith("http-socket")


def effective(pairs: Options) -> dict[str, str]:
    """Return what takes effect: all values of an option that uWSGI collects, else the last."""
    values: dict[str, str] = {}
    for key, value in pairs:
        if key == "env":
            name, _, content = value.partition("=")
            values[f"env {name}"] = content
        elif key in values and uwsgi_options().repeats(key):
            values[key] += f", {value}"
        else:
            values[key] = value
    return values


def stop_signal(pairs: Options) -> signal.Signals:
    """
    Return what stops a server with these options.

    SIGTERM makes a uWSGI master reload instead, unless the options say otherwise.
    """
    options = dict(pairs)
    hooked = any(
        key == "hook-master-start" and value.startswith("unix_signal:15 ") for key, value in pairs
    )
    if is_on(options, "master") and not is_on(options, "die-on-term") and not hooked:
        return signal.SIGINT
    return signal.SIGTERM


def flat(pairs: Options, places: Mapping[str, str]) -> list[str]:
    """
    Return the lines of a [uwsgi] section with these options, without includes and conditions.

    A `%`, which is what uWSGI made of it, is written so that uWSGI leaves it alone.

    Args:
        pairs: The options, with the names of *places* in their values.
        places: What stands in a value -> what it means: {"{root}": "/srv/lab"}.

    >>> flat([("log-date", "%Y")], {})
    ['[uwsgi]', 'log-date = %%Y']
    """
    return ["[uwsgi]", *(_line(*pair, places) for pair in pairs)]


def ini(pairs: Options, places: Mapping[str, str]) -> list[str]:
    """
    Return the same as `flat`, for a server that is told where to answer and what to serve.

    It obeys BIND, PORT, WSGI_APP and WSGI_CHDIR as every profile does; the first two must be set.
    """
    meanings = {"{host}": "$(BIND)", "{port}": "$(PORT)", **places}
    lines = flat([pair for pair in pairs if pair[0] not in APPLICATION], meanings)
    lines += ["if-env = WSGI_CHDIR", "chdir = %(_)", "endif ="]
    lines += ["if-env = WSGI_APP", "module = %(_)", "endif ="]
    application = [_line(*pair, meanings) for pair in pairs if pair[0] in APPLICATION]
    return [*lines, "if-not-env = WSGI_APP", *application, "endif ="]


def filled(text: str, places: Mapping[str, str]) -> str:
    """Return *text* with each of *places* replaced by what it means."""
    for place, meaning in places.items():
        text = text.replace(place, meaning)
    return text


def _line(option: str, value: str, places: Mapping[str, str]) -> str:
    return f"{option} = {filled(value, places)}".replace("%", "%%")
