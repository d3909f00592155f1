"""The lines of nginx's that change with the protocol behind it."""

from __future__ import annotations

from lab.config.vocabulary.quoting import as_nginx
from lab.config.vocabulary.service import Address
from lab.config.vocabulary.translation import Note, Translation

HEADERS = (
    "proxy_http_version 1.1;",
    'proxy_set_header Connection "";',
    "proxy_set_header Host $host;",
    "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    "proxy_set_header X-Forwarded-Proto $scheme;",
)

NO_ADDRESS = "nginx would read more in it than an address: give proxy_pass a plain one by hand"
"""What becomes of one that holds a variable of the environment, a blank or nginx's own signs."""

RELATIVE = "nginx would look for a relative path in a folder of its own: write the absolute path"


def lines_of(made: Translation, *, speaks_uwsgi: bool) -> tuple[str, ...]:
    """
    Return what leaves nginx's location, behind "-", and what comes, behind "+".

    It is nothing where the protocol stays.

    Args:
        made: The translation.
        speaks_uwsgi: Whether the new server takes the uwsgi protocol.
    """
    before = [address for address in made.service.addresses if address.protocol == "uwsgi"]
    if speaks_uwsgi or not before:
        return ()
    if before[0].path is not None and str(before[0].path)[:1] not in {"/", "@"}:
        made.lost.append(Note(before[0].was, RELATIVE))
        return ()
    where = _where(before[0])
    if where is None:
        made.lost.append(Note(before[0].was, NO_ADDRESS))
        return ()
    new = (f"proxy_pass http://{where};", *HEADERS)
    return ("- include uwsgi_params;", f"- uwsgi_pass {where};", *(f"+ {line}" for line in new))


def _where(address: Address) -> str | None:
    """Return an address as nginx takes it; None where it would read anything else in it."""
    if address.path is not None:
        path = as_nginx(address.path)
        # nginx knows no abstract socket: of @name it would look for a file.
        return f"unix:{path}" if path and ":" not in path and path[0] != "@" else None
    host, port = as_nginx(address.host), address.port.number
    if host is None or port not in range(1, 65_536):
        return None
    host = f"[{host}]" if ":" in host else host
    return f"{host if host not in {'', '*', '0.0.0.0'} else '127.0.0.1'}:{port}"
