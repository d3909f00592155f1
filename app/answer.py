"""
The answer to a number: its bytes and its headers, for any framework.

An answer never changes, so it may be kept for ever: by clients for a year, which is as long as HTTP
caches take it, and here until the process ends. Up to 10^100 there are no more than 482 different
ones, 4 MB in all.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import fib

STATUS = "200 OK"
FOREVER = "public, max-age=31536000, immutable"

_ENTITY_TAGS = re.compile(r'[ \t,]*((W/)?"[!#-~\x80-\xff]*"[ \t]*(,[ \t,]*|$))+')
"""A list of entity tags, weak or strong, whose quotes are part of them (RFC 9110, 8.8.3)."""


class Ready(NamedTuple):
    """An answer as it is sent."""

    body: bytes
    tag: str
    """Its strong entity tag, unquoted: the index of the last element."""
    headers: tuple[tuple[str, str], ...]
    """In the order in which they are sent."""


_kept: list[Ready | None] = [None] * (fib.last_index(10**fib.TABLE_DIGITS) + 1)
"""By the index of the last element; filled as they are asked for."""


def ready(number: int) -> Ready:
    """Return the answer to *number*; numbers with the same answer share it."""
    last = fib.last_index(number)
    if last >= len(_kept):
        return _make(number, last)
    answer = _kept[last]
    if answer is None:
        answer = _kept[last] = _make(number, last)
    return answer


def is_named(tag: str, if_none_match: str) -> bool:
    """
    Return whether the header If-None-Match names the answer with this tag (RFC 9110, 13.1.2).

    >>> [is_named("f7", each) for each in ('"f6", W/"f7"', "*", "f7", '"f7', '"f7" f8')]
    [True, True, False, False, False]
    """
    if if_none_match.strip() == "*":
        return True
    return f'"{tag}"' in if_none_match and _ENTITY_TAGS.fullmatch(if_none_match) is not None


def _make(number: int, last: int) -> Ready:
    body = fib.get_json(number)
    tag = f"f{last}"
    headers = (
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", FOREVER),
        ("ETag", f'"{tag}"'),
    )
    return Ready(body, tag, headers)
