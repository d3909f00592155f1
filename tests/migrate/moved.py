"""What a configuration asks for, moved to where it can be started here."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lab.bench.servers.ports import free_port
from lab.config.vocabulary.service import Address, Application, SenseSetting, Service
from lab.config.vocabulary.values import Cpus, Expression, Variable

TLS = {"certificate", "certificate-key", "ciphers", "client-ca", "client-required"}
LEFT_OUT = TLS | {"user", "group", "socket-owner", "virtualenv", "background"}
"""Senses of whom and of what is not here."""

PACKAGES = {"process-name": "setproctitle", "reload": "watchfiles", "greenlets": "gevent"}
"""Sense -> the package that it needs."""

FOLDERS = {"chdir", "static", "pythonpath"}
FILES = {"log-file", "access-file", "pid-file"}
"""Senses whose values are paths that must be there, or whose folder must."""

AT_MOST = {"workers": 2, "backlog": 1024}
"""What this machine has room for."""

STUB = """\
def answer(start_response):
    body = b"the stub"
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


async def talk(scope, receive, send):
    while scope["type"] == "lifespan":
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind.endswith("shutdown"):
            return
    headers = [(b"content-length", b"8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"the stub"})


def both(*given):
    return answer(given[1]) if len(given) == 2 else talk(*given)


"""
"""Answers by WSGI and by ASGI."""


def here(service: Service, folder: Path) -> Service:
    """Return a service at a free port, or a socket in *folder*, with all its paths below that."""
    missing = {key for key, name in PACKAGES.items() if importlib.util.find_spec(name) is None}
    said = {
        key: _within(each, folder)
        for key, each in service.senses.items()
        if key not in LEFT_OUT | missing
    }
    application = service.application or Application("stub", "application", "a stub")
    return replace(
        service,
        application=application,
        addresses=(_address(service.addresses, folder),),
        senses=said,
    )


def _address(addresses: tuple[Address, ...], folder: Path) -> Address:
    """Return the first address, moved; what has none is served by HTTP."""
    host, port = Expression.of("127.0.0.1"), Expression.of(str(free_port()))
    if not addresses:
        return Address("http", host, port, None, "a free port")
    first = addresses[0]
    protocol = first.protocol if first.protocol == "uwsgi" else "http"
    path = Expression.of(str(folder / "socket")) if first.path else None
    return Address(protocol, host, port, path, first.was)


def _within(said: SenseSetting, folder: Path) -> SenseSetting:
    """Return what is said with its paths in *folder*, and no more than there is room for."""
    if said.sense.is_number:
        most = AT_MOST.get(said.sense.key, 0)
        return replace(said, values=tuple(each.within(0, most) for each in said.values))
    values = tuple(_moved(each, folder) for each in said.values)
    for each in values:
        if said.sense.key in FOLDERS:
            (folder / _path(each, folder)).mkdir(parents=True, exist_ok=True)
        elif said.sense.key in FILES:
            (folder / _path(each, folder)).parent.mkdir(parents=True, exist_ok=True)
    return replace(said, values=values)


def _moved(value: Expression, folder: Path) -> Expression:
    """Return a value whose absolute path, also behind an equals sign, is below *folder*."""
    first, *others = value.parts
    if isinstance(first, str):
        first = re.sub(r"(^|=)/(?!dev/)", rf"\1{folder}/", first)
    return Expression((first, *others))


def _path(value: Expression, folder: Path) -> str:
    """Return the path in a value, where a variable without a default is *folder*."""
    texts = (_text(each, folder) for each in value.parts)
    return "".join(texts).rpartition("=")[2]


def _text(part: str | Variable | Cpus, folder: Path) -> str:
    if isinstance(part, Variable):
        return str(folder) if part.default is None else part.default
    return str(part)


def stub(service: Service, folder: Path) -> None:
    """Write the module that a service names, with what it calls."""
    said = service.senses.get("chdir")
    place = folder / _path(said.value, folder) if said else folder
    module, called = service.application.module, service.application.callable
    for part in module.split(".")[:-1]:
        place /= part
        place.mkdir(parents=True, exist_ok=True)
        (place / "__init__.py").touch()
    name = called.removesuffix("()")
    made = f"{name} = lambda: both" if service.application.factory else f"{name} = both"
    (place / f"{module.rpartition('.')[2]}.py").write_text(f"{STUB}{made}\n")


def variables(service: Service, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the variables that a service names and gives no default, with a value for each."""
    for said in service.senses.values():
        for part in (part for value in said.values for part in value.parts):
            if isinstance(part, Variable) and part.default is None:
                yield part.name, "2" if said.sense.is_number else str(folder)
