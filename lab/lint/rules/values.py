"""Values that uWSGI takes for something else than who wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.config.uwsgi import BINDS
from lab.lint.address import is_unix
from lab.lint.rules.rule import Case, Flaw, Severity, rule

PATHS = (
    *("daemonize", "daemonize2", "logto", "logto2", "pidfile", "pidfile2", "safe-pidfile"),
    *("safe-pidfile2", "stats", "master-fifo"),
)
"""Options of a file's name, which are taken for switches."""

WORDS = frozenset({"true", "yes", "on", "1", "false", "no", "off", "0"})


@rule(
    "UW021",
    Severity.ERROR,
    "yes or no where uWSGI reads a path",
    why="uWSGI creates a file of that name in the folder that it is started in, and no does not "
    "switch the option off; write a path, or leave it out",
    source="core/uwsgi.c:173 `uwsgi_opt_set_str`; core/uwsgi.c:607 `stats`",
    bad="daemonize = true",
    good="daemonize = /var/log/uwsgi.log",
    near_miss="set-placeholder = log=/var/log/true.log\ndaemonize = %(log)",
)
def switch_of_no_switch(config: Case) -> Iterator[Flaw]:
    """It works, and the log is in a file called true."""
    for setting in config.all(*PATHS):
        if setting.value.lower() in WORDS:
            made = "a UNIX socket" if "stats" in setting.option else "a file"
            text = (
                f'uWSGI creates {made} called "{setting.value}" in the folder that it is started '
                "in, because this option takes a path; write a path, or leave it out"
            )
            yield config.flaw(setting, text)


PREFIXED = re.compile(r"(unix):(?://)?(/.*)|(tcp|https?)://([\w.*-]*:\d+)/?")
"""Addresses as other programs write them; the host that uWSGI takes it for, and what is meant."""


@rule(
    "UW022",
    Severity.ERROR,
    "an address that uWSGI reads differently",
    why="an address without a colon is the name of a UNIX socket, including all that follows it, "
    "and an address with a colon is a host and a port",
    source="core/socket.c:536 `strchr(socket_name, ':')`; core/socket.c:1732 `bind_to_unix`",
    bad="http-socket = 8080",
    good="http-socket = :8080",
    near_miss="shared-socket = 127.0.0.1:8080\nhttp-socket = =0",
)
def other_address(config: Case) -> Iterator[Flaw]:
    """A port without its colon, nginx's semicolon, and the prefix that others want."""
    for setting in config.settings:
        value = setting.value
        if not BINDS.fullmatch(setting.option):
            continue
        if re.fullmatch(r"\d{2,5}", value):
            text = f"uWSGI takes this for the name of a UNIX socket, not for a port; write :{value}"
            yield config.flaw(setting, text, config.change(setting, f":{value}"))
        elif re.fullmatch(r"(?:\d{1,3}\.){3}\d{1,3}", value):
            text = (
                "uWSGI takes this for the name of a UNIX socket, not for an address; write "
                f"{value}:PORT"
            )
            yield config.flaw(setting, text)
        elif match := PREFIXED.fullmatch(value):
            host, meant = match[1] or match[3], match[2] or match[4]
            text = f'uWSGI takes "{host}" for a host, which does not exist, so nobody can connect'
            yield config.flaw(setting, f"{text}; write {meant}", config.change(setting, meant))
        elif value.endswith(";") or (value.endswith(",") and is_unix(value)):
            meant = value.rstrip(";,")
            text = f"the last character is part of the UNIX socket's name; write {meant}"
            if not is_unix(value):
                text = f"uWSGI ignores what follows the port; write {meant}"
            harmless = not is_unix(value)
            fix = config.change(setting, meant)
            yield config.flaw(setting, text, fix, harmless=harmless)
