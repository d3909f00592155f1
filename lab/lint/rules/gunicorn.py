"""
gunicorn's settings.

A value that is computed is known to nobody but gunicorn; a rule that needs it is silent. What is
not in the file may be on the command line, which a message then says.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from lab.config.gunicorn.command import is_command, words
from lab.config.gunicorn.reader import (
    NAMESPACES,
    carried,
    literal,
    names_read,
    read,
    spellings,
)
from lab.config.interface import ASGI, of_worker_class
from lab.config.meaning import ComputedValue
from lab.config.steps import Drop, Put
from lab.lint.address import is_open
from lab.lint.rules.alike import DIGITS
from lab.lint.rules.rule import WHY, Case, Fix, Flaw, Setting, Severity, rule

OF_UVICORN = frozenset(
    f"{module}.{name}"
    for module in ("uvicorn.workers", "uvicorn_worker")
    for name in ("UvicornWorker", "UvicornH11Worker")
)
"""Worker classes of uvicorn."""

KEEPING = OF_UVICORN | {"gthread", "gevent", "gevent_wsgi", "gevent_pywsgi", "tornado", "asgi"}
"""Worker classes that keep a client's connection."""

GONE = {
    "django_settings": 'write raw_env = ["DJANGO_SETTINGS_MODULE=..."]',
    "x_forwarded_for_header": "leave it out",
}
"""Setting of an earlier gunicorn -> what to do."""

WORDS = frozenset([
    "alive", "bind", "connections", "graceful", "host", "keep", "level", "limit", "log", "max",
    "memory", "port", "preload", "reload", "request", "requests", "threads", "timeout", "worker",
    "workers",
])  # fmt: skip
"""Words of which a name is meant as a setting, if it has no others."""

BESIDE = 100
"""Modules in the folder of a file that are searched for an import of it."""

MEMORY = "/dev/shm"  # noqa: S108 - workers touch a file there, and nobody reads it
"""A folder that is no disk."""

LOCAL = ("unix:", "127.", "localhost", "[::1]")
"""How an address begins that no other host reaches."""


def number(config: Case, name: str, default: int) -> int | None:
    """Return a setting's number, and the default of one that is not there; None if computed."""
    setting = config.last(name)
    if setting is None:
        return default
    known = setting.value.isdecimal() and len(setting.value) < DIGITS
    return int(setting.value) if known else None


def worker_class(config: Case) -> str | None:
    """Return the class of workers that runs; None where that is computed, or in doubt."""
    setting, threads = config.last("worker_class"), number(config, "threads", 1)
    name = "sync" if setting is None else setting.value
    if name == "sync":
        return None if threads is None else "gthread" if threads > 1 else "sync"
    return name or None


def is_one_worker(config: Case) -> bool:
    """Return whether one worker runs for certain; the command line may set those of a file."""
    setting = config.last("workers")
    if setting is None:
        return is_command(config) and "WEB_CONCURRENCY" not in config.known.environ
    return setting.value == "1"


def is_asgi(config: Case) -> bool:
    """Return whether the class of workers that runs is one of ASGI."""
    return of_worker_class(worker_class(config) or "") == ASGI


def whole(config: Case, setting: Setting) -> bool:
    """Return whether the setting is a line of its own and of no block, which can be taken away."""
    if setting.spot.column != 1 or not setting.raw or "\n" in setting.raw:
        return False
    if setting.spot.file not in config.texts:  # the file that a command names
        return False
    line = config.line(setting.spot).removeprefix("\ufeff")
    before, after = line[: setting.column - 1], line[setting.column - 1 + len(setting.raw) :]
    alone = re.fullmatch(rf"{re.escape(setting.option)}\s*(:[^=]*)?=\s*", before)
    return alone is not None and re.fullmatch(r"\s*(#.*)?", after) is not None


def drop(config: Case, setting: Setting) -> Fix | None:
    """Return the fix that takes a setting's line away; None where it is not one line."""
    return config.drop(setting) if whole(config, setting) else None


def add(config: Case, name: str, value: str, *, after: Setting | None = None) -> Fix | None:
    """Return the fix that adds a setting below another, or the first; None if that is no line."""
    known = (setting for setting in config.settings if setting.option in spellings())
    place = next(
        (setting for setting in ((after,) if after else known) if whole(config, setting)), None
    )
    # What is there by a wrong name is there twice if that is mended as well.
    there = {meant for _, meant in unknown(config)} if place else set()
    return config.add(f"{name} = {value}", after=place) if place and name not in there else None


def in_file(config: Case, rule: Callable[[Case], Iterator[Flaw]]) -> Iterator[Flaw]:
    """Yield what a rule finds in the Python file: the configuration, or what a command names."""
    if not is_command(config):
        yield from rule(config)
        return
    files = {setting.spot.file for setting in config.settings} - {config.file}
    for file in files:
        if config.known.read(file) is not None:
            # A fix is made in the file that is named.
            flaws = rule(Case.of(read(file, config.known)))
            yield from (replace(flaw, fix=None, steps=()) for flaw in flaws)


def unknown(config: Case) -> Iterator[tuple[Setting, str]]:
    """Yield each name that no setting has and nothing reads, with what it may mean; "" is gone."""
    if is_command(config):
        return  # a command has no other names
    used, known = names_read(config), spellings()
    names = frozenset(known.values())
    for setting in config.settings:
        name = setting.option
        if name in names or name in used or name.startswith("_"):
            continue
        close = "" if name in GONE else config.table.nearest(name, names)
        meant = known.get(name, close)
        if meant is not None:
            yield setting, meant


def unread(config: Case) -> Iterator[Setting]:
    """Yield each name that is not even like a setting's, and that nobody is seen to read."""
    names, used = frozenset(spellings().values()), names_read(config)
    sets_any = any(setting.option in names for setting in config.settings)
    if not sets_any or used & NAMESPACES or _is_imported(config):
        return
    close = {setting.option for setting, _ in unknown(config)}
    for setting in config.settings:
        name = setting.option
        helps = name in used or name.startswith("_") or name.isupper()
        if setting.spot.column == 1 and setting.raw and name not in names | close and not helps:
            yield setting


def _is_imported(config: Case) -> bool:
    """Return whether a module beside the file imports it; only some are read."""
    name = config.file.stem
    if not name.isidentifier():
        return False
    beside = itertools.islice(config.file.parent.glob("*.py"), BESIDE)
    texts = (config.known.read(path) or "" for path in beside if path.name != config.file.name)
    lines = (line for text in texts for line in text.splitlines())
    imports = (line for line in lines if line.lstrip().startswith(("import ", "from ")))
    return any(re.search(rf"\b{name}\b", line) for line in imports)


def elsewhere(config: Case) -> str:
    """Return what a message says of workers that the file does not choose."""
    known = config.last("worker_class") or config.last("threads") or is_command(config)
    return "" if known else ", unless the command line has --worker-class or --threads"


def addresses(config: Case) -> list[str] | None:
    """Return where it listens; None where that is computed, or not in the file."""
    setting = config.last("bind")
    value = literal(setting.raw) if setting else None
    if setting is None or isinstance(value, ComputedValue):
        return None
    several = value if isinstance(value, list | tuple | set) else [value]
    return [address for address in several if isinstance(address, str)]


@rule(
    "GU001",
    Severity.NO_EFFECT,
    "a setting that gunicorn does not have",
    why="gunicorn ignores names that are not settings, without a warning",
    source="gunicorn/app/base.py:140 `Ignore unknown names`; gunicorn#783",
    bad="worker = 4",
    good="workers = 4",
    near_miss="worker = 4\nworkers = worker * 2",
)
def unknown_name(config: Case) -> Iterator[Flaw]:
    """It is ignored."""
    yield from in_file(config, _unknown_names)


def _unknown_names(config: Case) -> Iterator[Flaw]:
    renamed: dict[str, str] = {}
    for setting, meant in unknown(config):
        there = config.last(meant)
        if not meant:
            text, fix = f"earlier versions had it; {GONE[setting.option]}", drop(config, setting)
        elif there and not config.line(there.spot).rstrip().endswith("*"):
            text = f"{meant} is already set in line {there.spot.line}; leave this one out"
            fix = drop(config, setting)
        else:
            text = f"write {meant}"
            # Of two names that mean one setting, one becomes it.
            first = renamed.setdefault(meant, setting.option) == setting.option
            fix = config.rename(setting, meant) if setting.raw and first else None
        yield config.flaw(setting, f"gunicorn has no such setting and ignores it; {text}", fix)
    for setting in unread(config):
        if WORDS.issuperset(setting.option.split("_")):
            text = "gunicorn has no such setting and ignores it; leave it out"
            yield config.flaw(setting, text, drop(config, setting))
        else:
            text = "gunicorn has no such setting, and nothing in this file reads it; leave it out"
            yield config.flaw(setting, text, harmless=True)


@rule(
    "GU002",
    Severity.NO_EFFECT,
    "keepalive with sync workers",
    why="sync workers close the connection after every reply; leave it out, or set worker_class = "
    '"gthread"',
    source="gunicorn/workers/sync.py:179 `resp.force_close()`; gunicorn#2330",
    bad="keepalive = 75",
    good='worker_class = "gthread"\nkeepalive = 75',
    near_miss="threads = 4\nkeepalive = 75",
)
def keepalive_with_sync(config: Case) -> Iterator[Flaw]:
    """No connection is kept."""
    setting = config.last("keepalive")
    if setting and worker_class(config) == "sync":
        yield config.flaw(setting, WHY + elsewhere(config), drop(config, setting))


@rule(
    "GU003",
    Severity.NO_EFFECT,
    "sync workers with threads",
    why='with more than one thread gunicorn runs gthread workers instead; write "gthread"',
    source="gunicorn/config.py:139 `is_sync and self.threads > 1`",
    bad='worker_class = "sync"\nthreads = 4',
    good='worker_class = "gthread"\nthreads = 4',
    near_miss='worker_class = "sync"\nthreads = 1',
)
def not_sync(config: Case) -> Iterator[Flaw]:
    """Another class runs than is written."""
    setting = config.last("worker_class")
    if setting and setting.value == "sync" and worker_class(config) == "gthread":
        yield config.flaw(setting, fix=config.change(setting, '"gthread"'))


@rule(
    "GU004",
    Severity.NO_EFFECT,
    "worker_connections with workers that ignore it",
    why="only gthread and gevent workers limit their connections by this; leave it out",
    source="gunicorn/workers/gthread.py:256 `worker_connections`; "
    "gunicorn/config.py:847 `gthread`; gunicorn/workers/gasgi.py:33 `self.worker_connections`",
    bad="worker_connections = 1000",
    good='worker_class = "gevent"\nworker_connections = 1000',
    near_miss="threads = 4\nworker_connections = 1000",
)
def connections_of_sync(config: Case) -> Iterator[Flaw]:
    """A sync worker has one; of ASGI one counts them, and takes as many as come."""
    setting, runs = config.last("worker_connections"), worker_class(config)
    if setting and (runs in {"sync", "tornado"} or is_asgi(config)):
        yield config.flaw(setting, WHY + elsewhere(config), drop(config, setting))


@rule(
    "GU005",
    Severity.DANGEROUS,
    "max_requests without max_requests_jitter",
    why="workers that share the requests reach the limit at the same time",
    source="gunicorn/workers/base.py:60 `max_requests_jitter`; gunicorn#862",
    bad="workers = 4\nmax_requests = 1000",
    good="workers = 4\nmax_requests = 1000\nmax_requests_jitter = 100",
    near_miss="workers = 1\nmax_requests = 1000",
)
def no_jitter(config: Case) -> Iterator[Flaw]:
    """All workers end at about the same time."""
    setting, count = config.last("max_requests"), number(config, "max_requests", 0)
    jitter = number(config, "max_requests_jitter", 0)
    if setting and count and jitter == 0 and not is_one_worker(config):
        most = str(max(1, count // 10))
        text = "all workers reach the limit and end at about the same time"
        there = config.last("max_requests_jitter")
        change = config.change(there, most) if there else None
        fix = change if there else add(config, "max_requests_jitter", most, after=setting)
        steps = (Put("max_requests_jitter", most),)
        yield config.flaw(setting, f"{text}; write max_requests_jitter = {most}", fix, steps=steps)


@rule(
    "GU006",
    Severity.REMARK,
    "a heartbeat file on a disk",
    why="each worker touches a file in /tmp, which is on a disk in a container, and gunicorn kills "
    'the worker if the disk makes it wait longer than timeout; write worker_tmp_dir = "/dev/shm"',
    source="gunicorn/config.py:1294 `may block a worker`",
    bad="workers = 4",
    good='workers = 4\nworker_tmp_dir = "/dev/shm"',
    near_miss='workers = 4\nworker_tmp_dir = "/run/gunicorn"',
)
def heartbeat_on_disk(config: Case) -> Iterator[Flaw]:
    """In a container /tmp is a disk."""
    is_watched = number(config, "timeout", 30) != 0
    if config.known.container and config.last("worker_tmp_dir") is None and is_watched:
        fix = add(config, "worker_tmp_dir", f'"{MEMORY}"')
        steps = (Put("worker_tmp_dir", MEMORY),)
        yield config.flaw(config.top, f"no worker_tmp_dir: {WHY}", fix, steps=steps)


@rule(
    "GU007",
    Severity.REMARK,
    "a timeout that does not limit requests",
    why="gunicorn kills a worker that stops reporting, and a worker with threads or an event loop "
    "keeps reporting while its requests hang; set a timeout on whatever a request waits for",
    source="gunicorn/workers/gthread.py:417 `notify`; gunicorn/arbiter.py:612 `last_update`",
    bad='worker_class = "gthread"\ntimeout = 30',
    good="timeout = 30",
    near_miss='worker_class = "gthread"\ntimeout = 0',
)
def timeout_of_the_loop(config: Case) -> Iterator[Flaw]:
    """A stuck request keeps its thread for good."""
    setting = config.last("timeout")
    if setting and number(config, "timeout", 30) != 0 and worker_class(config) in KEEPING:
        yield config.flaw(setting)


@rule(
    "GU008",
    Severity.DANGEROUS,
    "as many workers as the host has CPUs",
    why="this counts the CPUs of the host and ignores the limit of a container; write a number, or "
    "take it from the environment",
    source="gunicorn#2028",
    bad="import multiprocessing\nworkers = multiprocessing.cpu_count() * 2 + 1",
    good="workers = 4",
    near_miss="import multiprocessing\nworkers = min(multiprocessing.cpu_count() * 2 + 1, 8)",
)
def host_cpus(config: Case) -> Iterator[Flaw]:
    """A small container on a large host has 160."""
    for setting in config.all("workers", "threads"):
        bounded = "min(" in setting.raw or "env" in setting.raw
        if config.known.container and "cpu_count(" in setting.raw and not bounded:
            yield config.flaw(setting)


@rule(
    "GU009",
    Severity.ERROR,
    "a worker class that gunicorn does not have",
    why="gunicorn has no such worker class and does not start",
    source="gunicorn/workers/__init__.py:6 `SUPPORTED_WORKERS`",
    bad='worker_class = "eventlet"',
    good='worker_class = "gevent"',
    near_miss='worker_class = "uvicorn.workers.UvicornWorker"',
)
def no_such_workers(config: Case) -> Iterator[Flaw]:
    """It does not start."""
    setting, there = config.last("worker_class"), carried()["worker_classes"]
    name = setting.value if setting else ""
    # What has a dot is a class of any module's, which may be there.
    if not setting or not name or name in there or "." in name or name.startswith("egg:"):
        return
    if name == "eventlet" and not config.may_be(">=26"):
        return
    gone = {"eventlet": "gevent", "gaiohttp": "asgi"}
    close = difflib.get_close_matches(name, there, n=1, cutoff=0.5)
    meant = gone.get(name) or next(iter(close), "")
    text = f"gunicorn {carried()['version']} has no such worker class and does not start; write "
    fix = config.change(setting, f'"{meant}"') if meant else None
    yield config.flaw(
        setting, text + (f'"{meant}"' if meant else f"one of {', '.join(there)}"), fix
    )


@rule(
    "GU010",
    Severity.REMARK,
    "keepalive shorter than the proxy's",
    why="a proxy may send a request at the moment when the worker closes the idle connection",
    source="gunicorn/config.py:947 `default = 2`; conbench#1156",
    bad='worker_class = "gthread"',
    good='worker_class = "gthread"\nkeepalive = 75',
    near_miss='worker_class = "gthread"\nkeepalive = 60',
)
def shorter_than_the_proxy(config: Case) -> Iterator[Flaw]:
    """The proxy answers 502."""
    setting, seconds = config.last("keepalive"), number(config, "keepalive", 2)
    if worker_class(config) not in KEEPING or seconds is None or not 0 < seconds < 60:
        return
    text = (
        f"an idle connection is closed after {seconds} s, and a proxy that keeps it longer (nginx "
        "and load balancers: 60 s) answers 502 if both happen at once; behind such a proxy write "
        "keepalive = 75"
    )
    asgi = worker_class(config) == "asgi"
    if asgi:  # gunicorn/workers/gasgi.py:251 `while self.nr_conns > 0`; so no fix of one half
        text += ", and graceful_timeout = 80: a stop waits for idle connections"
    if setting is None:
        where = config.last("worker_class") or config.top
        fix = None if asgi else add(config, "keepalive", "75")
        yield config.flaw(where, f"no keepalive: {text}", fix)
    else:
        yield config.flaw(setting, text, None if asgi else config.change(setting, "75"))


@rule(
    "GU011",
    Severity.DANGEROUS,
    "reload",
    why="workers restart when a file changes, clients see the traceback if the new code cannot be "
    "imported, and preload_app does not work with it; leave it out in production",
    source="gunicorn/config.py:1044 `incompatible with application preloading`",
    bad="reload = True",
    good="reload = False",
    near_miss='import os\nreload = "DEBUG" in os.environ',
)
def reloads(config: Case) -> Iterator[Flaw]:
    """A changed file restarts the workers."""
    setting = config.last("reload")
    if setting and setting.value.lower() == "true":
        yield config.flaw(setting, fix=drop(config, setting), steps=(Drop("reload"),))


@rule(
    "GU012",
    Severity.DANGEROUS,
    "proxy headers trusted from every address",
    why="any client that reaches the port can claim that it came by https; write the proxy's "
    "address, or bind to a UNIX socket",
    source="gunicorn/config.py:1436 `disable checking of front-end IPs`",
    bad='forwarded_allow_ips = "*"',
    good='forwarded_allow_ips = "10.0.0.1"',
    near_miss='bind = "unix:/run/app.sock"\nforwarded_allow_ips = "*"',
)
def any_proxy(config: Case) -> Iterator[Flaw]:
    """It is no proof that the request came by the proxy."""
    setting, bind = config.last("forwarded_allow_ips"), config.last("bind")
    listens = addresses(config) or ([bind.raw.lstrip("fF\"'")] if bind else [])
    local = bool(listens) and all(address.startswith(LOCAL) for address in listens)
    if setting and "*" in setting.value.replace(" ", "").split(",") and not local:
        yield config.flaw(setting)


@rule(
    "GU018",
    Severity.ERROR,
    "an option that gunicorn does not have",
    why="gunicorn prints `unrecognized arguments` or `expected one argument` and does not start",
    source="gunicorn/app/base.py:158 `parser.parse_args()`",
    bad="gunicorn --timout 5 site:app",
    good="gunicorn --timeout 5 site:app",
    near_miss="gunicorn --timeou 5 site:app",
)
def unknown_option(config: Case) -> Iterator[Flaw]:
    """Python's argparse takes the beginning of one option for it, and nothing else."""
    for setting, problem in config.refused:
        text = f"{setting.option}: {problem}, so it does not start"
        if setting.option in words():
            yield config.flaw(setting.spot, f"{text}; write a value behind it")
            continue
        close = config.table.nearest(setting.option, words())
        yield config.flaw(setting.spot, f"{text}; {f'write {close}' if close else 'leave it out'}")


IN_CONTAINER = (
    "a sync worker serves one client at a time, and a few clients that send or read slowly occupy "
    'all workers; set worker_class = "gthread", unless a proxy in front of the container buffers'
)
"""Why sync workers that any host reaches are a risk there."""


@rule(
    "GU019",
    Severity.DANGEROUS,
    "sync workers open to every host",
    why="any host can reach the port, a sync worker serves one client at a time, and a few clients "
    "that send or read slowly occupy all workers; put a proxy in front that buffers, and bind to a "
    'UNIX socket or 127.0.0.1, or set worker_class = "gthread"',
    source="https://docs.gunicorn.org/en/stable/deploy.html",
    bad='bind = "0.0.0.0:8080"',
    good='bind = "127.0.0.1:8080"',
    near_miss='bind = "0.0.0.0:8080"\nthreads = 4',
)
def slow_clients(config: Case) -> Iterator[Flaw]:
    """A remark in a container: others decide who reaches its port. A platform gives $PORT."""
    setting = config.last("bind")
    if setting is None or worker_class(config) != "sync":
        return
    if any(is_open(address.removeprefix("tcp://")) for address in addresses(config) or ()):
        # There 127.0.0.1 would be out of everybody's reach.
        why = IN_CONTAINER if config.known.container else WHY
        yield config.flaw(setting, why + elsewhere(config), harmless=config.known.container)


@rule(
    "GU020",
    Severity.ERROR,
    "no application",
    why="gunicorn prints `No application module specified` and exits with status 1; write the "
    "application behind the options, as in shop.wsgi:application",
    source="gunicorn/app/wsgiapp.py:44 `No application module specified.`",
    bad="gunicorn --bind 127.0.0.1:8000",
    good="gunicorn --bind 127.0.0.1:8000 shop.wsgi:application",
    near_miss="gunicorn --check-config --paste shop.ini",
)
def no_application(config: Case) -> Iterator[Flaw]:
    """Of a file the command line names it."""
    if is_command(config) and not config.last("wsgi_app", "paste") and not config.refused:
        yield config.flaw(config.top, f"no application: {WHY}")


@rule(
    "GU021",
    Severity.REMARK,
    "a worker class that lab does not know",
    why="lab does not know which settings this worker class reads, so the settings for workers are "
    "not checked; its documentation names them",
    source="gunicorn/util.py:88 `def load_class`",
    bad='worker_class = "shop.workers.Worker"\nkeepalive = 5',
    good='worker_class = "gthread"\nkeepalive = 75',
    near_miss='worker_class = "uvicorn_worker.UvicornWorker"\nkeepalive = 75',
)
def unknown_workers(config: Case) -> Iterator[Flaw]:
    """It is shown without --all: "No findings" would read as if they were checked."""
    setting = config.last("worker_class")
    name = setting.value if setting else ""
    if setting and name not in OF_UVICORN and ("." in name or name.startswith("egg:")):
        yield replace(config.flaw(setting), always=True)


@rule(
    "GU022",
    Severity.REMARK,
    "a file without a setting of gunicorn",
    why="this file sets nothing of gunicorn, so nothing in it is checked; give the "
    "configuration file, or the command in quotes",
    source="gunicorn/app/base.py:139 `for k, v in cfg.items():`",
    bad="DEBUG = True",
    good="workers = 4",
    near_miss="DEBUG = True\nworkers = 4",
)
def no_setting(config: Case) -> Iterator[Flaw]:
    """As the settings of an application."""
    names = carried()["settings"].keys()
    known = any(setting.option in names for setting in config.settings)
    if not is_command(config) and not known and not list(unknown(config)):
        yield replace(config.flaw(config.top), always=True)


@rule(
    "GU024",
    Severity.REMARK,
    "a worker class that uvicorn deprecates",
    why="a later uvicorn may not have the module uvicorn.workers; install the package "
    'uvicorn-worker, and write "uvicorn_worker.UvicornWorker"',
    source="https://www.uvicorn.org/deployment/",
    bad='worker_class = "uvicorn.workers.UvicornWorker"\nkeepalive = 75',
    good='worker_class = "uvicorn_worker.UvicornWorker"\nkeepalive = 75',
    near_miss='worker_class = "asgi"\nkeepalive = 75\ngraceful_timeout = 80',
)
def deprecated_workers(config: Case) -> Iterator[Flaw]:
    """
    Python shows no warning of it.

    It loses nothing with the uvicorn that is installed, so that it is a remark; it is shown because
    the next upgrade of uvicorn may keep the server from starting.
    """
    setting = config.last("worker_class")
    if setting and setting.value in OF_UVICORN and setting.value.startswith("uvicorn.workers."):
        fix = config.change(setting, f'"{setting.value.replace(".workers", "_worker")}"')
        yield replace(config.flaw(setting, fix=fix), always=True)
