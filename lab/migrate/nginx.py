"""The lines of nginx's that change with the protocol behind it."""

from __future__ import annotations

from lab.dialects.vocabulary.service import Address
from lab.dialects.vocabulary.translation import Translation

HEADERS = (
    "proxy_http_version 1.1;",
    'proxy_set_header Connection "";',
    "proxy_set_header Host $host;",
    "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    "proxy_set_header X-Forwarded-Proto $scheme;",
)


def lines_of(made: Translation, *, speaks_uwsgi: bool) -> tuple[str, ...]:
    """
    Return what leaves nginx's location, behind "-", and what comes, behind "+".

    It is nothing where the protocol stays.

    Args:
        made: The translation.
        speaks_uwsgi: Whether the new server takes the uwsgi protocol.
    """
    before = [each for each in made.service.addresses if each.protocol == "uwsgi"]
    if speaks_uwsgi or not before:
        return ()
    where = _where(before[0])
    new = (f"proxy_pass http://{where};", *HEADERS)
    return ("- include uwsgi_params;", f"- uwsgi_pass {where};", *(f"+ {each}" for each in new))


def _where(address: Address) -> str:
    if address.path is not None:
        return f"unix:{address.path}"
    host = address.host.text if address.host.text not in {"", "*", "0.0.0.0"} else "127.0.0.1"
    return f"{host}:{address.port}"
