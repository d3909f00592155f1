"""
Mixed requests, good and bad, each with one right answer, and what became of them.

For `endurance.py` and the tests. It shares no code with what it asks, nor with the lab.
"""

from __future__ import annotations

import http.client
import json
import random
import socket
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cache, partial

BAD = 0.01
"""The share of bad requests."""

LONGEST = 100
"""Digits that are answered."""

TIMEOUT = 30.0
"""Seconds."""

CLIENTS = 4
"""At the same time."""

Address = tuple[str, int]
Connection = http.client.HTTPConnection


@dataclass
class Tally:
    """What became of the requests."""

    right: Counter[str] = field(default_factory=Counter)
    """By kind."""
    wrong: Counter[str] = field(default_factory=Counter)
    """By kind and what came instead."""

    def add(self, other: Tally) -> None:
        """Count another one's, too."""
        self.right += other.right
        self.wrong += other.wrong


# -- good requests ---------------------------------------------------------------------------------


@cache
def sequences() -> tuple[list[int], list[bytes]]:
    """Return the numbers of the sequence, and the reply that ends with each of them."""
    numbers = [0, 1]
    while numbers[-1] < 10**LONGEST:
        numbers.append(numbers[-1] + numbers[-2])
    texts = list(map(str, numbers))
    return numbers, [f"[{', '.join(texts[:end])}]".encode() for end in range(1, len(texts) + 1)]


def expected(number: int) -> bytes:
    """
    Return the right answer to a number that is not negative.

    >>> expected(5), expected(6), expected(0)
    (b'[0, 1, 1, 2, 3, 5]', b'[0, 1, 1, 2, 3, 5, 8]', b'[0, 1]')
    """
    numbers, bodies = sequences()
    return bodies[max(1, bisect_left(numbers, number))]


def good(connection: Connection, draw: random.Random) -> str:
    """Ask for a number; return what is wrong with the reply, or nothing."""
    digits = draw.randint(1, LONGEST)
    text = "".join(draw.choices("0123456789", k=digits))
    connection.request("GET", f"/{text}")
    reply = connection.getresponse()
    body = reply.read()
    if reply.status != 200:
        return f"status {reply.status}"
    return "" if body == expected(int(text)) else "body"


# -- bad ones --------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, str, dict[str, str], int]] = {
    "letter": ("GET", "/12a4", {}, 400),
    "underscore": ("GET", "/1_000", {}, 400),
    "digits of another script": ("GET", "/%D9%A3", {}, 400),
    "encoded NUL": ("GET", "/9%00", {}, 400),
    "one digit too many": ("GET", "/" + "9" * (LONGEST + 1), {}, 400),
    "4,000 digits": ("GET", "/" + "9" * 4000, {}, 400),
    "no such path": ("GET", "/a/b", {}, 404),
    "method": ("DELETE", "/9000", {}, 405),
    "long URL": ("GET", "/" + "9" * 9000, {}, 414),
    "long header": ("GET", "/9000", {"X-Long": "x" * 9000}, 431),
}
"""Kind -> method, target, headers, and the status of the right answer."""


def refused(kind: str, connection: Connection) -> str:
    """Send a bad request that is well-formed; return what is wrong with the reply, or nothing."""
    method, target, headers, status = REFUSED[kind]
    connection.request(method, target, headers=headers)
    reply = connection.getresponse()
    body = reply.read()
    if reply.status != status:
        return f"status {reply.status}"
    # The service's errors and nginx's are documents of one form.
    return "" if json.loads(body)["status"] == status else "body"


def garbage(connection: Connection) -> str:
    """Send what is no request of HTTP, on a connection of its own."""
    with socket.create_connection((connection.host, connection.port), TIMEOUT) as client:
        client.sendall(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")
        received = b"".join(iter(lambda: client.recv(65536), b""))
    return "" if received.startswith(b"HTTP/1.1 400 ") else f"{received[:20]!r}"


def leave(connection: Connection) -> str:
    """Ask for the longest answer, and go without reading it."""
    with socket.create_connection((connection.host, connection.port), TIMEOUT) as client:
        client.sendall(b"GET /" + b"9" * LONGEST + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    return ""


BAD_KINDS: dict[str, Callable[[Connection], str]] = {
    **{kind: partial(refused, kind) for kind in REFUSED},
    "no HTTP": garbage,
    "client that leaves": leave,
}


def play(address: Address, requests: int, seed: int) -> Tally:
    """Send so many requests, one after the other on a kept connection, and judge each reply."""
    draw = random.Random(seed)
    tally = Tally()
    connection = Connection(*address, timeout=TIMEOUT)
    for _ in range(requests):
        kind = draw.choice(list(BAD_KINDS)) if draw.random() < BAD else "good"
        try:
            wrong = BAD_KINDS[kind](connection) if kind != "good" else good(connection, draw)
        except (OSError, http.client.HTTPException, ValueError) as error:
            wrong = type(error).__name__
            connection.close()
        if wrong:
            tally.wrong[f"{kind}: {wrong}"] += 1
        else:
            tally.right[kind] += 1
    connection.close()
    return tally


def load(pool: Executor, address: Address, requests: int, seeds: Iterator[int]) -> Tally:
    """Send so many requests, shared out among the clients, each with a seed of its own."""
    shares = [requests // CLIENTS] * CLIENTS
    shares[0] += requests % CLIENTS
    total = Tally()
    for future in [pool.submit(play, address, share, next(seeds)) for share in shares]:
        total.add(future.result())
    return total
