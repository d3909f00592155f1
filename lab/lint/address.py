"""What an address of uWSGI's means."""

from __future__ import annotations

import ipaddress


def is_unix(address: str) -> bool:
    """
    Return whether it is a UNIX socket.

    >>> is_unix("/run/app.sock"), is_unix("127.0.0.1:3031"), is_unix("=0")
    (True, False, False)
    """
    return ":" not in address and not address.startswith("=")


def is_file(address: str) -> bool:
    """
    Return whether it is certainly a UNIX socket with a path.

    >>> is_file("/run/$(NAME).sock"), is_file("app.sock"), is_file("$(ADDRESS)")
    (True, True, False)
    """
    return is_unix(address) and (address[:1] in {"/", "."} or "$" not in address)


def is_open(address: str) -> bool:
    """
    Return whether any host can reach it: it is on all interfaces, or on a public address.

    A name is not looked up. What follows a comma, as a certificate of `https`, is not part of it.

    >>> [is_open(each) for each in (":80", "0.0.0.0:80", "[::]:80", "8.8.8.8:80,a.crt,a.key")]
    [True, True, True, True]
    >>> [is_open(each) for each in ("127.0.0.1:80", "10.0.0.7:80", "/run/app.sock", "web:80", "=0")]
    [False, False, False, False, False]
    """
    host, colon, _ = address.partition(",")[0].rpartition(":")
    try:
        ip_address = ipaddress.ip_address(host.strip("[]") or "0.0.0.0")
    except ValueError:
        return False
    return bool(colon) and (ip_address.is_unspecified or ip_address.is_global)
