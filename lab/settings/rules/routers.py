"""uWSGI's HTTP router, a process that stands before the workers."""

from __future__ import annotations

from collections.abc import Iterator

from lab.settings.rules.rule import Config, Flaw, Severity, rule

ROUTERS = ("http", "https", "httprouter", "http-to", "plugin", "plugins")
"""Options that make a router, or may bring one."""


@rule(
    "UW201",
    Severity.NO_EFFECT,
    "http-keepalive is no number",
    why='a number of seconds is read there, and of "true" that is 0, which is off',
    seen="plugins/http/http.c:37; uwsgi-docs#445; docs/runs/keep-alive",
    bad="""
http = :8080
http-keepalive = true
""",
    good="""
http = :8080
http-keepalive = 1
""",
)
def keepalive_no_number(config: Config) -> Iterator[Flaw]:
    """It stays off."""
    setting = config.last("http-keepalive")
    if setting and config.on("http-keepalive") and not setting.value[:1].isdigit():
        text = "uWSGI reads a number there, and this is none, so it stays off; write "
        yield config.flaw(setting, f"{text}http-keepalive = 1", config.change(setting, "1"))


@rule(
    "UW208",
    Severity.NO_EFFECT,
    "an option of the HTTP router without a router",
    why="only the router reads it",
    seen="plugins/http/http.c:37",
    bad="""
http-socket = :8080
http-keepalive = 1
""",
    good="""
http = :8080
http-keepalive = 1
""",
)
def router_option_alone(config: Config) -> Iterator[Flaw]:
    """There is no router."""
    setting = config.last("http-keepalive")
    if setting and config.on("http-keepalive") and not config.all(*ROUTERS):
        text = "it is the router's, and there is none; leave it out, or serve by http"
        yield config.flaw(setting, text, config.drop(setting, safe=True))
