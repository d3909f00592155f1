"""Where clients come in: sockets of the workers, the router before them, and what queues there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.lint.address import is_open
from lab.lint.rules.alike import missing, present, with_line
from lab.lint.rules.rule import Case, Flaw, Severity, rule

CLOSES = "connection:close"


def routed(config: Case) -> bool:
    """Return whether uWSGI's HTTP router stands before the workers."""
    return bool(config.sockets("router"))


@rule(
    "UW309",
    Severity.DANGEROUS,
    "http11-socket with fewer places than connections",
    why="a kept connection holds its worker's place until it closes, or is idle for 4 seconds",
    seen="proto/http.c:770 `Connection: close`; uwsgi#2038; docs/runs/keep-alive",
    bad="http11-socket = 127.0.0.1:8080\nprocesses = 4",
    good="http-socket = 127.0.0.1:8080\nprocesses = 4",
    near="http11-socket = 127.0.0.1:8080\nprocesses = 4\nthreads = 32",
)
def starving(config: Case) -> Iterator[Flaw]:
    """The first clients get all replies, and the others none."""
    expected = config.known.connections
    for setting in config.sockets("http11") if config.cores < expected else ():
        text = (
            f"a kept connection holds its worker, with room for {config.cores} of {expected} "
            "clients; the others get no reply (56 of 64 got none from 8, measured); use "
            "http-socket, behind a proxy that keeps connections"
        )
        yield config.flaw(setting, text, config.rename(setting, "http-socket"))


@rule(
    "UW310",
    Severity.DANGEROUS,
    "http-socket for everybody",
    why="any host can reach it, and a client that sends its headers slowly holds a worker, so "
    "that a few of them stop the service (4.98 s, measured); put a proxy in front that buffers, "
    "and listen on a UNIX socket or 127.0.0.1",
    seen="docs/runs/stress.json; docs/explanation/what-faults-cost.md",
    bad="http-socket = 0.0.0.0:80",
    good="http-socket = 127.0.0.1:8080",
    near="http-socket = [::1]:80",
)
def slow_clients(config: Case) -> Iterator[Flaw]:
    """
    As many slow clients stop the service as there are workers.

    A remark where others say who reaches the port: of a container, or of a platform that gives it.
    """
    for setting in config.sockets("http"):
        given = re.search(r":\$\(\w+\)$", setting.raw)
        if is_open(setting.value) and (given or config.known.container):
            text = (
                "whoever reaches it may hold a worker by sending headers slowly (4.98 s until the "
                "service stopped, measured); publish it to a proxy that buffers, and to no other"
            )
            yield config.flaw(setting, text, harmless=True)
        elif is_open(setting.value):
            yield config.flaw(setting)


present(
    "UW311",
    "touch-reload fs-reload",
    "a reload kills the HTTP router first, so that requests under way are lost and new ones "
    "refused until it is back; use touch-chain-reload with lazy-apps, or a proxy before `socket`",
    seen="core/master_utils.c:48 `uwsgi_destroy_processes`",
    bad="http = 127.0.0.1:8080\nmaster = true\ntouch-reload = /srv/reload",
    good="http = 127.0.0.1:8080\nmaster = true\nlazy-apps = true\ntouch-chain-reload = /srv/reload",
    near="socket = /run/app.sock\nmaster = true\ntouch-reload = /srv/reload",
    when=routed,
)

present(
    "UW312",
    "http-socket",
    "it closes each connection after the reply and does not say so: a client that keeps "
    "connections sends its next request into a closed one (31% were sent again, measured); write "
    "add-header = Connection: close",
    seen="docs/runs/keep-alive; docs/reference/profiles.md",
    bad="http-socket = 127.0.0.1:8080",
    good="http-socket = 127.0.0.1:8080\nadd-header = Connection: close",
    near="http-socket = 127.0.0.1:8080\nadd-header = connection:close",
    when=lambda config: (
        not any(
            "".join(setting.value.split()).lower().endswith(CLOSES) for setting in config.settings
        )
    ),
    mends=with_line("add-header = Connection: close"),
)


@rule(
    "UW313",
    Severity.DANGEROUS,
    "an accept queue shorter than the clients",
    why="of connections that find the queue full the kernel drops the handshake",
    seen="core/init.c:119 `listen_queue = 100`; uwsgi#1804; docs/runs/stress.json",
    bad="http-socket = 127.0.0.1:8080\nlisten = 20",
    good="http-socket = 127.0.0.1:8080\nlisten = 1024",
    near="http-socket = 127.0.0.1:8080\nlisten = 100",
)
def short_queue(config: Case) -> Iterator[Flaw]:
    """What does not fit waits for the kernel's retry timer."""
    queue, expected = config.number("listen", 100), config.known.connections
    if queue < expected and config.sockets():
        setting, wanted = config.last("listen"), max(1024, expected)
        text = (
            f"the accept queue holds {queue} connections and {expected} clients are expected; "
            "one that does not fit waits for 1 s and more (820 of 1,401, measured); write "
            f"listen = {wanted}, and net.core.somaxconn must not be below that"
        )
        if setting is None:
            yield config.flaw(config.top, f"no listen: {text}", config.add(f"listen = {wanted}"))
        else:
            yield config.flaw(setting, text, config.change(setting, str(wanted)))


missing(
    "UW319",
    "max-fd = 65536",
    "the HTTP router takes 8 bytes for each descriptor that it may open, 8.6 GB where a container "
    "allows 2^30; write max-fd = 65536",
    seen="plugins/corerouter/corerouter.c:666 `max_fd`; uwsgi#2299; nautobot/helm-charts#760",
    bad="http = 127.0.0.1:8080",
    near="http = 127.0.0.1:8080\nmax-fd = 4096",
    when=lambda config: bool(config.known.container and routed(config)),
)

missing(
    "UW321",
    "buffer-size = 32768",
    "a request whose headers are longer than 4096 bytes, as one with many cookies, is closed "
    "without a reply; write buffer-size = 32768",
    seen="core/init.c:112 `buffer_size = 4096`; proto/uwsgi.c:24 `buffer_size`; zulip#22349",
    bad="http-socket = 127.0.0.1:8080",
    near="http-socket = 127.0.0.1:8080\nbuffer-size = 8192",
    when=lambda config: bool(config.sockets()),
)
