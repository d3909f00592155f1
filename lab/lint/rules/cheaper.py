"""Workers that come and go with the load."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lint.address import is_unix
from lab.lint.rules.alike import present, without, written
from lab.lint.rules.rule import Case, Flaw, Severity, rule

ALGORITHMS = ("spare", "backlog", "manual", "busyness", "backlog2")
"""Of the core, and of the two plugins that have one."""


def _asks_unix_sockets(config: Case) -> bool:
    """Return whether workers are added by the queue, and all sockets are UNIX sockets."""
    algorithm = config.last("cheaper-algo")
    sockets = config.sockets("uwsgi", "http", "http11", "fastcgi", "scgi", "raw")
    asks = algorithm is not None and algorithm.value in {"backlog", "backlog2"}
    return asks and bool(sockets) and all(is_unix(socket.value) for socket in sockets)


present(
    "UW102",
    "cheaper",
    "uWSGI does not start unless there are more processes than cheaper; write a smaller number",
    title="cheaper that is not below processes",
    source="core/init.c:453 `cheaper_count >= uwsgi.numproc`",
    bad="processes = 4\ncheaper = 4",
    good="processes = 4\ncheaper = 2",
    near_miss="workers = 8\ncheaper = 4",
    when=lambda config: config.number("cheaper") >= config.processes,
)


@rule(
    "UW104",
    Severity.ERROR,
    "a memory limit that uWSGI refuses",
    why="cheaper-rss-limit-soft needs memory-report, and cheaper-rss-limit-hard needs a lower soft "
    "limit",
    source="core/init.c:482 `cheaper_rss_limit_soft`; core/init.c:490 `cheaper_rss_limit_hard`",
    bad="processes = 4\ncheaper = 2\ncheaper-rss-limit-soft = 500000000",
    good="processes = 4\ncheaper = 2\ncheaper-rss-limit-soft = 500000000\nmemory-report = true",
    near_miss="processes = 4\ncheaper = 2\ncheaper-rss-limit-soft = 500000000\nreload-on-rss = 900",
)
def memory_limits(config: Case) -> Iterator[Flaw]:
    """It does not start."""
    soft, hard = config.last("cheaper-rss-limit-soft"), config.last("cheaper-rss-limit-hard")
    entries = [config.table.entries.get(setting.option) for setting in config.settings]
    measured = config.on("memory-report") or any(
        entry and "MEMORY" in entry.flags for entry in entries
    )
    if soft and config.on(soft.option) and not measured:
        line = "memory-report = true"
        yield config.flaw(
            soft,
            f"uWSGI does not start without memory-report; add {line}",
            config.add(line, after=soft),
        )
    if hard and config.number(hard.option) > 0:
        limit = config.number("cheaper-rss-limit-soft")
        if limit == 0:
            yield config.flaw(
                hard,
                "uWSGI does not start without a soft limit; add cheaper-rss-limit-soft, "
                "lower than this",
            )
        elif config.number(hard.option) <= limit:
            yield config.flaw(
                hard,
                "uWSGI does not start, because this is not above the soft limit; write more "
                f"than {limit}",
            )


present(
    "UW214",
    "cheaper-algo",
    "uWSGI cannot read the queue of a UNIX socket, so it never adds a worker; write busyness",
    title="cheaper-algo = backlog with UNIX sockets",
    source="core/master.c:260 `SIOBKLGQ`; core/master_utils.c:361 `backlog`; uwsgi#2588",
    bad="processes = 4\ncheaper = 2\ncheaper-algo = backlog\nsocket = /run/app.sock",
    good="processes = 4\ncheaper = 2\ncheaper-algo = busyness\nsocket = /run/app.sock",
    near_miss="processes = 4\ncheaper = 2\ncheaper-algo = backlog\nsocket = 127.0.0.1:3031",
    when=_asks_unix_sockets,
    fix=lambda config, setting: config.change(setting, "busyness"),
)


@rule(
    "UW215",
    Severity.NO_EFFECT,
    "an unknown cheaper-algo",
    why="uWSGI logs this and uses spare instead",
    source="core/master.c:613 `falling back to spare`",
    bad="processes = 4\ncheaper = 2\ncheaper-algo = bussyness",
    good="processes = 4\ncheaper = 2\ncheaper-algo = busyness",
    near_miss="processes = 4\ncheaper = 2\ncheaper-algo = manual",
)
def unknown_algorithm(config: Case) -> Iterator[Flaw]:
    """It falls back to spare."""
    for setting in written(config, "cheaper-algo"):
        if setting.value not in ALGORITHMS:
            near = config.table.nearest(setting.value, ALGORITHMS)
            text = (
                "uWSGI does not know this algorithm and uses spare instead; write one of "
                f"{', '.join(ALGORITHMS)}"
            )
            fix = config.change(setting, near) if near else None
            yield config.flaw(setting, text, fix)


@rule(
    "UW216",
    Severity.NO_EFFECT,
    "a cheaper-* option without cheaper",
    why="without cheaper, uWSGI starts all processes and keeps them, so the other cheaper options "
    "have no effect",
    source="core/init.c:451 `cheaper_count == 0`",
    bad="processes = 4\ncheaper-step = 2",
    good="processes = 4\ncheaper-step = 2\ncheaper = 1",
    near_miss="processes = 4\ncheaper-step = 2\nset-placeholder = least=1\ncheaper = %(least)",
)
def cheaper_alone(config: Case) -> Iterator[Flaw]:
    """All workers are started."""
    if config.number("cheaper") == 0:
        for setting in config.starting("cheaper-"):
            if setting.option in config.table.entries and not setting.option.endswith("-list"):
                text = (
                    "without cheaper, uWSGI starts all processes and keeps them; add cheaper, or "
                    "leave this out"
                )
                yield config.flaw(setting, text, without(config, setting))
