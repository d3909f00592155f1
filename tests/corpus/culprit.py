"""
Which of many requests ended a worker, and the least of it that still does.

The requests are sent again to a fresh server, half of them, then half of those; what is left is
made smaller by leaving out lines and bytes for as long as a worker still dies (Zeller and
Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002). A death is seen in the table
of processes, since nginx may have had the answer from another worker.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from tests.corpus.corpus import expand
from tests.corpus.doors import Door
from tests.corpus.stand import Stand

GRACE = 0.3
"""Seconds from the end of a connection until the death of its worker must be seen."""

Kills = Callable[[Sequence[bytes]], bool]


class Trap:
    """
    Tells whether requests end a worker; starts the server anew after each death. A context manager.

    Args:
        door: By which they are sent.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._stack = ExitStack()
        self._server: Stand | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __call__(self, requests: Sequence[bytes]) -> bool:
        """Send *requests* and return whether a process died of them."""
        if self._server is None:
            self._server = self._stack.enter_context(self._door.start())
        self._door.storm(self._server, requests)
        deadline = time.monotonic() + GRACE
        while not (died := self._server.deaths() > 0) and time.monotonic() < deadline:
            time.sleep(0.02)
        if died:
            self._stack.close()
            self._server = None
        return died


def culprit(suspects: Sequence[bytes], kills: Kills) -> bytes | None:
    """Return one request that kills by itself; None where none of *suspects* does so again."""
    if not kills(suspects):
        return None
    while len(suspects) > 1:
        half = len(suspects) // 2
        for part in (suspects[:half], suspects[half:]):
            if kills(part):
                suspects = part
                break
        else:
            return None  # only both together, or by chance
    return suspects[0]


def shrink(request: bytes, kills: Kills) -> bytes:
    """Return a request of which no line, and no byte, can be left out without its sparing all."""
    lines = request.splitlines(keepends=True)
    request = b"".join(_least(lines, lambda kept: kills([b"".join(kept)])))
    pieces = [bytes([value]) for value in request]
    return b"".join(_least(pieces, lambda kept: kills([b"".join(kept)])))


def _least(parts: list[bytes], still: Callable[[list[bytes]], bool]) -> list[bytes]:
    """Return a part of *parts* for which *still* holds, and for no part of it with one less."""
    size = len(parts) // 2
    while size >= 1:
        at, removed = 0, False
        while at < len(parts):
            fewer = parts[:at] + parts[at + size :]
            if fewer and still(fewer):
                parts, removed = fewer, True
            else:
                at += size
        if size > 1:
            size //= 2
        elif not removed:
            break
    return parts


def entry(name: str, request: bytes) -> str:
    """
    Return a table for requests.toml; what may be answered is for a person to say.

    Raises:
        ValueError: The notation of that file would make something else of these bytes.
    """
    text = request.decode("latin-1")
    if expand(text) != request:
        raise ValueError("it has {...*N} or {rest}, which requests.toml writes out")
    # JSON's strings are TOML's, but for DEL.
    sent = json.dumps(text).replace("\x7f", "\\u007f")
    return (
        f"[found.{json.dumps(name)}]\nsend = {sent}\nallowed = [200, 400]\n"
        'why = "It ended a worker."\n'
    )


def save(folder: Path, door: Door, request: bytes) -> list[Path]:
    """Write the request itself and, where it can be written so, its table; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = door.name.replace(" ", "-")
    raw = folder / f"{stem}.http"
    raw.write_bytes(request)
    try:
        text = entry(f"{door.name}: a worker dies", request)
    except ValueError:
        return [raw]
    table = folder / f"{stem}.toml"
    table.write_text(text, encoding="utf-8")
    return [raw, table]
