"""Workers that come and go with the load."""

from __future__ import annotations

from collections.abc import Iterator

from lab.settings.lint.address import is_unix
from lab.settings.rules.alike import without_safely, written
from lab.settings.rules.rule import Config, Flaw, Severity, rule

ALGORITHMS = ("spare", "backlog", "manual", "busyness", "backlog2")
"""Of the core, and of the two plugins that have one."""


@rule(
    "UW102",
    Severity.ERROR,
    "cheaper with all processes",
    why="it is how many workers there are in quiet times, fewer than processes",
    seen="core/init.c:453 `cheaper_count >= uwsgi.numproc`",
    bad="processes = 4\ncheaper = 4",
    good="processes = 4\ncheaper = 2",
)
def nothing_to_add(config: Config) -> Iterator[Flaw]:
    """It does not start."""
    for setting in written(config, "cheaper"):
        if config.number("cheaper") >= config.processes:
            text = (
                f"uWSGI does not start, because there are {config.processes} processes at most; "
                "write a smaller number"
            )
            yield config.flaw(setting, text)


@rule(
    "UW104",
    Severity.ERROR,
    "a limit of memory that uWSGI refuses",
    why="the soft limit needs memory-report, the hard one needs the soft one below it",
    seen="core/init.c:482 `cheaper_rss_limit_soft`; core/init.c:490 `cheaper_rss_limit_hard`",
    bad="processes = 4\ncheaper = 2\ncheaper-rss-limit-soft = 500000000",
    good="processes = 4\ncheaper = 2\ncheaper-rss-limit-soft = 500000000\nmemory-report = true",
)
def memory_limits(config: Config) -> Iterator[Flaw]:
    """It does not start."""
    soft, hard = config.last("cheaper-rss-limit-soft"), config.last("cheaper-rss-limit-hard")
    entries = [config.table.entries.get(each.option) for each in config.settings]
    measured = config.on("memory-report") or any(
        each and "MEMORY" in each.flags for each in entries
    )
    if soft and config.on(soft.option) and not measured:
        line = "memory-report = true"
        yield config.flaw(soft, f"uWSGI does not start; add {line}", config.add(line, after=soft))
    if hard and config.number(hard.option) > 0:
        limit = config.number("cheaper-rss-limit-soft")
        if limit == 0:
            yield config.flaw(
                hard, "uWSGI does not start; add cheaper-rss-limit-soft, lower than it"
            )
        elif config.number(hard.option) <= limit:
            yield config.flaw(
                hard, f"uWSGI does not start; write more than the soft limit, {limit}"
            )


@rule(
    "UW214",
    Severity.NO_EFFECT,
    "cheaper-algo = backlog with UNIX sockets",
    why="uWSGI cannot read the queue of a UNIX socket, so it is 0 and no worker is added",
    seen="core/master.c:260 `SIOBKLGQ`; core/master_utils.c:361 `backlog`; uwsgi#2588",
    bad="processes = 4\ncheaper = 2\ncheaper-algo = backlog\nsocket = /run/app.sock",
    good="processes = 4\ncheaper = 2\ncheaper-algo = busyness\nsocket = /run/app.sock",
)
def backlog_of_unix(config: Config) -> Iterator[Flaw]:
    """Not if one of the sockets is TCP."""
    sockets = config.sockets("uwsgi", "http", "http11", "fastcgi", "scgi", "raw")
    for setting in written(config, "cheaper-algo"):
        unix = sockets and all(is_unix(each.value) for each in sockets)
        if setting.value in {"backlog", "backlog2"} and unix:
            text = (
                "uWSGI cannot read the queue of a UNIX socket, so no worker is ever added; write "
                "cheaper-algo = busyness"
            )
            yield config.flaw(setting, text, config.change(setting, "busyness"))


@rule(
    "UW215",
    Severity.NO_EFFECT,
    "an unknown cheaper-algo",
    why="uWSGI says so in its log and takes spare",
    seen="core/master.c:613 `falling back to spare`",
    bad="processes = 4\ncheaper = 2\ncheaper-algo = bussyness",
    good="processes = 4\ncheaper = 2\ncheaper-algo = busyness",
)
def unknown_algorithm(config: Config) -> Iterator[Flaw]:
    """It falls back to spare."""
    for setting in written(config, "cheaper-algo"):
        if setting.value not in ALGORITHMS:
            near = config.table.nearest(setting.value, ALGORITHMS)
            text = f"uWSGI does not know it and takes spare; write one of {', '.join(ALGORITHMS)}"
            fix = config.change(setting, near, safe=True) if near else None
            yield config.flaw(setting, text, fix)


@rule(
    "UW216",
    Severity.NO_EFFECT,
    "cheaper-... without cheaper",
    why="without a number of workers for quiet times all are started and stay",
    seen="core/init.c:451 `cheaper_count == 0`",
    bad="processes = 4\ncheaper-step = 2",
    good="processes = 4\ncheaper-step = 2\ncheaper = 1",
)
def cheaper_alone(config: Config) -> Iterator[Flaw]:
    """All workers are started."""
    if config.number("cheaper") == 0:
        for setting in config.starting("cheaper-"):
            if setting.option in config.table.entries and not setting.option.endswith("-list"):
                text = (
                    "without cheaper all processes are started and stay; add that, or leave it out"
                )
                yield config.flaw(setting, text, without_safely(config, setting))
