"""Who may reach what."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import PurePosixPath

from lab.lint.address import is_file, is_open
from lab.lint.rules.alike import missing, present, renamed, written
from lab.lint.rules.lifecycle import serves_python
from lab.lint.rules.listening import published
from lab.lint.rules.rule import Case, Flaw, Severity, rule

SCHEME = r"route-if-not = regexp:${HTTP_X_FORWARDED_PROTO};^(https?)?\z setscheme:http"
"""What makes the scheme "http" unless it is exactly one of the two."""


TEMPORARY = "/tmp"  # noqa: S108 - what is looked for, and not used


@rule(
    "UW401",
    Severity.DANGEROUS,
    "a uwsgi, FastCGI or SCGI socket open to every host",
    why="any host can reach it, and whoever speaks this protocol can make uWSGI run any file; "
    "listen on a UNIX socket, 127.0.0.1 or the proxy's network",
    source="core/protocol.c:294 `UWSGI_FILE`; uwsgi#2336",
    bad="socket = 0.0.0.0:3031",
    good="socket = 127.0.0.1:3031",
    near_miss="socket = [::1]:3031",
)
def code_execution(config: Case) -> Iterator[Flaw]:
    """Whoever reaches it runs what they like."""
    for setting in config.sockets("uwsgi", "fastcgi", "scgi"):
        if is_open(setting.value):
            yield config.flaw(setting)


@rule(
    "UW402",
    Severity.DANGEROUS,
    "a stats server open to every host",
    why="any host can read the headers of the requests in flight there, including cookies; listen "
    "on a UNIX socket or 127.0.0.1",
    source="core/master_utils.c:1241 `vars`; uwsgi#1317",
    bad="stats = :1717",
    good="stats = 127.0.0.1:1717",
    near_miss="stats = /run/app/1717.sock",
)
def public_stats(config: Case) -> Iterator[Flaw]:
    """They show cookies."""
    for setting in config.all("stats"):
        if is_open(setting.value):
            yield config.flaw(setting)


missing(
    "UW403",
    "uid = www-data",
    "uWSGI runs as root, and so does whoever breaks in through the application; write uid and gid",
    source="core/utils.c:914 `running uWSGI as root`",
    bad="socket = /run/app.sock",
    near_miss="socket = /run/app.sock\nimmediate-uid = www-data",
    when=lambda config: (
        bool(config.known.root and config.sockets()) and not config.last("immediate-uid")
    ),
)


@rule(
    "UW404",
    Severity.DANGEROUS,
    "a socket that every local user can write to",
    why="every user of the machine can send requests past the proxy, and run code by uWSGI's "
    "protocol; write 660, with the proxy in the socket's group",
    source="core/socket.c:242 `chmod_socket`",
    bad="socket = /run/app.sock\nchmod-socket = 666",
    good="socket = /run/app.sock\nchmod-socket = 660",
    near_miss="socket = 127.0.0.1:3031\nchmod-socket = 666",
)
def open_to_users(config: Case) -> Iterator[Flaw]:
    """It skips the proxy, and in uWSGI's protocol it runs code."""
    setting = config.last("chmod-socket")
    others_write = setting and (setting.value == "1" or setting.value[-1:] in set("2367"))
    if setting and others_write and any(is_file(socket.value) for socket in config.sockets()):
        yield config.flaw(setting, fix=config.change(setting, "660"))


@rule(
    "UW405",
    Severity.REMARK,
    "a socket or pidfile in /tmp",
    why="every user of the machine can take this name first, and whatever cleans up /tmp may "
    "delete it; use a folder that only the service can write to, such as /run/app (in systemd "
    "RuntimeDirectory=app creates it)",
    source="https://www.freedesktop.org/software/systemd/man/latest/tmpfiles.d.html",
    bad="socket = /tmp/app.sock",
    good="socket = /run/app/app.sock",
    near_miss="socket = /tmp/app/app.sock",
)
def in_tmp(config: Case) -> Iterator[Flaw]:
    """It may be gone, or another's."""
    others = config.all("stats", "pidfile", "pidfile2", "safe-pidfile", "master-fifo")
    for setting in (*config.sockets(), *others):
        # A folder of its own in there, as of a checkout, may have the right owner.
        if posixpath.dirname(setting.value) == TEMPORARY:
            yield config.flaw(setting)


@rule(
    "UW406",
    Severity.DANGEROUS,
    "static files from the application's folder",
    why="the folder contains the application, so anybody can read its source and settings; name a "
    "folder that contains nothing else",
    source="core/protocol.c:820 `check_static`",
    bad="chdir = /srv/app\ncheck-static = /srv/app",
    good="chdir = /srv/app\ncheck-static = /srv/app/public",
    near_miss="chdir = /srv/app\ncheck-static = /srv/app-static",
)
def serves_itself(config: Case) -> Iterator[Flaw]:
    """Settings and passwords can be read."""
    chdir = config.last("chdir")
    started = config.known.cwd or config.file.absolute().parent
    home = posixpath.normpath(posixpath.join(started, chdir.value if chdir else ""))
    for setting in config.all("check-static", "static-map", "static-map2"):
        folder = setting.value.partition("=")[2] if "map" in setting.option else setting.value
        served = posixpath.normpath(posixpath.join(home, folder))
        if folder and PurePosixPath(home).is_relative_to(served):
            yield config.flaw(setting)


present(
    "UW407",
    "http11-socket",
    "a chunked body that arrives after its headers is taken for the next request, so a client can "
    "hide a request from the proxy; use http-socket",
    source="profiles/http11-socket.ini; docs/reference/malformed.md",
    bad="http11-socket = 127.0.0.1:8080",
    good="http-socket = 127.0.0.1:8080",
    near_miss="http-socket = 127.0.0.1:8080\n"
    "if-env = A_LOAD\nhttp11-socket = 127.0.0.1:81\nendif =",
    fix=renamed("http-socket"),
)


@rule(
    "UW409",
    Severity.DANGEROUS,
    "the PROXY protocol open to every host",
    why="whoever reaches the port can claim to come from any address, and the application, its "
    "limits and its logs believe it; listen where only the load balancer can reach the port",
    source='proto/http.c:85 `memcmp(ptr, "PROXY ", 6)`',
    bad="http = :8080\nhttp-enable-proxy-protocol = true",
    good="http = 127.0.0.1:8080\nhttp-enable-proxy-protocol = true",
    near_miss="http = 10.0.0.7:8080\nhttp-enable-proxy-protocol = true",
)
def claimed_address(config: Case) -> Iterator[Flaw]:
    """A line that any client may send before its request says where it comes from."""
    for option, kinds in (
        ("enable-proxy-protocol", ("router", "http", "http11")),
        ("http-enable-proxy-protocol", ("router",)),
    ):
        exposed = [socket for socket in config.sockets(*kinds) if is_open(socket.value)]
        for setting in written(config, option) if exposed else ():
            text = (
                f"any host can reach {exposed[0].written} and claim to come from any address, and "
                "the application, its limits and its logs believe it; listen where only the load "
                "balancer can reach the port"
            )
            yield config.flaw(setting, text)


@rule(
    "UW410",
    Severity.REMARK,
    "daemonize without umask",
    why="unless an Emperor starts it, uWSGI sets the umask to 0 in the background, so every user "
    "of the machine can write to the pidfile and to what the application makes; write umask = 022",
    source="core/utils.c:162 `umask(0)`",
    bad="daemonize = /var/log/uwsgi.log",
    good="daemonize = /var/log/uwsgi.log\numask = 027",
    near_miss="umask = 0007\ndaemonize = /var/log/uwsgi.log",
)
def writable_by_all(config: Case) -> Iterator[Flaw]:
    """A umask that is written stays as it is; the log's own mode is another."""
    setting = config.first("daemonize", "daemonize2")
    if setting and config.last("umask") is None:
        yield config.flaw(setting, fix=config.add("umask = 022", after=setting))


@rule(
    "UW408",
    Severity.DANGEROUS,
    "X-Forwarded-Proto from every client",
    why="one byte in X-Forwarded-Proto that is not UTF-8 crashes the worker in uWSGI's Python "
    "plugin, in every release since 2.0.8, before the application sees the request",
    source="plugins/python/wsgi_subhandler.c:227 `wsgi.url_scheme`; docs/reference/malformed.md",
    bad="http-socket = :8080\nmodule = site:app",
    good=f"http-socket = :8080\nmodule = site:app\n{SCHEME}",
    near_miss="http-socket = :8080\nstatic-map = /=/srv/site",
)
def scheme(config: Case) -> Iterator[Flaw]:
    """
    A few requests/s keep a small service down.

    A remark where a proxy may set the header: at a UNIX socket, on loopback or a private network,
    in a container, and at a port that a platform gives.
    """
    routes = config.starting("route", "final-route")
    if not serves_python(config) or any("setscheme:" in route.value for route in routes):
        return
    sockets = config.sockets("http", "http11", "router", "uwsgi")
    exposed = [
        socket for socket in sockets if is_open(socket.value) and not published(config, socket)
    ]
    for setting in (exposed or sockets)[:1]:
        text = (
            "any host can crash a worker by one request whose X-Forwarded-Proto has a byte that is "
            f"not UTF-8; write {SCHEME}"
        )
        if not exposed:
            text = (
                "a byte in X-Forwarded-Proto that is not UTF-8 crashes the worker before the "
                f"application sees the request, unless a proxy sets that header; write {SCHEME}"
            )
        routing = config.known.options is None or "route-if-not" in config.known.options
        fix = config.add(SCHEME, after=setting) if routing else None
        yield config.flaw(setting, text, fix, harmless=not exposed)
