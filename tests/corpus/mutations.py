"""Requests that nobody thought of: those of the corpus, damaged at random, the same for a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from tests.corpus.interpreted import HEADERS

INSERTED = (b"\r", b"\n", b"\r\n", b"\0", b" ", b":", b"%", b"\xff", b"\r\n\r\n")
"""What means something to a parser, or ends something in C."""

LONGEST = 70_000
"""Bytes, because duplications of duplications grow; above every limit of nginx and uWSGI."""


def mutations(requests: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """
    Yield *count* requests, each one of *requests* after one to four changes.

    A change flips a byte, inserts one of `INSERTED`, deletes or duplicates a piece, replaces the
    end by that of another request, or adds a header that uWSGI interprets, with any bytes.
    """
    chance = random.Random(seed)
    for _ in range(count):
        request = chance.choice(requests)
        for _ in range(chance.randint(1, 4)):
            request = _change(request, requests, chance)
        yield request[:LONGEST]


def _change(request: bytes, requests: Sequence[bytes], chance: random.Random) -> bytes:
    at = chance.randrange(len(request) + 1)
    end = min(len(request), at + chance.randint(1, 40))
    match chance.randrange(6):
        case 0 if at < len(request):
            return (
                request[:at] + bytes([request[at] ^ 1 << chance.randrange(8)]) + request[at + 1 :]
            )
        case 1:
            return request[:at] + request[end:]
        case 2:
            return request[:end] + request[at:]
        case 3:
            other = chance.choice(requests)
            return request[:at] + other[chance.randrange(len(other) + 1) :]
        case 4:
            return request[:at] + chance.choice(INSERTED) + request[at:]
        case _:
            # Behind the request line; in a request of one line, at its end.
            behind = request.find(b"\n") + 1 or len(request)
            return request[:behind] + _header(chance) + request[behind:]


def _header(chance: random.Random) -> bytes:
    """Return a line with a header that uWSGI interprets: its usual value, random bytes, or both."""
    name, usual = chance.choice(HEADERS)
    noise = chance.randbytes(chance.randint(1, 4))
    value = chance.choice((usual, noise, usual + noise, noise + usual))
    return name.encode() + b": " + value + b"\r\n"
