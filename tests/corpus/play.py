"""
Play the corpus to a server, each request over a connection of its own.

    python -m tests.corpus.play PORT

asks what listens on 127.0.0.1, prints what is not allowed behind nginx, and ends with 1 if anything
is not.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable

from tests.corpus.client import PATIENCE, Outcome, ask
from tests.corpus.corpus import Request, read

AT_ONCE = 64
"""Connections; fewer than the accept queue holds."""


def play(address: tuple[str, int], requests: Iterable[Request]) -> dict[str, Outcome]:
    """Send all requests, and return the outcomes by name."""
    return asyncio.run(_play(address, list(requests)))


async def _play(address: tuple[str, int], requests: list[Request]) -> dict[str, Outcome]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(request: Request) -> Outcome:
        stays = PATIENCE if request.complete else 0.0
        async with gate:
            return await ask(address, request.raw, replies=request.replies, stays=stays)

    outcomes = await asyncio.gather(*map(one, requests))
    return {request.name: outcome for request, outcome in zip(requests, outcomes, strict=True)}


def faults(requests: Iterable[Request], outcomes: dict[str, Outcome]) -> list[str]:
    """Return what is not allowed behind nginx, one sentence each."""
    judged = [(request.name, request.judge(outcomes[request.name])) for request in requests]
    return [f"{name}: {wrong}" for name, wrong in judged if wrong is not None]


def main() -> int:
    """Play to the port of the command line; return the exit status."""
    requests = read()
    wrong = faults(requests, play(("127.0.0.1", int(sys.argv[1])), requests))
    print("\n".join(wrong) or f"{len(requests)} requests, each got what it may get")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
