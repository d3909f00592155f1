"""Whether a server calls an application by the interface that the application has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from lab.config.gunicorn.reader import all_bindings, python_text
from lab.config.interface import ASGI, UNKNOWN, WSGI
from lab.config.steps import Put
from lab.errors import ProfileError
from lab.lint.rules.meanings import service_of
from lab.lint.rules.rule import WHY, Case, Flaw, Severity, rule

MAKERS = {
    "fastapi.FastAPI": ASGI,
    "starlette.applications.Starlette": ASGI,
    "quart.Quart": ASGI,
    "litestar.Litestar": ASGI,
    "django.core.asgi.get_asgi_application": ASGI,
    "flask.Flask": WSGI,
    "django.core.wsgi.get_wsgi_application": WSGI,
}
"""What makes an application -> how that is called."""

INSTEAD = {
    ("gunicorn", ASGI): 'worker_class = "asgi"',
    ("gunicorn", WSGI): 'worker_class = "gthread"',
    ("granian", ASGI): "--interface asgi",
    ("granian", WSGI): "--interface wsgi",
    ("uvicorn", WSGI): "--interface wsgi",
}
"""Server and interface -> what to write."""


@rule(
    "ST006",
    Severity.ERROR,
    "an application of another interface",
    why="the server starts and answers every request with 500",
    source="gunicorn/workers/sync.py:184 `self.wsgi(environ, resp.start_response)`",
    bad='FROM python:3.12-slim\nCMD ["gunicorn", "--bind", "0.0.0.0:80", "--worker-tmp-dir", '
    '"/dev/shm", "shop_asgi:app"]',
    good='FROM python:3.12-slim\nCMD ["gunicorn", "--bind", "0.0.0.0:80", "--worker-tmp-dir", '
    '"/dev/shm", "-k", "asgi", "shop_asgi:app"]',
    near_miss='FROM python:3.12-slim\nCMD ["gunicorn", "--bind", "0.0.0.0:80", "--worker-tmp-dir", '
    '"/dev/shm", "shop_wsgi:app"]',
)
def other_interface(config: Case) -> Iterator[Flaw]:
    """The module is read and not imported; where the interface is not certain, it is silent."""
    finds_out = {"uWSGI", "hypercorn"}  # hypercorn looks how it can call an application
    service = service_of(config) if config.server not in finds_out else None
    if service is None or service.application is None or service.interface not in {ASGI, WSGI}:
        return
    application = service.application
    path = "/".join(application.module.split("."))
    names = (config.known.named(name) for name in (f"{path}.py", f"{path}/__init__.py"))
    text = next((text for text in map(config.known.read, names) if text is not None), None)
    has = interface_in(text, application.callable) if text is not None else UNKNOWN
    if has in {UNKNOWN, service.interface}:
        return
    called, write = service.interface.upper(), INSTEAD.get((config.server, has), f"{has} for it")
    if config.server == "gunicorn" and has == ASGI and not config.may_be(">=24"):
        write = 'worker_class = "uvicorn_worker.UvicornWorker"'
    text = f"{application} is an application of {has.upper()}, and is called by {called}"
    steps = (Put("interface" if config.server == "granian" else "worker_class", has),)
    yield config.flaw(config.top, f"{text}, so that {WHY}; write {write}", steps=steps)


def interface_in(text: str, name: str) -> str:
    r"""
    Return the interface of an application that a module makes; `UNKNOWN` where it is not certain.

    >>> interface_in("from flask import Flask\napp = Flask(__name__)", "app")
    'wsgi'
    >>> interface_in("async def app(scope, receive, send):\n    pass", "app")
    'asgi'
    """
    try:
        python_text(text.encode("utf-8", "surrogateescape"), Path())
        bound = all_bindings(text)
    except ProfileError:
        return UNKNOWN
    values = [binding for binding in bound if binding.name == name]
    if len(values) != 1:
        return UNKNOWN
    node, value = values[0].node, values[0].value
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _of_function(node)
    if not (values[0].sure and isinstance(value, ast.Call)):
        return UNKNOWN
    called = ast.unparse(value.func)
    begins, dot, rest = called.partition(".")
    origins = [
        origin
        for binding in bound
        if binding.name == begins
        for origin in _origin(binding.node, begins)
    ]
    return MAKERS.get(f"{origins[0]}{dot}{rest}", UNKNOWN) if len(origins) == 1 else UNKNOWN


def _origin(node: ast.AST, name: str) -> Iterator[str]:
    """Yield the full name of what an import binds; of anything else "", which is no name."""
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (
            f"{node.module}.{it.name}" for it in node.names if (it.asname or it.name) == name
        )
    elif isinstance(node, ast.Import):
        yield from (
            it.name if it.asname else name
            for it in node.names
            if (it.asname or it.name.partition(".")[0]) == name
        )
    else:
        yield ""


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the interface of a function, by what it takes; `UNKNOWN` with decorators."""
    takes = [argument.arg for argument in node.args.args]
    if node.decorator_list:
        return UNKNOWN
    if isinstance(node, ast.AsyncFunctionDef):
        return ASGI if takes == ["scope", "receive", "send"] else UNKNOWN
    return WSGI if takes == ["environ", "start_response"] else UNKNOWN
