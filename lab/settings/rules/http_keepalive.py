"""The HTTP router keeps a client's connection open for so many seconds."""

from __future__ import annotations

from lab.settings.meaning import Settings
from lab.settings.rules.rule import Rule

ROUTERS = {"http", "https", "httprouter", "http-to", "plugin", "plugins"}


def _no_number(read: Settings) -> bool:
    value = str(read.options["http-keepalive"])
    return value != "" and not value[0].isdigit()


RULES = (
    Rule(
        "uWSGI",
        "http-keepalive",
        _no_number,
        "uWSGI reads a number there, and this is none, so it stays off; write http-keepalive = 1",
    ),
    Rule(
        "uWSGI",
        "http-keepalive",
        lambda read: not read.options.keys() & ROUTERS,
        "it is the router's, and there is none; leave it out, or serve by http",
    ),
)
