"""Which reply is right: settled before the first trial, by what the application answers."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPException
from typing import Protocol

from lab.bench import profiles
from lab.bench.machine import temporary
from lab.bench.servers.readiness import describe, satisfies
from lab.bench.workloads.varying import expectation
from lab.errors import OtherReplyError, ServerStartError
from lab.model.plan import Arm, Plan
from lab.model.profile import Profile
from lab.model.protocols import Endpoint, Runner, RunningServer
from lab.model.request import Request
from lab.model.workload import Workload

CAPTURE_TIMEOUT = 10.0
"""Seconds for a reply that is to become the expected one."""

SERVERS, REPLIES = 2, 2
"""How many servers are asked, one after the other, and how often each: a page may differ from
request to request (a token, a clock), or from server to server."""


class TriedOut(enum.Enum):
    """Which profiles have to give the right reply before the first trial."""

    THEIRS = enum.auto()
    """The user's own: they may serve something else than is asked for."""
    ALL = enum.auto()
    """Ours, too: they serve different applications."""
    FIRST = enum.auto()
    """The first alone: the others are that one with other settings."""


class Fetch(Protocol):
    """Asks once: see `lab.bench.servers.fetch.fetch`."""

    def __call__(
        self, endpoint: Endpoint, request: Request, timeout: float, *, host: str
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and body."""


def capture(workload: Workload, among: Sequence[Profile], server: Runner, fetch: Fetch) -> Workload:
    """
    Return *workload* with its first replies as what is required from now on.

    An echo's is known. Where a pattern says what is required, a server is started once to see that
    its reply has it. Else the first profile that serves the application is asked, `REPLIES` times
    on each of `SERVERS` servers: what varies in the replies is not required, the rest is.

    Raises:
        ServerStartError: The application does not run, or answers with another status or without
            the pattern.
        UsageError: Its replies have too little in common.
    """
    profile = next((profile for profile in among if profile.reply is None), None)
    unsettled = [ask for ask in workload.asks if ask.expect.body is None]
    if not workload.wire.manner.http or profile is None or not unsettled:
        return workload
    if all(request.expect.pattern is not None for request in unsettled):
        try_out(profile, workload, server, fetch)
        return workload
    bodies: dict[Request, list[bytes]] = {ask: [] for ask in workload.asks}
    for _ in range(SERVERS):
        with _started(profile, workload, server) as running:
            for _ in range(REPLIES):
                for request, seen in bodies.items():
                    seen.append(_answer(profile, running, workload.host, request, fetch))
    return settled(workload, bodies)


def settled(workload: Workload, bodies: Mapping[Request, Sequence[bytes]]) -> Workload:
    """
    Return *workload* with what is required of the replies to each of its requests.

    Raises:
        UsageError: Those to one of them have too little in common.
    """
    asks = tuple(
        ask
        if ask.expect.body is not None or ask.expect.pattern is not None
        else replace(ask, expect=expectation(str(ask), ask.expect, bodies[ask]))
        for ask in workload.asks
    )
    return replace(workload, expect=asks[0].expect, requests=asks if workload.requests else ())


def requiring(workload: Workload, known: Workload) -> Workload:
    """Return *workload* with the replies that are right by *known*."""
    return replace(workload, expect=known.expect, requests=known.requests)


def try_out(profile: Profile, workload: Workload, server: Runner, fetch: Fetch) -> None:
    """
    Start the server of *profile* once, and stop it when it has given the right replies.

    Raises:
        ServerStartError: It did not give them.
    """
    with _started(profile, workload, server) as running:
        for ask in workload.asks[1:]:  # it is ready when it has given the first
            _answer(profile, running, workload.host, ask, fetch)


@contextmanager
def _started(profile: Profile, workload: Workload, server: Runner) -> Iterator[RunningServer]:
    with (
        temporary.folder() as folder,
        server.start(profile, workload, folder, None) as running,
    ):
        yield running


def _answer(
    profile: Profile, running: RunningServer, host: str, request: Request, fetch: Fetch
) -> bytes:
    """Return the body of a reply that is right as far as is known."""
    try:
        status, _, body = fetch(running.endpoint, request, CAPTURE_TIMEOUT, host=host)
    except (OSError, HTTPException) as error:
        problem = f"it runs, and gives no whole reply to {request}: {error}"
        raise ServerStartError(profile.name, problem, running.log_tail()) from error
    if satisfies(request.expect, status, body):
        return body
    kind = OtherReplyError if status < 500 else ServerStartError
    problem = f"it answers {describe(request, host, status, body)}"
    raise kind(profile.name, problem, running.log_tail(), explained=status < 500)


def with_replies(plan: Plan, trying: TriedOut, server: Runner, fetch: Fetch) -> Plan:
    """
    Return *plan* with the reply that every arm has to give from now on.

    A profile of the user's own is tried, because it may serve something else than is asked for:
    that ends the run before its first trial, and not each of its trials. One that does not start is
    for its trials to say, beside which the others are measured; of two versions there is no other.

    Raises:
        OtherReplyError: A profile of the user's own answers something else.
        ServerStartError: The first profile does not give the reply that is to be required, or
            where all are tried, another one.
    """
    workloads = {
        arm.workload.name: arm.workload for arm in reversed(plan.arms) if arm.profile.reply is None
    }
    of = {
        name: [arm.profile for arm in plan.arms if arm.workload.name == name] for name in workloads
    }
    known = {
        name: capture(workload, of[name], server, fetch) for name, workload in workloads.items()
    }
    arms = tuple(
        arm
        if arm.profile.reply is not None
        else replace(arm, workload=requiring(arm.workload, known[arm.workload.name]))
        for arm in plan.arms
    )
    for arm in {arm.profile.name: arm for arm in arms if arm.profile.reply is None}.values():
        if _is_tried(arm, plan, trying):
            try:
                try_out(arm.profile, arm.workload, server, fetch)
            except OtherReplyError:
                raise
            except ServerStartError:
                if trying is TriedOut.ALL:
                    raise
    return replace(plan, arms=arms)


def _is_tried(arm: Arm, plan: Plan, trying: TriedOut) -> bool:
    if trying is TriedOut.FIRST:
        return arm.name == plan.arms[0].name
    return trying is TriedOut.ALL or not profiles.is_ours(arm.profile.path)
