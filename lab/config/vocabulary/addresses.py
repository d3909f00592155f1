"""
Addresses: what each server reads in the text of one, and what a writer cannot say.

Sources: gunicorn 27.0.1, gunicorn/util.py (parse_address); uWSGI 2.0.31, core/socket.c,
core/utils.c, plugins/http/https.c.
"""

from __future__ import annotations

import re
from dataclasses import replace

from lab.config.spot import Setting
from lab.config.vocabulary.service import Address, split_address, written
from lab.config.vocabulary.values import Expression, of_shell

NOTHING = Expression.of("")

GLOB = "*?[\\"
"""Signs of a pattern of files."""

ABSTRACT = "it is an abstract socket, which no other server binds"

OPEN = "it is a socket that is already open: write its address"

COLON = "uWSGI reads a path with a colon as HOST:PORT"

UNCLEAR = "a variable decides whether this is a host, a port or a path: write the address"


def lost_address(protocol: str, was: str, why: str) -> Address:
    """Return an address that no other server can be given."""
    return Address(protocol, NOTHING, NOTHING, None, was, lost=why)


def of_bind(value: Expression, protocol: str, was: str, tls: tuple[str, str] | None) -> Address:
    """
    Return the address that gunicorn reads in an entry of `bind`.

    >>> address = of_bind(Expression.of("127.0.0.1"), "http", "", None)
    >>> address.host.text, address.port.text
    ('127.0.0.1', '8000')
    """
    first, *others = value.parts
    begins = first if isinstance(first, str) else ""
    if unix := re.match("unix:(//)?", begins):
        path = Expression((begins[unix.end() :], *others))
        if "unix:" in str(path) or not str(path):
            return lost_address(protocol, was, "this is not the path of a UNIX socket")
        return Address(protocol, NOTHING, NOTHING, path, was, tls)
    if begins.startswith("fd://"):
        return lost_address(protocol, was, OPEN)
    if begins.startswith("tcp://"):
        begins = begins.removeprefix("tcp://")
        value = Expression((begins, *others))
    if value.text is None:
        host, port = split_address(value)
        colons = "".join(part for part in value.parts if isinstance(part, str)).count(":")
        if colons == 0 or port == NOTHING or (colons > 1 and "]:" not in str(value)):
            return lost_address(protocol, was, UNCLEAR)
        if str(host).startswith("[") and host.text is not None:
            host = Expression.of(host.text.strip("[]"))
        return Address(protocol, host, port, None, was, tls)
    return _of_text(value.text, protocol, was, tls)


def of_host_and_port(
    host: Setting | None, port: Setting | None, tls: tuple[str, str] | None, program: str
) -> Address:
    """Return the address that options give to a server whose default is 127.0.0.1:8000."""
    was = ", ".join(written(setting) for setting in (host, port) if setting)
    return Address(
        "http",
        of_shell(host) if host else Expression.of("127.0.0.1"),
        of_shell(port) if port else Expression.of("8000"),
        None,
        was or f"{program}'s default",
        tls,
    )


def _of_text(text: str, protocol: str, was: str, tls: tuple[str, str] | None) -> Address:
    host, port = text, "8000"
    if "[" in text and "]" in text:
        host = text.partition("]")[0][1:]
        port = [*text.split("]:"), port][1]
    elif ":" in text:
        host, port = text.split(":")[:2]
    if not re.fullmatch("[0-9]+", port) or not text:
        return lost_address(protocol, was, "this is not HOST:PORT")
    return Address(protocol, Expression.of(host), Expression.of(port), None, was, tls)


def lost_by_uwsgi(option: str, value: str) -> str:
    """Return why the address of an option of uWSGI's cannot be carried over; empty: it can."""
    match option:
        case "https2":
            return "lab does not read its KEY=VALUE pairs: write https = ADDRESS,CERTIFICATE,KEY"
        case "http-to-https":
            return "it answers with redirects only: use return 301 in nginx"
        case "suwsgi-socket":
            return "the uwsgi protocol over TLS, which no other server speaks"
    if option.startswith("https") and value.count(",") < 2:
        return "lab does not read its certificate and key: write ADDRESS,CERTIFICATE,KEY"
    where = value.partition(",")[0]
    if where.startswith("="):
        return "it is a shared-socket: write its address here"
    if where.startswith("@"):
        return ABSTRACT
    if where.startswith("fd://"):
        return OPEN
    if where.startswith("/") and ":" in where:
        return COLON
    return ""


def refused_as_uwsgi(address: Address) -> str:
    """Return why an ini cannot say an address; empty where it can."""
    path = None if address.path is None else str(address.path)
    if address.tls is not None:
        if path is not None:
            return "TLS on a UNIX socket: https-socket takes HOST:PORT"
        if not all(address.tls):
            return "https-socket takes the names of certificate and key, and one of them is unknown"
        if "," in "".join(address.tls):
            return "https-socket ends a path at its comma: use file names without one"
    if path is not None and ":" in path:
        return f"{COLON}: use a socket name without one"
    if path is not None and path[:1] in {"@", "="}:
        return f"uWSGI reads no path of a file in what begins with {path[0]}"
    return ""


def refused_as_bind(address: Address) -> str:
    """Return why gunicorn's `bind` cannot say an address; empty where it can."""
    path = "" if address.path is None else str(address.path)
    if "," in path or "unix:" in path or path.startswith("//"):
        return "bind reads no path with a comma, with `unix:`, or with two slashes in front"
    return ""


def below(path: Expression, folder: Expression | None) -> Expression:
    """
    Return the path of a socket below the folder that the server goes to before it binds.

    >>> str(below(Expression.of("a.sock"), Expression.of("/srv/")))
    '/srv/a.sock'
    """
    first, begins = path.parts[0], folder.parts[0] if folder else ""
    if not isinstance(first, str) or first[:1] in {"/", "@"}:
        return path
    if folder is None or not isinstance(begins, str) or not begins.startswith("/"):
        return path
    *others, last = folder.parts
    last = last.rstrip("/") if isinstance(last, str) else last
    return Expression((*others, last, f"/{first}", *path.parts[1:]))


def bound(address: Address) -> Address:
    """Return an address with 0.0.0.0 for the host that stands for every address of the machine."""
    every = address.host.text in {"", "*"}
    return replace(address, host=Expression.of("0.0.0.0")) if every else address


def as_http(addresses: tuple[Address, ...]) -> tuple[Address, ...]:
    """Return addresses of which those that do not speak uwsgi speak HTTP."""
    return tuple(
        address if address.protocol == "uwsgi" else replace(address, protocol="http")
        for address in addresses
    )


def host_and_port(address: Address) -> Expression:
    """Return HOST:PORT; an address of IPv6 stands in brackets."""
    host = address.host
    if host.text is not None and ":" in host.text:
        host = Expression.of(f"[{host.text}]")
    return Expression((*host.parts, ":", *address.port.parts))
