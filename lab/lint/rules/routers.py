"""uWSGI's HTTP router, a process that stands before the workers, and what asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lint.rules.alike import at_top, present, without, written
from lab.lint.rules.rule import Case, Flaw, Severity, rule

ROUTERS = ("http", "https", "https2", "httprouter", "http-to", "http-to-https", "plugin", "plugins")
"""Options that make a router, or may bring one."""


def routed(config: Case) -> bool:
    """Return whether there is a router, or may be one."""
    return bool(config.all(*ROUTERS))


@rule(
    "UW201",
    Severity.NO_EFFECT,
    "an http-keepalive that is not a number",
    why='uWSGI reads a number here, and takes "true" for 0, which is off',
    source="plugins/http/http.c:37 `uwsgi_opt_set_int`; uwsgi-docs#445; docs/runs/keep-alive",
    bad="http = :8080\nhttp-keepalive = true",
    good="http = :8080\nhttp-keepalive = 1",
    near_miss="http = :8080\nhttp-keepalive = off",
)
def keepalive_no_number(config: Case) -> Iterator[Flaw]:
    """It stays off."""
    for setting in written(config, "http-keepalive"):
        if not setting.value[:1].isdigit():
            text = (
                "uWSGI reads a number here, and this is none, so keep-alive stays off; write "
                "http-keepalive = 1"
            )
            yield config.flaw(setting, text, config.change(setting, "1"))


@rule(
    "UW208",
    Severity.NO_EFFECT,
    "an option of the HTTP router without a router",
    why="only the HTTP router reads the option",
    source="plugins/http/http.c:37 `http-keepalive`",
    bad="http-socket = :8080\nhttp-keepalive = 1",
    good="http = :8080\nhttp-keepalive = 1",
    near_miss="https = :8443,app.crt,app.key\nhttp-keepalive = 1",
)
def router_option_alone(config: Case) -> Iterator[Flaw]:
    """Where no address is named, the command line may make one."""
    if routed(config) or not config.sockets():
        return
    for setting in config.starting("http-"):
        entry = config.table.entries.get(setting.option)
        if entry and entry.plugin == "http" and config.on(setting.option):
            text = (
                "only the HTTP router reads this, and there is no router; leave it out, or serve "
                "by http"
            )
            yield config.flaw(setting, text, config.drop(setting))


present(
    "UW223",
    "mount",
    "SCRIPT_NAME is empty for an HTTP request, so the first application answers every path (tried "
    "with 2.0.31); add manage-script-name = true",
    title="mount without manage-script-name",
    source="proto/http.c:263 `manage_script_name`",
    bad="http-socket = :8080\nmodule = a:app\nmount = /b=b:app",
    good="http-socket = :8080\nmodule = a:app\nmount = /b=b:app\nmanage-script-name = true",
    near_miss="http-socket = :8080\nmodule = a:app\nmount = /=b:app",
    when=lambda config: (
        bool(config.sockets("http", "http11", "router"))
        and not config.on("manage-script-name")
        and any(not setting.value.startswith("/=") for setting in config.all("mount"))
    ),
    fix=at_top("manage-script-name = true"),
)

present(
    "UW224",
    "http-auto-chunked",
    "the router reads this only where it keeps the connection; add http-keepalive = 1, or leave it "
    "out",
    title="http-auto-chunked without http-keepalive",
    source="plugins/http/keepalive.c:159 `can_keepalive`",
    bad="http = :8080\nhttp-auto-chunked = true",
    good="http = :8080\nhttp-auto-chunked = true\nhttp-keepalive = 1",
    near_miss="https = :8443,shop.crt,shop.key\nhttp-auto-chunked = true\nhttp-keepalive = 75",
    when=lambda config: routed(config) and not config.last("http-keepalive"),
    fix=without,
)
