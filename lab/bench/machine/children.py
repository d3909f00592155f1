"""Commands that run to their end, such as an installation: nothing of them outlives the lab."""

from __future__ import annotations

import marshal
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.errors import LabError

GUARD = Path(__file__).with_name("guard.py")
"""The program that stands between the lab and what it starts."""


def ended(
    words: Sequence[str], folder: Path, environ: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """
    Run a command under a guard, and return how it ended, with both streams in one.

    Whatever it has started is killed at its end, and at the lab's.

    Raises:
        LabError: It cannot be started.
        TimeoutExpired: It has not ended after so many *seconds*.
    """
    order = {"commands": [[*words]], "environment": {**environ}, "cwd": str(folder), "cores": None}
    with tempfile.TemporaryFile() as output:
        guard = subprocess.Popen(
            (sys.executable, "-I", "-S", str(GUARD)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
        )
        assert guard.stdin is not None
        assert guard.stdout is not None
        with guard.stdout:
            try:
                guard.stdin.write(encoded(order))
                guard.stdin.flush()
                status = _status(_events(guard.stdout.fileno(), seconds), words, seconds)
            finally:
                guard.stdin.close()
                guard.wait()
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return subprocess.CompletedProcess([*words], status, text, "")


def encoded(order: dict[str, Any]) -> bytes:
    """Return an order as a guard reads it."""
    return marshal.dumps(order).hex().encode() + b"\n"


def decoded(line: bytes) -> dict[str, Any]:
    """Return an event of a guard."""
    return dict(marshal.loads(bytes.fromhex(line.decode())))  # noqa: S302 - of our own guard


def _status(events: Iterator[Mapping[str, object]], words: Sequence[str], seconds: float) -> int:
    for event in events:
        if "failed" in event:
            raise LabError(f"{words[0]} cannot be started: {event['failed']}")
        if "ended" in event:
            return int(str(event["status"]))
    raise subprocess.TimeoutExpired([*words], seconds)


def _events(source: int, seconds: float) -> Iterator[Mapping[str, object]]:
    """Yield what the guard reports, until so many *seconds* have passed or it has ended."""
    deadline = time.monotonic() + seconds
    pending = b""
    while select.select([source], [], [], max(0.0, deadline - time.monotonic()))[0]:
        read = os.read(source, 65536)
        if not read:
            raise LabError("the guard of a command was ended from outside")
        *lines, pending = (pending + read).split(b"\n")
        yield from map(decoded, lines)
