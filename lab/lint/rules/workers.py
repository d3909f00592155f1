"""How many workers there are, where they run, and who replaces them."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lint.rules.alike import present, with_line, without, written
from lab.lint.rules.rule import Case, Flaw, Severity, rule


def orphaned(config: Case) -> bool:
    """Return whether no master watches the workers."""
    return not config.master


present(
    "UW301",
    "processes",
    "without a master a worker that dies is not replaced, and workers outlive the first process "
    "and keep its port; write master = true",
    title="processes without a master",
    source="docs/runs/stress.json; docs/explanation/what-faults-cost.md",
    bad="processes = 4",
    good="processes = 4\nmaster = true",
    near_miss="processes = 4\nmaster",
    when=lambda config: orphaned(config) and config.processes > 1,
    fix=with_line("master = true"),
)

present(
    "UW302",
    "max-requests reload-on-as reload-on-rss reload-on-exception harakiri",
    "this ends a worker, and without a master no other is started; write master = true",
    title="a limit that ends workers, without a master",
    source="docs/runs/stress.json",
    bad="max-requests = 5000",
    good="max-requests = 5000\nmaster = true",
    near_miss="max-requests = 5000\ntouch-reload = /run/shop/reload",
    when=orphaned,
    fix=with_line("master = true"),
)


@rule(
    "UW303",
    Severity.DANGEROUS,
    "workers that are all replaced at once",
    why="workers start in the same second, so they reach an age, or a number of requests, together",
    source="core/master.c:905 `sleep(1)`; uwsgi#2020; docs/runs/lifetime; docs/runs/stress.json",
    bad="master = true\nprocesses = 4\nmax-worker-lifetime = 3600",
    good=(
        "master = true\nprocesses = 4\nmax-worker-lifetime = 3600\nmax-worker-lifetime-delta = 60"
    ),
    near_miss="master = true\nprocesses = 1\nmax-worker-lifetime = 3600",
)
def no_delta(config: Case) -> Iterator[Flaw]:
    """Nobody answers until the master has started others. Counts may be far apart: a remark."""
    for name, share in (("max-worker-lifetime", 60), ("max-requests", 10)):
        for setting in written(config, name):
            if config.number(f"{name}-delta") > 0 or not config.master or config.one_process:
                continue
            line = f"{name}-delta = {max(1, config.number(name) // share)}"
            equal = name == "max-requests"
            who = (
                "workers that have served equally many requests are" if equal else "all workers are"
            )
            text = (
                f"{who} replaced at about the same time, and no request is answered for a second "
                f"or more (1.01 s, measured); write {line}"
            )
            delta = config.last(f"{name}-delta")
            fix = config.add(line, after=setting) if delta is None else None
            yield config.flaw(setting, text, fix, harmless=equal)


@rule(
    "UW320",
    Severity.DANGEROUS,
    "as many workers as the host has CPUs",
    why="%k counts the CPUs of the host and ignores the limit of a container, so a container with "
    "half a CPU on a host of 64 gets 64; write a number, or take it from the environment",
    source="core/uwsgi.c:2135 `_SC_NPROCESSORS_ONLN`; searxng#2096",
    bad="processes = %k",
    good="processes = 4",
    near_miss="processes = $(WEB_CONCURRENCY)",
)
def host_cpus(config: Case) -> Iterator[Flaw]:
    """Half a CPU on a host of 64 has 64 workers."""
    for setting in written(config, "processes", "threads", "cheaper", "cheaper-initial"):
        if "%k" in setting.raw and config.known.container:
            yield config.flaw(setting)


@rule(
    "UW322",
    Severity.REMARK,
    "more concurrent requests than database connections",
    why="each request in flight may hold a connection",
    source="https://www.postgresql.org/docs/current/runtime-config-connection.html",
    bad="processes = 8\nthreads = 16",
    good="processes = 8\nthreads = 4",
    near_miss="processes = 8\nthreads = 12",
)
def database(config: Case) -> Iterator[Flaw]:
    """The database refuses what is beyond."""
    allowed, setting = config.known.db_connections, config.last("processes", "threads")
    if allowed is not None and setting is not None and config.cores > allowed:
        text = (
            f"{config.processes} workers serve {config.at_once} requests each, so {config.cores} "
            f"requests may need one of {allowed} database connections; use fewer, or a pool in "
            "front of the database"
        )
        yield config.flaw(setting, text)


@rule(
    "UW325",
    Severity.DANGEROUS,
    "evil-reload-on-as or evil-reload-on-rss",
    why="the master kills the worker in the middle of a request, which is lost; write the option "
    "without evil-, which waits for the request",
    source="core/master_checks.c:245 `evil_reload_on_rss`",
    bad="evil-reload-on-rss = 900",
    good="master = true\nreload-on-rss = 900",
    near_miss="master = true\nreload-on-rss = 600\nevil-reload-on-rss = 1200",
)
def killed(config: Case) -> Iterator[Flaw]:
    """Above a limit that waits it is for a request that takes all memory by itself."""
    for option in ("reload-on-as", "reload-on-rss"):
        for setting in written(config, f"evil-{option}"):
            if not 0 < config.number(option) < config.number(f"evil-{option}"):
                there = config.last(option)
                yield config.flaw(setting, fix=None if there else config.rename(setting, option))


present(
    "UW326",
    "cpu-affinity",
    "workers are bound to CPUs by number, from 0 on, so they share those of every other service "
    "that does this, and get some that a cpuset may not allow; leave it out",
    source="core/utils.c:3657 `uwsgi.mywid - 1`",
    bad="processes = 4\ncpu-affinity = 1",
    good="processes = 4",
    near_miss="processes = 4\nif-env = ALONE_ON_THE_HOST\ncpu-affinity = 1\nendif =",
    fix=without,
)
