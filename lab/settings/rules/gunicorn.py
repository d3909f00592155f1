"""
gunicorn's settings.

A value that is computed is known to nobody but gunicorn; a rule that needs it is silent. What is
not in the file may be on the command line, which a message then says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lab.settings.gunicorn import spellings
from lab.settings.rules.rule import WHY, Config, Fix, Flaw, Setting, Severity, rule

KEEPING = frozenset({"gthread", "gevent", "gevent_wsgi", "gevent_pywsgi", "tornado", "asgi"})
"""Worker classes that keep a client's connection."""


def number(config: Config, name: str, default: int) -> int | None:
    """Return a setting's number, and the default of one that is not there; None if computed."""
    setting = config.last(name)
    if setting is None:
        return default
    return int(setting.value) if setting.value.isdecimal() else None


def worker_class(config: Config) -> str | None:
    """Return the class of workers that runs; None where that is computed, or in doubt."""
    setting, threads = config.last("worker_class"), number(config, "threads", 1)
    name = "sync" if setting is None else setting.value
    if name == "sync":
        return None if threads is None else "gthread" if threads > 1 else "sync"
    return name or None


def whole(setting: Setting) -> bool:
    """Return whether the setting is one line, which can be taken away."""
    return bool(setting.raw) and "\n" not in setting.raw and ";" not in setting.raw


def drop(config: Config, setting: Setting) -> Fix | None:
    """Return the fix that takes a setting's line away; None where it is not one line."""
    return config.drop(setting) if whole(setting) else None


def add(config: Config, line: str) -> Fix | None:
    """Return the fix that adds a line, below the first setting that is one line."""
    place = next((each for each in config.settings if each.value and whole(each)), None)
    return config.add(line, after=place) if place else None


@rule(
    "GU001",
    Severity.NO_EFFECT,
    "a name that gunicorn does not know",
    why="gunicorn ignores names that are none of its settings, without a word",
    seen="gunicorn/app/base.py:140 `Ignore unknown names`",
    bad="worker = 4",
    good="workers = 4",
)
def unknown_name(config: Config) -> Iterator[Flaw]:
    """It is ignored."""
    text = config.texts.get(config.file)
    if text is None:
        return
    names = (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Name))
    used = {each.id for each in names if isinstance(each.ctx, ast.Load)}
    known = spellings()
    for setting in config.settings:
        name = setting.option
        if name in known.values() or name in used or name.startswith("_"):
            continue
        meant = known.get(name) or config.table.nearest(name, set(known.values()))
        if meant is not None:
            says = f"gunicorn has no such setting and ignores it; write {meant}"
            fix = config.rename(setting, meant) if whole(setting) else None
            yield config.flaw(setting, says, fix)


@rule(
    "GU002",
    Severity.NO_EFFECT,
    "keepalive with sync workers",
    why="gunicorn's sync workers close after every reply; leave it out, or set worker_class = "
    '"gthread"',
    seen="gunicorn/workers/sync.py:179 `resp.force_close()`; gunicorn#2330",
    bad="keepalive = 75",
    good='worker_class = "gthread"\nkeepalive = 75',
)
def keepalive_with_sync(config: Config) -> Iterator[Flaw]:
    """No connection is kept."""
    setting = config.last("keepalive")
    if setting and worker_class(config) == "sync":
        yield config.flaw(setting, fix=config.add('worker_class = "gthread"', after=setting))


@rule(
    "GU003",
    Severity.NO_EFFECT,
    "sync with threads",
    why="with more than one thread gunicorn runs gthread workers all the same; say so",
    seen="gunicorn/config.py:139 `is_sync and self.threads > 1`",
    bad='worker_class = "sync"\nthreads = 4',
    good='worker_class = "gthread"\nthreads = 4',
)
def not_sync(config: Config) -> Iterator[Flaw]:
    """Another class runs than is written."""
    setting = config.last("worker_class")
    if setting and setting.value == "sync" and worker_class(config) == "gthread":
        yield config.flaw(setting, fix=config.change(setting, '"gthread"', safe=True))


@rule(
    "GU004",
    Severity.NO_EFFECT,
    "worker_connections with workers that have no limit",
    why="only gthread, gevent and asgi workers read it; leave it out",
    seen="gunicorn/workers/gthread.py:256 `worker_connections`; gunicorn/config.py:847 `gthread`",
    bad="worker_connections = 1000",
    good='worker_class = "gevent"\nworker_connections = 1000',
)
def connections_of_sync(config: Config) -> Iterator[Flaw]:
    """A sync worker has one."""
    setting, runs = config.last("worker_connections"), worker_class(config)
    if setting and runs in {"sync", "tornado"}:
        yield config.flaw(setting, fix=drop(config, setting))


@rule(
    "GU005",
    Severity.DANGEROUS,
    "max_requests without jitter",
    why="workers that share the requests reach their count together",
    seen="gunicorn/workers/base.py:60 `max_requests_jitter`; gunicorn#862",
    bad="workers = 4\nmax_requests = 1000",
    good="workers = 4\nmax_requests = 1000\nmax_requests_jitter = 100",
)
def no_jitter(config: Config) -> Iterator[Flaw]:
    """All workers end at about the same time."""
    setting, count = config.last("max_requests"), number(config, "max_requests", 0)
    jitter, workers = number(config, "max_requests_jitter", 0), config.last("workers")
    if setting and count and jitter == 0 and (workers is None or workers.value != "1"):
        line = f"max_requests_jitter = {max(1, count // 10)}"
        text = f"all workers reach it, and end, at about the same time; write {line}"
        fix = None if config.last("max_requests_jitter") else config.add(line, after=setting)
        yield config.flaw(setting, text, fix)


@rule(
    "GU006",
    Severity.REMARK,
    "the workers' heartbeat on a disk",
    why="each worker touches a file in /tmp, which is a disk in a container, and is killed where "
    'that makes it wait for longer than timeout; write worker_tmp_dir = "/dev/shm"',
    seen="gunicorn/config.py:1294 `may block a worker`",
    bad="workers = 4",
    good='workers = 4\nworker_tmp_dir = "/dev/shm"',
)
def heartbeat_on_disk(config: Config) -> Iterator[Flaw]:
    """In a container /tmp is a disk."""
    if config.known.container and config.last("worker_tmp_dir") is None:
        fix = add(config, 'worker_tmp_dir = "/dev/shm"')
        yield config.flaw(config.top, f"no worker_tmp_dir: {WHY}", fix)


@rule(
    "GU007",
    Severity.DANGEROUS,
    "a timeout that bounds no request",
    why="such a worker says that it lives while its requests wait, so that this ends none of them; "
    "give what a request waits for a timeout of its own",
    seen="gunicorn/workers/gthread.py:417 `notify`; gunicorn/arbiter.py:612 `last_update`",
    bad='worker_class = "gthread"\ntimeout = 30',
    good="timeout = 30",
)
def timeout_of_the_loop(config: Config) -> Iterator[Flaw]:
    """A stuck request keeps its thread for good."""
    setting = config.last("timeout")
    if setting and number(config, "timeout", 30) != 0 and worker_class(config) in KEEPING:
        yield config.flaw(setting)


@rule(
    "GU008",
    Severity.DANGEROUS,
    "as many workers as the host has CPUs",
    why="it counts the CPUs of the host and knows no limit of a container; write a number, or "
    "take it from the environment",
    seen="gunicorn#2028",
    bad="import multiprocessing\nworkers = multiprocessing.cpu_count() * 2 + 1",
    good="workers = 4",
)
def host_cpus(config: Config) -> Iterator[Flaw]:
    """A small container on a large host has 160."""
    for setting in config.all("workers", "threads"):
        bounded = "min(" in setting.raw or "env" in setting.raw
        if config.known.container and "cpu_count(" in setting.raw and not bounded:
            yield config.flaw(setting)


@rule(
    "GU009",
    Severity.ERROR,
    "eventlet",
    why='gunicorn 27 has no such workers and does not start; write "gevent"',
    seen="gunicorn/workers/__init__.py:6 `SUPPORTED_WORKERS`",
    bad='worker_class = "eventlet"',
    good='worker_class = "gevent"',
)
def eventlet(config: Config) -> Iterator[Flaw]:
    """It does not start."""
    setting = config.last("worker_class")
    if setting and setting.value == "eventlet":
        yield config.flaw(setting, fix=config.change(setting, '"gevent"'))


@rule(
    "GU010",
    Severity.REMARK,
    "connections that end before the proxy lets go",
    why="a proxy may send a request while the worker closes the connection for being idle",
    seen="gunicorn/config.py:947 `default = 2`; conbench#1156",
    bad='worker_class = "gthread"',
    good='worker_class = "gthread"\nkeepalive = 75',
)
def shorter_than_the_proxy(config: Config) -> Iterator[Flaw]:
    """The proxy answers 502."""
    setting, seconds = config.last("keepalive"), number(config, "keepalive", 2)
    if worker_class(config) not in KEEPING or seconds is None or not 0 < seconds < 60:
        return
    text = (
        f"an idle connection is closed after {seconds} s, and a proxy that keeps it for longer "
        "(nginx and load balancers: 60 s) answers 502 where both happen at once; behind one write "
        "keepalive = 75"
    )
    if setting is None:
        where = config.last("worker_class") or config.top
        yield config.flaw(where, f"no keepalive: {text}", add(config, "keepalive = 75"))
    else:
        yield config.flaw(setting, text, config.change(setting, "75"))


@rule(
    "GU011",
    Severity.DANGEROUS,
    "reload",
    why="workers restart when a file changes, clients see the traceback of one that cannot be "
    "imported, and preload_app does not go with it; leave it out where people use it",
    seen="gunicorn/config.py:1044 `incompatible with application preloading`",
    bad="reload = True",
    good="reload = False",
)
def reloads(config: Config) -> Iterator[Flaw]:
    """A changed file restarts the workers."""
    setting = config.last("reload")
    if setting and setting.value.lower() == "true":
        yield config.flaw(setting, fix=drop(config, setting))


@rule(
    "GU012",
    Severity.DANGEROUS,
    "headers of a proxy from anybody",
    why="any client that reaches the port may say that it came by https; name the proxy's "
    "address, or bind to a UNIX socket",
    seen="gunicorn/config.py:1436 `disable checking of front-end IPs`",
    bad='forwarded_allow_ips = "*"',
    good='forwarded_allow_ips = "10.0.0.1"',
)
def any_proxy(config: Config) -> Iterator[Flaw]:
    """It is no proof that the request came by the proxy."""
    setting, bind = config.last("forwarded_allow_ips"), config.last("bind")
    local = bind is not None and bind.value.startswith("unix:")
    if setting and "*" in setting.value.split(",") and not local:
        yield config.flaw(setting)
