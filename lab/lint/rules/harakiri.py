"""Requests that take too long, and what ends them."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lint.address import is_open, is_unix
from lab.lint.rules.alike import present, with_line, without
from lab.lint.rules.rule import Case, Flaw, Setting, Severity, rule

present(
    "UW304",
    "harakiri",
    "requests that run at once in a worker share one timer, and each that ends resets it, so a "
    "stuck request may never end; write threads = 1, without gevent and async, or leave it out",
    title="harakiri with several requests at once in a worker",
    source="core/utils.c:55 `set_harakiri`; uwsgi#2606; uwsgi#2706; "
    "docs/explanation/non-blocking.md",
    bad="master = true\nthreads = 2\nharakiri = 60",
    good="master = true\nthreads = 1\nharakiri = 60",
    near_miss="master = true\nthreads = 2\nharakiri = 0",
    when=lambda config: config.at_once > 1,
)

present(
    "UW305",
    "harakiri",
    "the timer runs while a client sends the body, so a slow upload counts as a slow handler; "
    "write post-buffering = 8192",
    title="harakiri without post-buffering",
    source="core/init.c:442 `harakiri without post buffering`",
    bad="http-socket = :8080\nmaster = true\nharakiri = 60",
    good="http-socket = :8080\nmaster = true\nharakiri = 60\npost-buffering = 8192",
    near_miss="http-socket = 127.0.0.1:8080\nmaster = true\nharakiri = 60",
    when=lambda config: (
        not config.on("post-buffering")
        # A proxy before any other socket sends the body when it has all of it.
        and any(is_open(socket.value) for socket in config.sockets("http", "http11", "router"))
    ),
    fix=with_line("post-buffering = 8192"),
)


@rule(
    "UW306",
    Severity.DANGEROUS,
    "harakiri above worker-reload-mercy",
    why="a reload kills a worker after worker-reload-mercy, 60 seconds by default, even if "
    "harakiri allows its request more",
    source="core/init.c:125 `worker_reload_mercy = 60`; core/master.c:141 `no_mercy_at`",
    bad="master = true\nharakiri = 120",
    good="master = true\nharakiri = 120\nworker-reload-mercy = 120",
    near_miss="master = true\nharakiri = 60",
)
def no_mercy(config: Case) -> Iterator[Flaw]:
    """A reload kills what harakiri allows."""
    yield from _shorter(
        config,
        "worker-reload-mercy",
        "a reload kills a request after {} s that harakiri allows {} s",
    )


@rule(
    "UW307",
    Severity.DANGEROUS,
    "harakiri above http-timeout",
    why="the router gives up after http-timeout, 60 seconds by default, and the worker goes on",
    source="plugins/corerouter/corerouter.c:681 `socket_timeout = 60`",
    bad="http = 127.0.0.1:8080\nmaster = true\nharakiri = 300",
    good="http = 127.0.0.1:8080\nmaster = true\nharakiri = 300\nhttp-timeout = 300",
    near_miss="http-socket = 127.0.0.1:8080\nmaster = true\nharakiri = 300",
)
def router_gives_up(config: Case) -> Iterator[Flaw]:
    """The client is gone and the worker is busy."""
    if config.sockets("router"):
        says = "the router drops a request after {} s that harakiri allows {} s"
        yield from _shorter(config, "http-timeout", says)


def _shorter(config: Case, name: str, says: str) -> Iterator[Flaw]:
    """Yield a flaw if an option, by default 60 seconds, is below harakiri."""
    harakiri, other = config.last("harakiri"), config.last(name)
    limit, allowed = config.number(name, 60), config.number("harakiri")
    if harakiri is not None and limit < allowed:
        line = f"{name} = {allowed}"
        fix = config.change(other, str(allowed)) if other else config.add(line, after=harakiri)
        yield config.flaw(harakiri, f"{says.format(limit, allowed)}; write {line}", fix)


def _unix_only(config: Case) -> bool:
    """Return whether all requests come by UNIX sockets, the router's not counted."""
    workers: list[Setting] = config.sockets("uwsgi", "fastcgi", "scgi", "http", "http11", "raw")
    return bool(workers) and all(is_unix(worker.value) for worker in workers)


present(
    "UW308",
    "harakiri-queue-threshold",
    "the queue of a UNIX socket reads as 0, which is below any threshold, so harakiri never ends a "
    "request; leave it out",
    title="harakiri-queue-threshold with UNIX sockets",
    source="core/master_checks.c:203 `harakiri_queue_threshold`",
    bad="socket = /run/app.sock\nmaster = true\nharakiri = 60\nharakiri-queue-threshold = 10",
    good="socket = /run/app.sock\nmaster = true\nharakiri = 60",
    near_miss=(
        "socket = /run/app.sock\n"
        "socket = 127.0.0.1:3031\n"
        "master = true\n"
        "harakiri = 60\n"
        "harakiri-queue-threshold = 10"
    ),
    when=_unix_only,
    fix=without,
)
