"""Where clients connect: sockets of the workers, the router before them, and their queues."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.lint.address import is_open
from lab.lint.rules.alike import missing, present, with_line
from lab.lint.rules.rule import Case, Flaw, Setting, Severity, rule

CLOSES = "connection:close"


def routed(config: Case) -> bool:
    """Return whether uWSGI's HTTP router stands before the workers."""
    return bool(config.sockets("router"))


def published(config: Case, socket: Setting) -> bool:
    """Return whether others decide who reaches a port: it is a container's, or a platform's."""
    return config.known.container or re.search(r":\$\(\w+\)$", socket.raw) is not None


@rule(
    "UW309",
    Severity.DANGEROUS,
    "http11-socket with fewer threads than connections",
    why="a connection that is kept open occupies a thread of a worker until it closes or has been "
    "idle for 4 seconds",
    source="proto/http.c:770 `Connection: close`; uwsgi#2038; docs/runs/keep-alive",
    bad="http11-socket = 127.0.0.1:8080\nprocesses = 4",
    good="http-socket = 127.0.0.1:8080\nprocesses = 4",
    near_miss="http11-socket = 127.0.0.1:8080\nprocesses = 4\nthreads = 32",
)
def starving(config: Case) -> Iterator[Flaw]:
    """The first clients get all replies, and the others none."""
    expected = config.known.connections
    for setting in config.sockets("http11") if config.cores < expected else ():
        text = (
            "a connection that is kept open occupies a thread of a worker, and there are "
            f"{config.cores} for {expected} clients, so the others get no reply (56 of 64 got none "
            "from 8, measured); use http-socket, behind a proxy that keeps connections"
        )
        yield config.flaw(setting, text, config.rename(setting, "http-socket"))


@rule(
    "UW310",
    Severity.DANGEROUS,
    "http-socket open to every host",
    why="any host can reach the port, and a few clients that send their headers slowly occupy all "
    "workers, so other requests wait (up to 4.98 s, measured); put a proxy in front that buffers, "
    "and listen on a UNIX socket or 127.0.0.1",
    source="docs/runs/stress.json; docs/explanation/what-faults-cost.md",
    bad="http-socket = 0.0.0.0:80",
    good="http-socket = 127.0.0.1:8080",
    near_miss="http-socket = [::1]:80",
)
def slow_clients(config: Case) -> Iterator[Flaw]:
    """
    As many slow clients stop the service as there are workers.

    A remark where others say who reaches the port: of a container, or of a platform that gives it.
    """
    for setting in config.sockets("http"):
        if is_open(setting.value) and published(config, setting):
            text = (
                "a few clients that send their headers slowly occupy all workers, so other "
                "requests wait (up to 4.98 s, measured); publish the port only to a proxy that "
                "buffers"
            )
            yield config.flaw(setting, text, harmless=True)
        elif is_open(setting.value):
            yield config.flaw(setting)


present(
    "UW311",
    "touch-reload fs-reload",
    "a reload kills the HTTP router first, so requests in flight are lost and new ones are refused "
    "until it is back; use touch-chain-reload with lazy-apps, or a proxy in front of `socket`",
    title="a reload that kills the HTTP router",
    source="core/master_utils.c:48 `uwsgi_destroy_processes`",
    bad="http = 127.0.0.1:8080\nmaster = true\ntouch-reload = /srv/reload",
    good="http = 127.0.0.1:8080\nmaster = true\nlazy-apps = true\ntouch-chain-reload = /srv/reload",
    near_miss="socket = /run/app.sock\nmaster = true\ntouch-reload = /srv/reload",
    when=routed,
)

present(
    "UW312",
    "http-socket",
    "uWSGI closes each connection after the reply without announcing it, so a client that keeps "
    "connections sends its next request into a closed one (31% were sent again, measured); write "
    "add-header = Connection: close",
    title="http-socket without Connection: close",
    source="docs/runs/keep-alive; profiles/connection-close.ini",
    bad="http-socket = 127.0.0.1:8080",
    good="http-socket = 127.0.0.1:8080\nadd-header = Connection: close",
    near_miss="http-socket = 127.0.0.1:8080\nadd-header = connection:close",
    when=lambda config: (
        config.complete
        and not any(
            "".join(setting.value.split()).lower().endswith(CLOSES) for setting in config.settings
        )
    ),
    fix=with_line("add-header = Connection: close"),
)


@rule(
    "UW313",
    Severity.DANGEROUS,
    "an accept queue shorter than the expected connections",
    why="when the queue is full, the kernel drops the handshake of a new connection",
    source="core/init.c:119 `listen_queue = 100`; uwsgi#1804; docs/runs/stress.json",
    bad="http-socket = 127.0.0.1:8080\nlisten = 20",
    good="http-socket = 127.0.0.1:8080\nlisten = 1024",
    near_miss="http-socket = 127.0.0.1:8080\nlisten = 100",
)
def short_queue(config: Case) -> Iterator[Flaw]:
    """What does not fit waits for the kernel's retry timer."""
    queue, expected = config.number("listen", 100), config.known.connections
    if queue < expected and config.sockets():
        setting, wanted = config.last("listen"), max(1024, expected)
        text = (
            f"the accept queue holds {queue} of {expected} expected connections, and a client that "
            "does not fit waits for at least 1 s (820 of 1,401, measured); write listen = "
            f"{wanted}, and set net.core.somaxconn to at least that"
        )
        if setting is None:
            yield config.flaw(config.top, f"no listen: {text}", config.add(f"listen = {wanted}"))
        else:
            yield config.flaw(setting, text, config.change(setting, str(wanted)))


missing(
    "UW319",
    "max-fd = 65536",
    "the HTTP router allocates 8 bytes for each descriptor that it may open, which is 8.6 GB where "
    "a container allows 2^30; write max-fd = 65536",
    source="plugins/corerouter/corerouter.c:666 `max_fd`; uwsgi#2299; nautobot/helm-charts#760",
    bad="http = 127.0.0.1:8080",
    near_miss="http = 127.0.0.1:8080\nmax-fd = 4096",
    when=lambda config: bool(config.known.container and routed(config)),
)

missing(
    "UW321",
    "buffer-size = 32768",
    "uWSGI closes the connection without a reply if the headers are longer than 4096 bytes, for "
    "example with many cookies; write buffer-size = 32768",
    source="core/init.c:112 `buffer_size = 4096`; proto/uwsgi.c:24 `buffer_size`; zulip#22349",
    bad="http-socket = 127.0.0.1:8080",
    near_miss="http-socket = 127.0.0.1:8080\nbuffer-size = 8192",
    when=lambda config: bool(config.sockets()),
)
