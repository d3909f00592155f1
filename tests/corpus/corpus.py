"""The requests of requests.toml, and what may be answered to each."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.bench.workloads import fibonacci_body
from tests.corpus.client import Outcome

PATH = Path(__file__).with_name("requests.toml")

REST = "Host: fib\r\nConnection: close\r\n\r\n"

WRONG_BODY = "wrong body"

_REPEATED = re.compile(r"\{([^{}]+)\*([0-9]+)\}")


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as its table in requests.toml says."""

    name: str
    group: str
    raw: bytes
    allowed: frozenset[str]
    elsewhere: frozenset[str]
    """Outcomes that are right, too, where nginx is not in front."""
    why: str
    complete: bool
    numbers: tuple[int, ...]
    """Whose sequences are the bodies of the replies with status 200, in their order."""

    @property
    def replies(self) -> int:
        """How many replies are waited for."""
        return max(len(outcome.split()) for outcome in self.allowed)

    def judge(self, outcome: Outcome, *, front: bool = True) -> str | None:
        """Say what is wrong with *outcome*, nginx in front or not; None where it is allowed."""
        allowed = self.allowed if front else self.allowed | self.elsewhere
        if outcome.word not in allowed:
            line = f" {outcome.said!r}" if outcome.said else ""
            return f"{outcome.word}{line}, allowed: {', '.join(sorted(allowed))}"
        statuses = outcome.word.replace("http09", "200").split()
        pairs = zip(statuses, outcome.bodies, strict=False)
        bodies = [body for status, body in pairs if status == "200"]
        if self.numbers and not self.raw.startswith(b"HEAD "):
            for number, body in zip(self.numbers, bodies, strict=False):
                if body != fibonacci_body(number):
                    return f"{WRONG_BODY}, not the sequence up to {number}: {body[:80]!r}"
        return None


def expand(text: str) -> bytes:
    """
    Return the bytes that *text* stands for.

    >>> expand("GET /{9*3} {HTTP}")
    b'GET /999 {HTTP}'
    """
    text = text.replace("{rest}", REST)
    return _REPEATED.sub(lambda match: match[1] * int(match[2]), text).encode("latin-1")


def read(path: Path = PATH) -> tuple[Request, ...]:
    """Read all requests, in the order of the file."""
    groups: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        _request(name, group, table)
        for group, tables in groups.items()
        for name, table in tables.items()
    )


def _request(name: str, group: str, table: dict[str, Any]) -> Request:
    numbers = table.pop("numbers", ())
    request = Request(
        name=name,
        group=group,
        raw=expand(table.pop("send")),
        allowed=frozenset(str(outcome) for outcome in table.pop("allowed")),
        elsewhere=frozenset(str(outcome) for outcome in table.pop("elsewhere", ())),
        why=table.pop("why"),
        complete=table.pop("complete", True),
        numbers=tuple(int(number) for number in numbers),
    )
    if table:
        raise ValueError(f"{PATH.name}: [{group}.{name!r}] has {', '.join(table)}: no such key")
    return request
