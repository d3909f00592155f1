"""granian's command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lab.settings.rules.rule import WHY, Config, Edit, Fix, Flaw, Severity, rule


@rule(
    "GR001",
    Severity.ERROR,
    "no interface",
    why="granian calls the application by RSGI, and one that is written for WSGI answers 500; "
    "write --interface wsgi, or rsgi where that is meant",
    seen="granian/cli.py:127 `Interfaces.RSGI`",
    bad="granian site:app",
    good="granian --interface wsgi site:app",
)
def rsgi(config: Config) -> Iterator[Flaw]:
    """A WSGI application cannot be called that way."""
    if config.last("interface") is None:
        column = config.line(config.top).index("granian", config.top.column - 1) + 1
        edit = Edit(replace(config.top, column=column), "granian", "granian --interface wsgi")
        fix = Fix((edit,), safe=False, says="--interface wsgi")
        yield config.flaw(config.top, f"no --interface: {WHY}", fix)


@rule(
    "GR002",
    Severity.REMARK,
    "as many threads as the backlog allows",
    why="a worker starts up to half of its share of the backlog as threads",
    seen="granian/server/common.py:173 `self.backpressure // 2`",
    bad="granian --interface wsgi site:app",
    good="granian --interface wsgi --blocking-threads 32 site:app",
)
def many_threads(config: Config) -> Iterator[Flaw]:
    """Each may hold a database connection."""
    interface, workers = config.last("interface"), max(1, config.number("workers", 1))
    if interface is None or interface.value != "wsgi" or config.last("blocking-threads"):
        return
    share = config.number("backpressure") or max(128, config.number("backlog", 1024)) // workers
    threads, allowed = max(1, share // 2), config.known.db_connections
    if allowed is None or threads * workers > allowed:
        text = (
            f"no --blocking-threads: a worker may run {threads} threads, and each may hold a "
            "connection to the database; write --blocking-threads with as many as it allows"
        )
        yield config.flaw(config.top, text)


@rule(
    "GR003",
    Severity.REMARK,
    "one thread a worker",
    why="each worker runs one request at a time, and one that waits holds up the others; use "
    "more, or leave it out",
    seen="granian/server/common.py:171 `blocking_threads`",
    bad="granian --interface wsgi --blocking-threads 1 site:app",
    good="granian --interface wsgi --blocking-threads 32 site:app",
)
def one_thread(config: Config) -> Iterator[Flaw]:
    """Requests wait for one another."""
    setting = config.last("blocking-threads")
    if setting and config.number("blocking-threads") == 1:
        yield config.flaw(setting)


@rule(
    "GR004",
    Severity.REMARK,
    "a backlog that the kernel cuts",
    why="a queue is no longer than net.core.somaxconn, and the kernel does not say so",
    seen="https://man7.org/linux/man-pages/man2/listen.2.html",
    bad="granian --interface wsgi --blocking-threads 32 --backlog 8192 site:app",
    good="granian --interface wsgi --blocking-threads 32 --backlog 1024 site:app",
)
def cut(config: Config) -> Iterator[Flaw]:
    """The queue is shorter than written."""
    setting, most = config.last("backlog"), config.known.somaxconn
    if setting and most is not None and config.number("backlog") > most:
        text = f"the kernel cuts it to {most} without a word; raise net.core.somaxconn as well"
        yield config.flaw(setting, text)
