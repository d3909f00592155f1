"""The addresses that a server listens at, and what it reads there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.config.uwsgi import BINDS
from lab.lint.address import is_unix
from lab.lint.rules.alike import present, written
from lab.lint.rules.rule import Case, Flaw, Setting, Severity, rule
from lab.lint.rules.start import names_application

SOCKETLESS = (
    *("attach-", "cron", "emperor", "http-to", "legion", "loop", "mule", "no-server", "pyrun"),
    *("rpc", "setns", "smart-attach", "spooler", "udp", "unique-cron", "zerg"),
)
"""Beginnings of options of a server that needs no socket, or has one by another way."""


def addresses(config: Case) -> list[tuple[str, Setting]]:
    """Return the addresses to listen at, in one spelling, with the options that say them."""
    listen_addresses = []
    for setting in config.settings:
        if BINDS.fullmatch(setting.option) and not setting.option.endswith("subscription-server"):
            address = re.sub(r"^(0\.0\.0\.0|\*):", ":", setting.value.partition(",")[0])
            if not re.search(r"[$%]\(|^=|:0$|^$", address):
                listen_addresses.append((address, setting))
    return listen_addresses


@rule(
    "UW111",
    Severity.ERROR,
    "an address that is used twice",
    why="uWSGI does not start if the address is in use, and of two UNIX sockets the second takes "
    "the clients of the first",
    source="core/socket.c:769 `bind`",
    bad="http = :8080\nstats = :8080",
    good="http = :8080\nstats = 127.0.0.1:9191",
    near_miss="http = 127.0.0.1:8080\nstats = 127.0.0.2:8080",
)
def address_twice(config: Case) -> Iterator[Flaw]:
    """It ends with "Address already in use"."""
    first: dict[str, Setting] = {}
    for address, setting in addresses(config):
        other = first.setdefault(address, setting)
        if other.spot != setting.spot and not config.on("reuse-port"):
            effect = (
                "and this one takes its clients" if is_unix(address) else "so uWSGI does not start"
            )
            here = other.spot.file == setting.spot.file
            place = f"line {other.spot.line}" if here else f"{other.spot.file}:{other.spot.line}"
            line = f"{other.option} in {place}"
            text = f"{line} has the same address, {effect}; write another"
            yield config.flaw(setting, text)


@rule(
    "UW112",
    Severity.ERROR,
    "no socket",
    why='uWSGI exits: "The -s/--socket option is missing and stdin is not a socket"',
    source="core/uwsgi.c:2947 `socket option is missing`",
    bad="module = app:app\nif-env = PORT\nhttp-socket = :%(_)\nendif =",
    good="module = app:app\nhttp-socket = :8080",
    near_miss="module = app:app\nspooler = /var/spool/app",
)
def no_socket(config: Case) -> Iterator[Flaw]:
    """A remark, because the command line may name one."""
    bound = any(BINDS.fullmatch(setting.option) for setting in config.settings)
    if names_application(config) and not (bound or config.guesses or config.starting(*SOCKETLESS)):
        text = (
            "no socket: unless the command line or the environment names one, uWSGI exits at once; "
            "add http-socket, or socket behind a proxy"
        )
        yield config.flaw(config.top, text, harmless=True)


@rule(
    "UW114",
    Severity.ERROR,
    "a chmod-socket that is not three octal digits",
    why="uWSGI accepts nothing else and exits",
    source="core/uwsgi.c:4609 `strlen(value) != 3`",
    bad="socket = /run/app.sock\nchmod-socket = 0666",
    good="socket = /run/app.sock\nchmod-socket = 666",
    near_miss="socket = /run/app.sock\nchmod-socket = 1",
)
def no_mode(config: Case) -> Iterator[Flaw]:
    """Not even a leading 0."""
    for setting in config.all("chmod-socket"):
        if not re.fullmatch(r"[0-7]{3}|1", setting.value):
            octal = re.fullmatch(r"0o?([0-7]{3})", setting.value)
            text = (
                "uWSGI accepts only three octal digits and exits; write "
                f"{octal[1] if octal else '660'}"
            )
            fix = config.change(setting, octal[1]) if octal else None
            yield config.flaw(setting, text, fix)


OTHERS = ("py-tracebacker", "pty-socket", "tuntap-router", "zerg-pool", "zergpool")
"""Beginnings of options that make UNIX sockets beside those that are addresses to listen at."""


@rule(
    "UW221",
    Severity.NO_EFFECT,
    "chmod-socket or chown-socket without a UNIX socket",
    why="this is about UNIX sockets, and all addresses are TCP; leave it out",
    source="core/socket.c:242 `chmod_socket`",
    bad="socket = 127.0.0.1:3031\nchmod-socket = 660",
    good="socket = /run/app.sock\nchmod-socket = 660",
    near_miss="socket = 127.0.0.1:3031\nstats = /run/stats.sock\nchmod-socket = 660",
)
def mode_of_no_socket(config: Case) -> Iterator[Flaw]:
    """With `uid`, uWSGI binds as root because of chown-socket: core/uwsgi.c:2619."""
    bound = [setting.value for setting in config.settings if BINDS.fullmatch(setting.option)]
    tcp = bound and not any(is_unix(address) or re.search(r"[$%]\(", address) for address in bound)
    if tcp and not config.starting(*OTHERS):
        yield from (
            config.flaw(setting, fix=config.drop(setting))
            for setting in written(config, "chmod-socket")
        )
        if not config.all("uid", "gid"):
            yield from (
                config.flaw(setting, fix=config.drop(setting))
                for setting in written(config, "chown-socket")
            )


present(
    "UW222",
    "buffer-size",
    "uWSGI stores the size in 16 bits and uses 65535 instead, without a warning; write 65535",
    title="buffer-size above 65535",
    source="core/uwsgi.c:4108 `65535`; uwsgi#1573",
    bad="buffer-size = 131072",
    good="buffer-size = 65535",
    near_miss="buffer-size = 32768\npost-buffering = 131072",
    when=lambda config: config.number("buffer-size") > 65535,
    fix=lambda config, setting: config.change(setting, "65535", safe=True),
)
