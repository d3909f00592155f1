"""
Options that have no effect where they are written.

Nobody says so: the server takes them, the file looks tuned, and a benchmark finds noise in their
name. What is listed here was tried with uWSGI 2.0.31 and gunicorn 27.0; of thunder-lock and asyncio
it was read in the source. An option that only says what is the default is no mistake, and one that
harms another matter.

Sources: uWSGI core/master_checks.c, uwsgi.h (thunder_lock), plugins/http; gunicorn's settings.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from lab.model import Profile
from lab.settings.uwsgi import is_on

IMPLY_MASTER = (
    "alarm",
    "cheap",
    "cron",
    "enable-metrics",
    "evil-reload",
    "forkbomb",
    "idle",
    "legion",
    "log-master",
    "logger",
    "master-fifo",
    "metric",
    "mule",
    "py-auto-reload",
    "py-autoreload",
    "py-tracebacker",
    "python-auto-reload",
    "req-logger",
    "spooler",
    "stats",
    "threaded-log",
    "touch-",
    "unique-cron",
)
"""Beginnings of options that switch the master on by themselves. Too many rather than too few: a
rule that needs its absence is silent then."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An option, when it has no effect, and what to do."""

    option: str
    when: Callable[[Mapping[str, str]], bool]
    why: str


def _no_master(options: Mapping[str, str]) -> bool:
    implied = any(name.startswith(IMPLY_MASTER) for name in options)
    return not implied and not is_on(options, "master")


def _one_process(options: Mapping[str, str]) -> bool:
    return options.get("processes", options.get("workers", "1")) == "1"


def _no_router(options: Mapping[str, str]) -> bool:
    return not options.keys() & {"http", "https", "httprouter", "http-to", "plugin", "plugins"}


def _no_number(options: Mapping[str, str]) -> bool:
    value = options["http-keepalive"]
    return value != "" and not value[0].isdigit()


UWSGI = (
    Rule(
        "max-worker-lifetime",
        _no_master,
        "only the master looks at a worker's age, and there is none; add master = true, or leave "
        "it out",
    ),
    Rule(
        "max-worker-lifetime",
        lambda options: bool(options.keys() & {"gevent", "asyncio"}),
        "a worker with gevent or asyncio does not notice its age; leave it out",
    ),
    Rule(
        "max-worker-lifetime-delta",
        lambda options: "max-worker-lifetime" not in options,
        "it spreads max-worker-lifetime, which is not set; set that, or leave it out",
    ),
    Rule(
        "die-on-term",
        _no_master,
        "it tells the master what SIGTERM means, and there is none; without one SIGTERM ends the "
        "first process in any case; add master = true, or leave it out",
    ),
    Rule(
        "no-orphans",
        _no_master,
        "workers outlive their first process all the same where there is no master; add "
        "master = true",
    ),
    Rule(
        "thunder-lock",
        _one_process,
        "it keeps processes apart, and there is one; leave it out, or add processes",
    ),
    Rule(
        "thunder-lock",
        lambda options: "http11-socket" in options,
        "workers of http11-socket do not take the lock; leave it out",
    ),
    Rule(
        "http-keepalive",
        _no_number,
        "uWSGI reads a number there, and this is none, so it stays off; write http-keepalive = 1",
    ),
    Rule(
        "http-keepalive",
        _no_router,
        "it is the router's, and there is none; leave it out, or serve by http",
    ),
)


def inert(profile: Profile) -> tuple[str, ...]:
    """
    Return the options of *profile* that have no effect, each with the reason and what to do.

    Of a repeated option the last counts. Nothing for servers whose options are not known here.
    """
    if profile.server == "uwsgi":
        options = dict(profile.options)
        return tuple(
            f"{rule.option} = {options[rule.option]}: {rule.why}."
            for rule in UWSGI
            if is_on(options, rule.option) and rule.when(options)
        )
    settings = _gunicorn(profile)
    if "keepalive" not in settings or not _sync(settings):
        return ()
    why = "gunicorn's sync workers close after every reply"
    what = 'leave it out, or set worker_class = "gthread"'
    return (f"keepalive = {settings['keepalive']}: {why}; {what}.",)


def _sync(settings: Mapping[str, object]) -> bool:
    # With more than one thread gunicorn takes gthread instead. A value that is computed is unknown.
    return settings.get("worker_class", "sync") == "sync" and settings.get("threads", 1) == 1


def _gunicorn(profile: Profile) -> dict[str, object]:
    """Return gunicorn's settings by name, from its file and its command; nothing for another."""
    runs = [json.loads(value) for name, value in profile.options if name == "run"]
    command = next((run for run in runs if PurePath(run[0]).name == "gunicorn"), None)
    if command is None:
        return {}
    settings: dict[str, object] = {}
    for name, text in profile.options:
        if name.endswith(".py"):
            settings |= _assignments(text)
    return settings | _flags(command)


def _assignments(text: str) -> dict[str, object]:
    """Return a module's own names and values; one that is computed is its source."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return {}
    found: dict[str, object] = {}
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                value = ast.unparse(node.value)
            found[node.targets[0].id] = value
    return found


def _flags(command: list[str]) -> dict[str, object]:
    names = {
        "--keep-alive": "keepalive",
        "--worker-class": "worker_class",
        "-k": "worker_class",
        "--threads": "threads",
    }
    found: dict[str, object] = {}
    words = [part for word in command for part in _split(word)]
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word in names:
            found[names[word]] = int(value) if value.isdecimal() else value
    return found


def _split(word: str) -> list[str]:
    return word.split("=", 1) if word.startswith("--") else [word]
