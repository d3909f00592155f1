"""What is asked of an application, the bytes that are sent for it, and which reply is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

LONGEST_BODY = 64 << 20
"""
Bytes of a reply's body from which the lab gives it up, whatever it would have become.

An honest one is far from it: of a whole web page with its pictures and scripts, 2 to 3 MB, it is
twenty times as much, and the longest answer of this project's service has less than 1 MB. A server
that floods sends it over loopback in a tenth of a second, before a machine runs short of memory.
"""

AT_ONCE = 16384
"""Bytes that the smallest default send buffer takes at once: a request's head has no more."""

LONGEST_DATA = 1 << 20
"""Bytes of a request's body at most."""

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, 9.2.1), so that they may be sent thousands of times."""

WITH_LENGTH = frozenset({"POST", "PUT", "PATCH"})
"""Methods whose length is told even of no body (RFC 9110, 8.6)."""

HOST = "localhost"
"""What is asked for in all trials where nobody says otherwise: pages hold the host that was asked
for, so that a port in it, another one in each trial, would make them differ."""

_TELLING = (
    r"[\w.-]{0,40}(token|secret|passw|credential|session|signature|jwt|(api|access|auth|private"
    r"|subscription)[_-]?key)[\w.-]{0,40}"
)
SECRET = re.compile(rf"(proxy-)?authorization|cookie|x-auth|{_TELLING}", re.IGNORECASE)
"""Headers whose values are printed and stored nowhere: those of HTTP itself, and by their name."""

_TOLD = re.compile(rf"(?<![\w.-])({_TELLING}|sig)[\"']?\s*[=:]\s*[\"']?[^\s&\"']", re.IGNORECASE)
# In a query, a form or JSON, a name with a value.

WITHHELD = "..."
"""What stands in the place of a secret."""

_OURS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "expect", "upgrade"}
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a correct reply is. With neither body nor pattern, the first reply defines it."""

    status: int = 200
    body: bytes | None = None
    """Exact body of every reply."""

    pattern: str | None = None
    """Regular expression that is searched in the body, for an application whose reply varies."""

    varies: str = ""
    """How its first replies differed, in a sentence, where the pattern was made of them."""


def concealed(name: str, value: str) -> str:
    """
    Return the value of the header *name* as it may be told: of a secret one its names at the most.

    >>> concealed("Cookie", "id=3f9c; theme=dark"), concealed("authorization", "Basic x")
    ('id=...; theme=...', '...')
    """
    if name.lower() == "cookie":
        parts = (part.strip().partition("=") for part in value.split(";"))
        return "; ".join(f"{key}={WITHHELD}" if stands else WITHHELD for key, stands, _ in parts)
    return WITHHELD if SECRET.fullmatch(name) else value


class Unwritten:
    """Holds what is no field of its class, so that nothing that writes fields can write it."""

    __slots__ = ("_held",)

    def hold(self, held: object) -> None:
        """Keep *held*, once, of an object that is made and does not change."""
        object.__setattr__(self, "_held", held)

    def held(self, otherwise: Any) -> Any:
        """Return what was kept; *otherwise* of one that was read back."""
        return getattr(self, "_held", otherwise)


@dataclass(frozen=True, slots=True)
class Headers(Unwritten):
    """Headers of a request, in their order, whose secrets no file and no message has."""

    shown: tuple[tuple[str, str], ...] = ()
    """Names and values, each as `concealed` tells it."""

    digest: str = ""
    """Salted hash of the secrets, the same for the same on one machine; empty without any."""

    @classmethod
    def of(cls, headers: Iterable[tuple[str, str]], digest: Callable[[str], str]) -> Headers:
        """Return headers as they are sent; *digest* hashes what is secret of them."""
        headers = tuple(headers)
        shown = tuple((name, concealed(name, value)) for name, value in headers)
        secret = "\n".join(
            f"{name.lower()}: {value}" for name, value in headers if SECRET.fullmatch(name)
        )
        made = cls(shown, digest(secret) if secret else "")
        made.hold(headers)
        return made

    def reveal(self) -> tuple[tuple[str, str], ...]:
        """Return them as they are sent; of a run that was read back as they are shown."""
        headers: tuple[tuple[str, str], ...] = self.held(self.shown)
        return headers


@dataclass(frozen=True, slots=True)
class Request:
    """One kind of request among those that a workload makes."""

    path: str
    """Request target, beginning with a slash."""

    method: str = "GET"
    headers: Headers = Headers()
    """Beside Host, Connection and Content-Length, which the lab writes."""

    body: bytes = b""
    weight: int = 1
    """How often it is made, relative to the others."""

    expect: Expectation = Expectation()

    def __str__(self) -> str:
        """
        Return what it is called.

        >>> print(Request("/"), Request("/cart", "POST"), sep=", ")
        /, POST /cart
        """
        return self.path if self.method == "GET" else f"{self.method} {self.path}"

    @property
    def telling(self) -> tuple[str, ...]:
        """
        Names in its query and its body whose values may be secrets, and are stored.

        >>> Request("/a?page=2&access_token=3f9c", "POST", body=b'{"password": "x"}').telling
        ('access_token', 'password')
        """
        text = f"{self.path.partition('?')[2]} {self.body.decode(errors='replace')}"
        return tuple(dict.fromkeys(match[1] for match in _TOLD.finditer(text)))

    @property
    def bodiless(self) -> bool:
        """Whether a reply ends with its head, whatever length that tells."""
        return self.method == "HEAD"

    def revealed(self) -> Request:
        """Return it with its secrets as fields, for a generator that has to send them."""
        return replace(self, headers=Headers(self.headers.reveal()))

    def encode(self, host: str = HOST, *, keepalive: bool = True) -> bytes:
        """
        Return its bytes in HTTP/1.1.

        Args:
            host: Value of the Host header.
            keepalive: Without it the request asks the server to close the connection.

        Raises:
            ValueError: A part of it cannot be sent as it is, or is too long.
        """
        self._check(host)
        headers = self.headers.reveal()
        names = {name.lower() for name, _ in headers}
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {host}"]
        lines += () if "accept" in names else ("Accept: */*",)
        lines += (f"{name}: {value}" for name, value in headers)
        if self.body or self.method in WITH_LENGTH:
            lines.append(f"Content-Length: {len(self.body)}")
        lines += () if keepalive else ("Connection: close",)
        head = "".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1")
        if len(head) > AT_ONCE:
            raise ValueError(f"a head of {len(head)} bytes; at most {AT_ONCE} can be sent")
        return head + self.body

    def _check(self, host: str) -> None:
        if not re.fullmatch("[A-Z]+", self.method) or self.method == "CONNECT":
            raise ValueError(f"{self.method[:80]!r} is no method that can be sent, such as POST")
        if not self.path.startswith("/"):
            raise ValueError(f"{self.path[:80]!r} is no request target: that begins with /")
        for text in (self.path, host):
            if not text or not text.isascii() or not text.isprintable() or " " in text:
                raise ValueError(f"{text[:80]!r} must be percent-encoded to be sent")
        for name, value in self.headers.reveal():
            if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
                raise ValueError(
                    f"the header {name[:80]!r} cannot be sent: a character is not allowed"
                )
            if name.lower() in _OURS:
                raise ValueError(f"the header {name} is written by the lab; leave it out")
        if len(self.body) > LONGEST_DATA:
            raise ValueError(
                f"a body of {len(self.body):,} bytes; at most {LONGEST_DATA:,} are sent"
            )


def labels(requests: Iterable[Request]) -> list[str]:
    """
    Return what each of several requests is called: no two the same.

    >>> labels([Request("/"), Request("/a", "POST", body=b"1"), Request("/a", "POST", body=b"2")])
    ['/', 'POST /a', 'POST /a (2)']
    """
    seen: Counter[str] = Counter()
    unique_names = []
    for name in map(str, requests):
        seen[name] += 1
        unique_names.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return unique_names
