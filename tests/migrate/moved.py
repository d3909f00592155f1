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
    settings = {
        key: _within(setting, folder)
        for key, setting in service.senses.items()
        if key not in LEFT_OUT | missing
    }
    application = service.application or Application("stub", "application", "a stub")
    return replace(
        service,
        application=application,
        addresses=(_address(service.addresses, folder),),
        senses=settings,
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


def _within(setting: SenseSetting, folder: Path) -> SenseSetting:
    """Return what is said with its paths in *folder*, and no more than there is room for."""
    if setting.sense.is_number:
        most = AT_MOST.get(setting.sense.key, 0)
        return replace(setting, values=tuple(value.within(0, most) for value in setting.values))
    values = tuple(_moved(value, folder) for value in setting.values)
    for value in values:
        if setting.sense.key in FOLDERS:
            (folder / _path(value, folder)).mkdir(parents=True, exist_ok=True)
        elif setting.sense.key in FILES:
            (folder / _path(value, folder)).parent.mkdir(parents=True, exist_ok=True)
    return replace(setting, values=values)


def _moved(value: Expression, folder: Path) -> Expression:
    """Return a value whose absolute path, also behind an equals sign, is below *folder*."""
    first, *others = value.parts
    if isinstance(first, str):
        first = re.sub(r"(^|=)/(?!dev/)", rf"\1{folder}/", first)
    return Expression((first, *others))


def _path(value: Expression, folder: Path) -> str:
    """Return the path in a value, where a variable without a default is *folder*."""
    texts = (_text(part, folder) for part in value.parts)
    return "".join(texts).rpartition("=")[2]


def _text(part: str | Variable | Cpus, folder: Path) -> str:
    if isinstance(part, Variable):
        return str(folder) if part.default is None else part.default
    return str(part)


def stub(service: Service, folder: Path) -> None:
    """Write the module that a service names, with what it calls."""
    chdir = service.senses.get("chdir")
    place = folder / _path(chdir.value, folder) if chdir else folder
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
    for setting in service.senses.values():
        for part in (part for value in setting.values for part in value.parts):
            if isinstance(part, Variable) and part.default is None:
                yield part.name, "2" if setting.sense.is_number else str(folder)
