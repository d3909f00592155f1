"""What is asked: an application, the request made of it, and the reply that is right."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.model.request import HOST, Expectation, Request
from lab.model.runtime import OURS, Runtime
from lab.model.uwsgi import passed_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """What follows from a wire."""

    called: str
    """In words, where a report names several."""

    noun: str = "a request"
    """What is sent each time, in words."""

    by: str = ""
    """What is added to a request to say how it is asked; empty where that goes without saying."""

    http: bool = True
    """Whether requests and replies are those of HTTP: with paths, headers, status and body."""

    keeps: bool = True
    """Whether a connection carries more than one request."""

    proxied: bool = False
    """Whether the server is asked as by a proxy, which keeps slow clients to itself."""

    encode: Callable[[bytes], bytes] = bytes
    """Of a request of HTTP: what is sent for it. Raises ValueError where it cannot be."""


class Wire(enum.StrEnum):
    """How a request is sent, and how the end of its reply is told."""

    HTTP = "http"
    ECHO = "echo"
    """As many bytes back as were sent, and the same."""
    UWSGI = "uwsgi"
    """The request as nginx's `uwsgi_pass` sends it; a reply in HTTP, which ends with its
    connection."""

    @property
    def manner(self) -> Manner:
        """What follows from it: who needs to know asks here, and compares no wire with another."""
        return MANNERS[self]


MANNERS = {
    Wire.HTTP: Manner(called="HTTP"),
    Wire.ECHO: Manner(called="echo", noun="an echo", http=False),
    Wire.UWSGI: Manner(
        called="the uwsgi protocol, as nginx's uwsgi_pass asks, one connection per request",
        by="by the uwsgi protocol",
        keeps=False,
        proxied=True,
        encode=passed_on,
    ),
}
"""One for each wire."""


class Transport(enum.StrEnum):
    """What carries the bytes."""

    TCP = "tcp"
    UNIX = "unix"
    """A UNIX socket in the trial's own folder."""


@dataclass(frozen=True, slots=True)
class Workload:
    """An application, the request made of it, and the reply that is correct."""

    name: str
    path: str
    """Request target, beginning with a slash."""

    expect: Expectation
    app: str | None = None
    """Import path "package.module:callable"; None where the profile names the application."""

    chdir: Path | None = None
    """Folder in which the application is imported; None for this project's root."""

    apps: Mapping[str, str] = field(default_factory=dict)
    """Interface -> what a server of that interface serves for it; "" where the server is the
    application itself. Empty where *app* says it, or the profile's own."""

    wire: Wire = Wire.HTTP
    transport: Transport = Transport.TCP
    size: int = 0
    """Echo: bytes of a message."""

    lines: int = 1
    """Echo: lines of *size* bytes that are sent at once, for servers that read by line."""

    backing: tuple[str, ...] = ()
    """Names of the backing services that its application needs."""

    words: tuple[tuple[str, str], ...] = ()
    """What their commands are filled with: (("delay", "50"),)."""

    runtime: Runtime = OURS
    """What a server of the application is started with."""

    beside: Runtime | None = None
    """What all but the user's own inis are started with, where the first of these says it; None
    where that is *runtime*, as in every arm."""

    host: str = HOST
    """Value of the Host header."""

    requests: tuple[Request, ...] = ()
    """What is asked, by weight; empty for GET *path* alone, whose reply is what *expect* says."""

    seed: int = 0
    """Of the order in which several requests are made."""

    work: str | None = None
    """A reading that must be alike, per reply, in all profiles: else they did not do the same
    work."""

    @property
    def asks(self) -> tuple[Request, ...]:
        """What is asked over HTTP, each with the reply that is right."""
        return self.requests or (Request(self.path, expect=self.expect),)

    @property
    def target_text(self) -> str:
        """What is asked, for people: the request's target, or the size of the message."""
        first, *others = map(str, self.asks)
        target = f"{first} and {len(others)} more" if others else first
        manner = self.wire.manner
        if manner.http and not manner.by:
            return target
        carrier = "TCP" if self.transport is Transport.TCP else "a UNIX socket"
        if manner.http:
            return f"{target} {manner.by} over {carrier}"
        lines = f"{self.lines} lines of " if self.lines > 1 else ""
        return f"{lines}{self.size:,} bytes over {carrier}"

    @property
    def family(self) -> str:
        """What its variants have in common: "payload" of "payload-1k"."""
        return self.name.partition("-")[0]

    @property
    def unsized(self) -> str:
        """What its sizes have in common: "echo-unix" of "echo-unix-1k"."""
        return self.name.rpartition("-")[0]
