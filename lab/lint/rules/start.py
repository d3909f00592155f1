"""What keeps a server from starting, or from ending as it is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lab.lint.rules.alike import present, without, written
from lab.lint.rules.rule import Case, Flaw, Severity, rule

APPLICATIONS = re.compile(
    "module|wsgi|wsgi-file|file|mount|paste|ini-paste|ini-paste-logged|eval|pyrun|wsgi-lite|pump"
    "|web3|web3-lite|pecan|vhost|virtualhosting|http-to|zerg|no-server|check-static|docroot|need-app"
)
"""Options that name what is served, or say that something else is."""

OTHER = ("route", "static-", "emperor", "vassal", "fastrouter", "rawrouter", "sslrouter", "mule")
"""Beginnings of options of a server that may have no application of its own."""


def names_application(config: Case) -> bool:
    """Return whether an option says what is served."""
    return any(APPLICATIONS.fullmatch(setting.option) for setting in config.settings)


@rule(
    "UW101",
    Severity.ERROR,
    "listen above net.core.somaxconn",
    why="uWSGI does not start with a longer queue than the kernel allows",
    source="core/socket.c:120 `somaxconn`",
    bad="listen = 8192",
    good="listen = 128",
    near_miss="listen = 4096",
)
def queue_too_long(config: Case) -> Iterator[Flaw]:
    """It ends while it opens its sockets."""
    limit = config.known.somaxconn
    for setting in written(config, "listen"):
        if limit is not None and config.number("listen") > limit:
            text = (
                f"uWSGI does not start, because net.core.somaxconn is {limit} here; raise it "
                f"(sysctl -w net.core.somaxconn={config.number('listen')}), or write {limit}"
            )
            yield config.flaw(setting, text)


present(
    "UW103",
    "max-worker-lifetime",
    "uWSGI does not start, because this is not above min-worker-lifetime, which is 10 by default; "
    "write more",
    title="max-worker-lifetime that is not above min-worker-lifetime",
    source="core/init.c:476 `min_worker_lifetime`",
    bad="master = true\nmax-worker-lifetime = 10",
    good="master = true\nmax-worker-lifetime = 10\nmin-worker-lifetime = 5",
    near_miss="master = true\nmax-worker-lifetime = 0",
    when=lambda config: (
        0 < config.number("max-worker-lifetime") <= config.number("min-worker-lifetime", 10)
    ),
)


@rule(
    "UW107",
    Severity.ERROR,
    "an option that this build does not have",
    why="a uWSGI built without PCRE does not have route, nor the other options that need it",
    source="core/uwsgi.c:807 `route`; docs/reference/production-settings.md",
    bad="route = ^/x log:x",
    good="static-map = /x=/srv/x",
    near_miss="static-map = /x=/srv/x\nif-env = WITH_PCRE\nroute = ^/x log:x\nendif =",
)
def not_in_build(config: Case) -> Iterator[Flaw]:
    """What plugins bring is not looked for: they may be loaded."""
    options = config.known.options
    for setting in config.settings if options else ():
        entry = config.table.entries.get(setting.option)
        if options and entry and not entry.plugin and entry.name not in options:
            text = (
                "this build of uWSGI does not have the option, because a library was missing when "
                "it was built (libpcre2-dev for route, libcap-dev for cap); build it again with "
                "that library, or leave the option out"
            )
            yield config.flaw(setting, text)


@rule(
    "UW108",
    Severity.ERROR,
    "a plugin that is part of the build",
    why="uWSGI looks for a file of that name anyway: without it, plugins goes on and need-plugins "
    "ends uWSGI",
    source="core/uwsgi.c:4438 `need-`; uwsgi#1992; docker-ckan#6",
    bad="need-plugins = python3",
    good="need-plugins = /usr/lib/uwsgi/plugins/python3_plugin.so",
    near_miss="need-plugins = router_redirect",
)
def plugin_inside(config: Case) -> Iterator[Flaw]:
    """As python in pip's build. Whether another plugin's file is there is not looked at."""
    inside = config.known.plugins or frozenset()
    for setting in config.all("plugin", "plugins", "need-plugin", "need-plugins"):
        names = [name.strip() for name in setting.value.split(",")]
        # "python3" and "python311" are Debian's names for the one that is called python inside.
        embedded = [name for name in names if {name, name.rstrip("0123456789")} & inside]
        if embedded:
            ends = setting.option.startswith("need-")
            effect = "does not start without it" if ends else "logs that it is missing"
            text = (
                f"{embedded[0]} is part of this uWSGI, which looks for {embedded[0]}_plugin.so "
                f"anyway and {effect}; leave it out"
            )
            fix = config.drop(setting) if embedded == names else None
            yield config.flaw(setting, text, fix, harmless=not ends)


@rule(
    "UW109",
    Severity.ERROR,
    "a path that does not exist",
    why="uWSGI exits if chdir fails, and Python aborts without its home",
    source="core/uwsgi.c:2636 `chdir`; plugins/python/python_plugin.c:232 `up.home`",
    bad="home = %dvnev",
    good="home = %d.",
    near_miss="if-exists = %dvnev\nhome = %dvnev\nendif =",
)
def no_such_path(config: Case) -> Iterator[Flaw]:
    """Only on the machine that serves it."""
    for setting in written(config, "chdir", "home") if config.known.here else ():
        if not config.known.is_folder(absolute(config, setting.value)):
            text = (
                "the folder does not exist, so uWSGI does not start; create it, or correct the path"
            )
            yield config.flaw(setting, text)


@rule(
    "UW113",
    Severity.ERROR,
    "nothing to serve",
    why='uWSGI starts in "full dynamic mode", and every reply is 500',
    source="core/uwsgi.c:3889 `full dynamic mode`",
    bad="http-socket = :8080",
    good="http-socket = :8080\nmodule = app:app",
    near_miss="http-socket = :8080\n"
    "route = .* redirect-permanent:https://${HTTP_HOST}${REQUEST_URI}",
)
def no_application(config: Case) -> Iterator[Flaw]:
    """A remark, because the command line may name one."""
    known = [config.table.entries.get(setting.option) for setting in config.settings]
    foreign = any(entry and entry.plugin not in {"", "python", "http"} for entry in known)
    named = names_application(config) or config.starting(*OTHER)
    if config.sockets() and not (foreign or named or config.guesses):
        text = (
            "no application: unless the command line or the environment names one, every reply is "
            "500; add module = PACKAGE.MODULE:CALLABLE"
        )
        yield config.flaw(config.top, text, harmless=True)


present(
    "UW116",
    "uid gid",
    "uWSGI is not started by root, and only root can switch to another user, so uWSGI exits; leave "
    "it out, or start it as root",
    title="uid or gid without root",
    source="core/utils.c:1003 `setuid`; core/utils.c:999 `setgid`",
    bad="uid = www-data",
    good="vacuum = true",
    near_miss="vacuum = true\nif-env = STARTED_BY_ROOT\nuid = www-data\nendif =",
    when=lambda config: config.known.root is False,
)


@rule(
    "UW119",
    Severity.ERROR,
    "a user or a group that does not exist",
    why="uWSGI exits if the name does not exist; create the user, or write a number. With --uwsgi, "
    "lab lint looks the name up on this machine",
    source="core/utils.c:774 `user %s not found`; core/utils.c:2627 `unable to find group %s`",
    bad="uid = shop-of-nobody",
    good="uid = nobody",
    near_miss="uid = 10001",
)
def nobody_of_that_name(config: Case) -> Iterator[Flaw]:
    """A number needs no user. A container and a jail have users of their own."""
    if not config.known.here or config.known.container or config.starting("chroot"):
        return
    of_root = config.known.root is not False  # of anybody else uWSGI asks no name but an owner's
    of_root_alone = ("uid", "gid", "immediate-uid", "immediate-gid") * of_root
    for setting in config.all(*of_root_alone, "chown-socket"):
        user, _, group = setting.value.partition(":")
        if config.table.canonical(setting.option).endswith("gid"):
            user, group = "", user
        for name, kind, known in (
            (user, "user", config.known.is_user),
            (group, "group", config.known.is_group),
        ):
            if name and not name.isdigit() and "(" not in name and known(name) is False:
                advice = f"create that {kind}, or write a number"
                yield config.flaw(
                    setting, f"the {kind} {name} does not exist, so uWSGI exits; {advice}"
                )


present(
    "UW204",
    "die-on-term",
    "without a master this has no effect, because SIGTERM ends uWSGI anyway; add master = true, or "
    "leave it out",
    title="die-on-term without a master",
    source="core/master.c:346 `die_on_term`",
    bad="die-on-term = true",
    good="die-on-term = true\nmaster = true",
    near_miss="die-on-term = true\nmaster",
    when=lambda config: not config.master,
    fix=without,
)

present(
    "UW205",
    "no-orphans",
    "without a master workers outlive their first process anyway; add master = true",
    title="no-orphans without a master",
    source="core/uwsgi.c:3344 `no_orphans`",
    bad="no-orphans = true",
    good="no-orphans = true\nmaster = true",
    near_miss="no-orphans = true\nstats = 127.0.0.1:1717",
    when=lambda config: not config.master,
    fix=without,
)


def absolute(config: Case, path: str) -> Path:
    """Return what a path of the configuration means."""
    return (config.known.cwd or config.file.absolute().parent) / path
