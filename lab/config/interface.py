"""How a server calls an application: by WSGI, by ASGI, or by RSGI, which is granian's alone."""

from __future__ import annotations

import re

WSGI, ASGI, RSGI, UNKNOWN = "wsgi", "asgi", "rsgi", ""

_UVICORN = re.compile("uvicorn", re.IGNORECASE)
_ASGI_WORKERS = re.compile("uvicorn|asgi", re.IGNORECASE)
_WSGI_WORKERS = re.compile(
    r"gunicorn\.workers\.|(egg:gunicorn#)?(sync|gthread|gevent|eventlet|tornado)\w*$"
)


def of_worker_class(name: str) -> str:
    """Return the interface of a class of gunicorn's workers; `UNKNOWN` of others, or a computed."""
    if _ASGI_WORKERS.search(name):
        return ASGI
    return WSGI if _WSGI_WORKERS.match(name) else UNKNOWN


def is_uvicorn(name: str) -> bool:
    """Return whether uvicorn reads the requests of a class of gunicorn's workers."""
    return _UVICORN.search(name) is not None


def of_granian(value: str | None) -> str:
    """Return the interface of granian's --interface; None: the option is not given."""
    return (value or RSGI).replace("asginl", ASGI)
