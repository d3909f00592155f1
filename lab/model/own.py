"""What a user says of an application of their own: where it runs, and what is asked of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OWN = "own"
"""The interface of a configuration of the user's: it serves the application that it names."""

LEAST_SECRET = 6
"""Characters of a value that may be a secret."""


class _Values:
    """Holds what is no field of `Variables`, so that nothing that writes fields can write it."""

    __slots__ = ("_values",)


@dataclass(frozen=True, slots=True)
class Variables(_Values):
    """Variables of a user. Their values are secrets: no file and no message has them."""

    names: tuple[str, ...] = ()
    """Sorted."""

    digest: str = ""
    """Salted hash of names and values, the same for the same on one machine; empty without any."""

    @classmethod
    def of(cls, values: Mapping[str, str], digest: str) -> Variables:
        """Return *values* as variables, with their *digest*."""
        made = cls(tuple(sorted(values)), digest)
        object.__setattr__(made, "_values", dict(values))
        return made

    def reveal(self) -> Mapping[str, str]:
        """Return name -> value, for the server's environment; none of a run that was read back."""
        values: Mapping[str, str] = getattr(self, "_values", {})
        return values

    def hide(self, text: str) -> str:
        """
        Return *text* with `$(NAME)` in place of each value that may be a secret.

        That is none of fewer than six characters, no number and no path: such a value is found in
        texts that have nothing to do with it.
        """
        secrets = {
            value: name
            for name, value in self.reveal().items()
            if len(value) >= LEAST_SECRET and not re.fullmatch(r"[\d.]+|/.*", value, re.DOTALL)
        }
        for value in sorted(secrets, key=len, reverse=True):
            text = text.replace(value, f"$({secrets[value]})")
        return text


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a server of the user's application is started with. Empty: this project's own."""

    python: Path | None = None
    """A virtual environment's folder, or None for the one that the lab runs in."""

    uwsgi: Path | None = None
    """The uwsgi that serves it; None for the environment's, and where that has none, for ours."""

    cwd: Path | None = None
    """Folder that servers are started in; None for the configuration's own folder."""

    variables: Variables = Variables()
    """Environment variables, beside those of the caller."""

    keep: frozenset[str] = frozenset()
    """Options that stay in the private copy of a configuration although they reach beyond it."""

    pinned: bool = True
    """Whether servers are given CPUs; then no configuration chooses them."""

    front_http: bool = False
    """Whether profiles of ours are asked over HTTP even where a proxy asks the user's own."""


OURS = Runtime()
"""This project's own: the lab's environment, and the caller's variables."""


@dataclass(frozen=True, slots=True)
class Altered:
    """An option of a user's configuration that its private copy has otherwise, or not at all."""

    option: str
    value: str
    became: str | None
    """What stands there instead, for people; None where it is left out."""
    why: str = ""
    """Why it is left out, or added."""

    def __str__(self) -> str:
        """Say what became of it."""
        if self.became and self.why:
            return f"{self.option} = {self.became} ({self.why})"
        said = f" -> {self.became}" if self.became else f" ({self.why})"
        return f"{self.option} = {self.value}{said}"


def without_values(words: Sequence[str]) -> tuple[str, ...]:
    """
    Return a command with the names alone of the variables that it gives by `--env`.

    >>> without_values(("lab", "run", "--env", "A=1", "--env=B=2", "--env=C", "x=y"))
    ('lab', 'run', '--env', 'A', '--env=B', '--env=C', 'x=y')
    """
    said = []
    for before, word in zip(("", *words), words, strict=False):
        typed = "--env=" if word.startswith("--env=") else ""
        if typed or before == "--env":
            word = typed + word.removeprefix(typed).partition("=")[0]  # noqa: PLW2901
        said.append(word)
    return tuple(said)


@dataclass(frozen=True, slots=True)
class Request:
    """One kind of request among those that a workload makes."""

    path: str
    """Request target, beginning with a slash."""

    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    """Beside Host, Connection and Content-Length, which the lab writes."""

    body: bytes = b""
    weight: int = 1
    """How often it is made, relative to the others."""

    status: int = 200
    pattern: str | None = None
    """Regular expression that is searched in the body of a reply that varies."""
