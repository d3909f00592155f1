"""
How few requests with one bad header keep a service of two workers down, where it is open to them?

    .venv/bin/python studies/one_header.py

Runs `tuned` without its rule for the URL scheme, and with it, under four clients that ask again ten
milliseconds after each reply; beside them the header of docs/reference/malformed.md is sent so many
times a second. Writes the right replies in six seconds to studies/results/one_header.json. Then
`studies/malformed.py --page` puts them into the page.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab.bench.workloads import fibonacci_body  # noqa: E402
from tests.corpus.client import Outcome, ask  # noqa: E402
from tests.corpus.corpus import expand  # noqa: E402
from tests.corpus.interpreted import KILLER  # noqa: E402
from tests.corpus.page import ONE_HEADER  # noqa: E402
from tests.corpus.stand import Stand, instead  # noqa: E402

RATES = (0, 1, 2, 4, 8)
"""Requests with the header, a second."""

WORKERS = 2
SECONDS = 6.0
CLIENTS = 4
PAUSE = 0.010

RIGHT = Outcome("200", (fibonacci_body(9),))


def main() -> None:
    """Measure each rate, print and store what came."""
    rows: list[dict[str, Any]] = []
    for rate in RATES:
        for rule in (False, True):
            without = None if rule else "route"
            with instead("http-socket", without=without, workers=WORKERS) as server:
                right = asyncio.run(besiege(server, rate))
                deaths = server.log().count("Segmentation Fault")
            rows.append({"rate": rate, "rule": rule, "right": right, "deaths": deaths})
            print(rows[-1])
    stored = {"uWSGI": version("uwsgi"), "workers": WORKERS, "seconds": SECONDS, "rows": rows}
    ONE_HEADER.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(f"written: {ONE_HEADER.relative_to(ROOT)}")


async def besiege(server: Stand, rate: int) -> int:
    """Return how many right replies the clients had while the header was sent, *rate* a second."""
    good = expand("GET /9 HTTP/1.1\r\n{rest}")
    end = monotonic() + SECONDS
    right = 0

    async def client() -> None:
        nonlocal right
        while monotonic() < end:
            right += await ask(server.address, good) == RIGHT
            await asyncio.sleep(PAUSE)

    async def attacker() -> None:
        async with asyncio.TaskGroup() as sent:
            while rate and monotonic() < end:
                sent.create_task(ask(server.address, KILLER, stays=1.0))
                await asyncio.sleep(1 / rate)

    async with asyncio.TaskGroup() as group:
        group.create_task(attacker())
        for _ in range(CLIENTS):
            group.create_task(client())
    return right


if __name__ == "__main__":
    main()
