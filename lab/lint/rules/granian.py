"""granian's command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lab.config.granian.command import TABLE, default_threads, interface_of, workers_of
from lab.config.interface import ASGI, RSGI, WSGI
from lab.config.steps import Drop, Put
from lab.lint.rules.command_options import (
    cut_backlog,
    refused_values,
    reload_on,
    unknown_options,
)
from lab.lint.rules.rule import WHY, Case, Edit, Fix, Flaw, Severity, rule


@rule(
    "GR001",
    Severity.ERROR,
    "no --interface",
    why="granian calls the application by RSGI, and an application for WSGI or ASGI answers 500; "
    "write --interface wsgi or --interface asgi, or --interface rsgi if you mean that",
    source="granian/cli.py:127 `Interfaces.RSGI`",
    bad="granian site:app",
    good="granian --interface wsgi site:app",
    near_miss="GRANIAN_INTERFACE=wsgi granian site:app",
)
def rsgi(config: Case) -> Iterator[Flaw]:
    """A remark where the variable may be set elsewhere: in a script, beside EnvironmentFile=."""
    if config.last("interface") is not None:
        return
    is_script = (config.texts.get(config.file) or "").startswith("#!")
    if is_script or config.known.surroundings.has_other_variables:
        text = f"no --interface: unless GRANIAN_INTERFACE is set, {WHY}"
        yield config.flaw(config.top, text, harmless=True)
    else:
        yield config.flaw(config.top, f"no --interface: {WHY}")


@rule(
    "GR002",
    Severity.REMARK,
    "threads limited only by the backlog",
    why="a worker starts up to half of its share of the backlog as threads; on two CPUs so many "
    "halved the requests/s of a handler that computes",
    source="granian/server/common.py:173 `self.backpressure // 2`",
    bad="granian --interface wsgi site:app",
    good="granian --interface wsgi --blocking-threads 32 site:app",
    near_miss="granian --interface wsgi --backpressure 32 site:app",
    versions=">=2",
)
def many_threads(config: Case) -> Iterator[Flaw]:
    """Each may hold a database connection."""
    if not is_wsgi(config) or config.last("blocking-threads"):
        return
    threads, workers = default_threads(config), workers_of(config)
    share = threads_in_words(config)
    allowed, backlog = config.known.db_connections, config.last("backlog")
    if allowed is None or threads * workers > allowed:
        text = (
            f"no --blocking-threads: a worker may run {share} threads, and each may hold a "
            "database connection; write --blocking-threads with as many as the database allows"
        )
        if backlog and not config.last("backpressure"):
            text = (
                "without --blocking-threads this also sets how many threads a worker may run, "
                f"{share} (half of its share); write --blocking-threads with as many as the "
                "database allows"
            )
            yield config.flaw(backlog, text)
        else:
            yield config.flaw(config.top, text)


def is_wsgi(config: Case) -> bool:
    """Return whether it serves a WSGI application."""
    return interface_of(config) == WSGI


def threads_in_words(config: Case) -> str:
    """Return the default number of threads; a quotient where the number of workers is unknown."""
    threads, setting = default_threads(config), config.last("workers")
    if setting is None or setting.value.isdecimal() or config.number("backpressure"):
        return str(threads)
    return f"{threads} / workers ({threads // 4} with 4)"


@rule(
    "GR003",
    Severity.REMARK,
    "one thread per worker",
    why="a worker serves one request at a time, and a request that waits holds up the others; use "
    "more threads, or leave it out",
    source="granian/server/common.py:171 `blocking_threads`",
    bad="granian --interface wsgi --blocking-threads 1 site:app",
    good="granian --interface wsgi --blocking-threads 32 site:app",
    near_miss="granian --interface wsgi --blocking-threads 10 site:app",
    versions=">=2",
)
def one_thread(config: Case) -> Iterator[Flaw]:
    """Requests wait for one another."""
    setting = config.last("blocking-threads")
    if setting and is_wsgi(config) and config.number("blocking-threads") == 1:
        yield config.flaw(setting)


@rule(
    "GR004",
    Severity.REMARK,
    "a backlog longer than the kernel allows",
    why="the kernel shortens the queue to net.core.somaxconn without a warning",
    source="https://man7.org/linux/man-pages/man2/listen.2.html",
    bad="granian --interface wsgi --blocking-threads 32 --backlog 8192 site:app",
    good="granian --interface wsgi --blocking-threads 32 --backlog 1024 site:app",
    near_miss="granian --interface wsgi --blocking-threads 32 --backlog 4096 site:app",
)
def cut(config: Case) -> Iterator[Flaw]:
    """The queue is shorter than written."""
    yield from cut_backlog(config)


INSTEAD = {
    "threads": "--runtime-threads",
    "threading-mode": "--runtime-mode (st for workers, mt for runtime)",
    "io-blocking-threads": "--runtime-blocking-threads",
    "opt": "",
    "no-opt": "",
    "bind": "--host and --port",
    "-b": "--host and --port",
    "-w": "--workers",
    "timeout": "",
}
"""Option of an earlier granian, or of another server -> what to write; "" for nothing like it."""


@rule(
    "GR005",
    Severity.ERROR,
    "an option that granian does not have",
    why="granian prints `No such option` and does not start",
    source="granian/cli.py:106 `click.option(*param_decls, cls=cls, **attrs)`",
    bad="granian --interface wsgi --worker 4 site:app",
    good="granian --interface wsgi --workers 4 site:app",
    near_miss="granian --interface wsgi --workers=4 site:app",
    versions=">=2",
)
def unknown_option(config: Case) -> Iterator[Flaw]:
    """It does not start."""
    threads = {"threads": "--blocking-threads"} if is_wsgi(config) else {}
    yield from unknown_options(config, TABLE, {**INSTEAD, **threads})


@rule(
    "GR006",
    Severity.ERROR,
    "a value that granian refuses",
    why="granian prints `Invalid value` and does not start",
    source="granian/cli.py:132 `click.IntRange(1)`",
    bad="granian --interface wsgi --workers auto site:app",
    good="granian --interface wsgi --workers 4 site:app",
    near_miss='granian --interface wsgi --workers "$WORKERS" site:app',
)
def refused(config: Case) -> Iterator[Flaw]:
    """It is none of those that the option takes."""
    yield from refused_values(config, TABLE)


@rule(
    "GR007",
    Severity.DANGEROUS,
    "workers that are not replaced",
    why="when one worker dies, for example by the OOM killer, granian stops the others and exits "
    "with status 1; write --respawn-failed-workers",
    source="granian/server/common.py:549 `if not self.respawn_failed_workers:`",
    bad="granian --interface wsgi --blocking-threads 32 --workers 4 site:app",
    good="granian --interface wsgi --blocking-threads 32 --workers 4 --respawn-failed-workers "
    "site:app",
    near_miss="granian --interface wsgi --blocking-threads 32 --workers 1 site:app",
)
def not_respawned(config: Case) -> Iterator[Flaw]:
    """Of one worker it is silent: whoever watches the server starts it anew in any case."""
    setting = config.last("workers")
    if setting is None or config.on("respawn-failed-workers"):
        return
    if not config.knows("workers") or config.number("workers") > 1:
        option = "--respawn-failed-workers"
        there = config.last(option[2:], f"no-{option[2:]}")
        yield config.flaw(setting, fix=None if there else _with(config, option))


ENOUGH = 1 << 15
"""Bytes of headers that proxies pass on: nginx's large_client_header_buffers is 4 times 8 KiB."""


@rule(
    "GR008",
    Severity.DANGEROUS,
    "a header buffer smaller than what proxies pass on",
    why="a request with longer headers, for example with many cookies, gets 431; leave it out, "
    "granian's default is about 417,792 bytes",
    source="granian/cli.py:178 `HTTP1Settings.max_buffer_size`; overhangio/tutor#1321",
    bad="granian --interface wsgi --blocking-threads 32 --http1-buffer-size 8192 site:app",
    good="granian --interface wsgi --blocking-threads 32 site:app",
    near_miss="granian --interface wsgi --blocking-threads 32 --http1-buffer-size 32768 site:app",
)
def small_buffer(config: Case) -> Iterator[Flaw]:
    """As a translation of uWSGI's buffer-size, which is 4096 by default, it takes room away."""
    setting, http = config.last("http1-buffer-size"), config.last("http")
    read = http is None or http.value != "2"
    if setting and read and 0 < config.number("http1-buffer-size") < ENOUGH:
        yield config.flaw(setting, steps=(Drop("http1-buffer-size"),))


@rule(
    "GR009",
    Severity.DANGEROUS,
    "reload",
    why="a changed file stops all workers at once, and a worker that dies ends the server, even "
    "with --respawn-failed-workers; leave it out in production",
    source="granian/server/common.py:624 `stop_event=self.main_loop_interrupt`",
    bad="granian --interface wsgi --blocking-threads 32 --reload site:app",
    good="granian --interface wsgi --blocking-threads 32 site:app",
    near_miss="granian --interface wsgi --blocking-threads 32 --no-reload site:app",
    versions=">=2",
)
def reloads(config: Case) -> Iterator[Flaw]:
    """It is for who writes the application."""
    yield from reload_on(config)


@rule(
    "GR014",
    Severity.ERROR,
    "threads for an application of ASGI or RSGI",
    why="granian prints `Blocking threads > 1 is not supported on ASGI and RSGI` and does not "
    "start; leave it out",
    source="granian/server/common.py:676 `self.blocking_threads > 1`",
    bad="granian --interface asgi --blocking-threads 4 site:app",
    good="granian --interface asgi site:app",
    near_miss="granian --interface asgi --blocking-threads 1 site:app",
    versions=">=2",
)
def threads_of_a_loop(config: Case) -> Iterator[Flaw]:
    """Their requests share an event loop. Without --interface, that is what is wrong."""
    setting = config.last("blocking-threads")
    called = interface_of(config) if config.last("interface") else ""
    if setting and called in {ASGI, RSGI} and config.number("blocking-threads") > 1:
        yield config.flaw(setting, steps=(Drop("blocking-threads"),))


def _with(config: Case, option: str) -> Fix:
    """Return the fix that writes an option behind the word granian."""
    column = config.line(config.top).index("granian", config.top.column - 1) + 1
    edit = Edit(replace(config.top, column=column), "granian", f"granian {option}")
    name, _, value = option.removeprefix("--").partition(" ")
    return Fix((edit,), safe=False, description=option, steps=(Put(name, value or "true"),))
