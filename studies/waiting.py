"""
An application that computes and waits, for docs/how-to/processes-and-threads.md.

    .venv/bin/lab run blocking --app studies.waiting:application --path /1/40 --sweep threads=1,2

`/COMPUTE/WAIT` computes for about COMPUTE milliseconds at full speed and sleeps for WAIT
milliseconds. It computes by a number of steps and not by a clock, so that a slowed server takes as
much CPU as any other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

STEPS = 40_000
"""Turns of an empty loop that take about a millisecond."""


def application(
    environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    """Compute, wait, reply."""
    compute, wait = (float(text) for text in environ["PATH_INFO"].strip("/").split("/"))
    for _ in range(int(compute * STEPS)):
        pass
    if wait:
        time.sleep(wait / 1000)
    body = b"done\n"
    start_response(
        "200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
    )
    return [body]
