"""gunicorn's workers for ASGI: settings that they ignore or alone read, and how they stop."""

from __future__ import annotations

from collections.abc import Iterator

from lab.config.gunicorn.reader import literal
from lab.config.interface import UNKNOWN, is_uvicorn, of_worker_class
from lab.lint.rules.gunicorn import (
    OF_UVICORN,
    drop,
    elsewhere,
    is_asgi,
    number,
    worker_class,
)
from lab.lint.rules.rule import WHY, Case, Flaw, Severity, rule

ASGI_ONLY = (
    "asgi_loop",
    "asgi_lifespan",
    "asgi_disconnect_grace_period",
    "websocket_max_message_size",
    "root_path",
)
"""Settings that only the worker class "asgi" reads."""

VARIABLE = "SCRIPT_NAME"
"""The variable that workers of WSGI read for the prefix of the application."""


@rule(
    "GU023",
    Severity.NO_EFFECT,
    "a setting that the worker class ignores",
    why="the worker class serves all requests in one event loop and does not read this; leave it "
    "out",
    source="gunicorn/workers/gasgi.py:44 `if cfg.threads > 1`; "
    "gunicorn/workers/gasgi.py:191 `await self.loop.create_server(`; "
    "https://github.com/Kludex/uvicorn-worker",
    bad='worker_class = "asgi"\nkeepalive = 75\ngraceful_timeout = 80\nthreads = 4',
    good='worker_class = "asgi"\nkeepalive = 75\ngraceful_timeout = 80',
    near_miss='worker_class = "gthread"\nthreads = 4',
)
def ignored_by_asgi(config: Case) -> Iterator[Flaw]:
    """Threads, also with greenlets; gunicorn's backlog; limits of a request that uvicorn reads."""
    threads, name = config.last("threads"), worker_class(config) or ""
    has_greenlets = "gevent" in name or name == "eventlet"
    if not (is_asgi(config) or has_greenlets):
        return
    if threads and number(config, "threads", 1) != 1:
        text = "the worker class serves requests in greenlets, as many as worker_connections says, "
        text = f"{text}and does not read this; leave it out" if has_greenlets else WHY
        yield config.flaw(threads, text, drop(config, threads))
    if has_greenlets:
        return
    backlog = config.last("backlog")
    if backlog and name == "asgi":
        text = "the worker class lets 100 connections wait, whatever backlog is; leave it out"
        yield config.flaw(backlog, text, drop(config, backlog))
    limits = config.all("limit_request_line", "limit_request_fields", "limit_request_field_size")
    for limit in limits if name in OF_UVICORN else ():
        text = "uvicorn reads the requests, and has limits of its own; set the limit in the proxy"
        yield config.flaw(limit, text, drop(config, limit))


@rule(
    "GU025",
    Severity.NO_EFFECT,
    "a setting that only asgi workers read",
    why='no worker class but "asgi" reads this; leave it out',
    source="gunicorn/workers/gasgi.py:56 `asgi_loop`; gunicorn/asgi/protocol.py:633 `root_path`",
    bad='worker_class = "uvicorn_worker.UvicornWorker"\nkeepalive = 75\nroot_path = "/shop"',
    good='worker_class = "asgi"\nroot_path = "/shop"',
    near_miss='worker_class = choose()\nroot_path = "/shop"',
    versions=">=24",
)
def only_of_asgi(config: Case) -> Iterator[Flaw]:
    """Workers of WSGI have SCRIPT_NAME for the prefix; uvicorn's workers have nothing."""
    name = worker_class(config) or ""
    interface = of_worker_class(name)
    if interface == UNKNOWN or (interface == "asgi" and not is_uvicorn(name)):
        return
    for setting in config.all(*ASGI_ONLY):
        yield config.flaw(setting, WHY + elsewhere(config), drop(config, setting))


@rule(
    "GU026",
    Severity.REMARK,
    "SCRIPT_NAME for an application of ASGI",
    why="workers of ASGI do not read this variable, and the application gets no root_path from it; "
    'with worker_class = "asgi" write root_path, else set it in the application, as in '
    "FastAPI(root_path=...)",
    source="gunicorn/http/wsgi.py:209 `SCRIPT_NAME`; gunicorn/asgi/protocol.py:633 `root_path`",
    bad='worker_class = "asgi"\nraw_env = ["SCRIPT_NAME=/shop"]',
    good='worker_class = "asgi"\nroot_path = "/shop"',
    near_miss='worker_class = "gthread"\nraw_env = ["SCRIPT_NAME=/shop"]',
)
def script_name(config: Case) -> Iterator[Flaw]:
    """A remark: the application may read the variable by itself."""
    setting = config.last("raw_env")
    value = literal(setting.raw) if setting else None
    entries = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    names = {str(entry).partition("=")[0] for entry in entries}
    if setting and is_asgi(config) and VARIABLE in names:
        yield config.flaw(setting)


@rule(
    "GU027",
    Severity.DANGEROUS,
    "a stop that idle connections hold up",
    why="an asgi worker that stops waits for idle connections, too",
    source="gunicorn/workers/gasgi.py:251 `while self.nr_conns > 0`",
    bad='worker_class = "asgi"\nkeepalive = 75',
    good='worker_class = "asgi"\nkeepalive = 75\ngraceful_timeout = 80',
    near_miss='worker_class = "uvicorn_worker.UvicornWorker"\nkeepalive = 75',
    versions=">=24",
)
def held_by_idle(config: Case) -> Iterator[Flaw]:
    """The arbiter kills the worker before it runs the shutdown of the application's lifespan."""
    setting = config.last("keepalive")
    kept, patience = number(config, "keepalive", 2), number(config, "graceful_timeout", 30)
    if setting is None or kept is None or patience is None or worker_class(config) != "asgi":
        return
    if kept > patience:
        text = (
            "while a client or a proxy keeps an idle connection, a stop takes graceful_timeout, "
            f"{patience} s, and then kills the worker before the application's lifespan shutdown "
            f"has run; write graceful_timeout = {kept + 5} and let the supervisor wait longer, or "
            "write a shorter keepalive"
        )
        yield config.flaw(setting, text)
