"""Where an application of the user's own runs, and what must not be told of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.model.request import Unwritten, concealed

OWN = "own"
"""The interface of a configuration of the user's: it serves the application that it names."""

LOOPBACK = "127.0.0.1"
"""Where servers listen unless somebody says."""

OF_UWSGI = "UWSGI_"
"""Begins a variable that uWSGI takes for an option, as UWSGI_PROCESSES for processes."""

HOME = ("home", "virtualenv", "venv", "pyhome")
"""Options of uWSGI that name a virtual environment."""

LEAST_SECRET = 6
"""Characters of a value that may be a secret."""


@dataclass(frozen=True, slots=True)
class Variables(Unwritten):
    """Variables of a user. Their values are secrets: no file and no message has them."""

    names: tuple[str, ...] = ()
    """Sorted."""

    digest: str = ""
    """Salted hash of names and values, the same for the same on one machine; empty without any."""

    @classmethod
    def of(cls, values: Mapping[str, str], digest: str) -> Variables:
        """Return *values* as variables, with their *digest*."""
        made = cls(tuple(sorted(values)), digest)
        made.hold(dict(values))
        return made

    def reveal(self) -> Mapping[str, str]:
        """Return name -> value, for the server's environment; none of a run that was read back."""
        values: Mapping[str, str] = self.held({})
        return values

    @property
    def options(self) -> Mapping[str, str]:
        """Name -> value of those that uWSGI takes for options."""
        return {n: value for n, value in self.reveal().items() if n.startswith(OF_UWSGI)}

    @property
    def others(self) -> Mapping[str, str]:
        """The same of all others: those of a server's environment."""
        return {n: value for n, value in self.reveal().items() if not n.startswith(OF_UWSGI)}

    def hide(self, text: str, *, told: str = "") -> str:
        """
        Return *text* with `$(NAME)` in place of each value that may be a secret.

        That is none of fewer than six characters, no number and no path: such a value is found in
        texts that have nothing to do with it.

        Args:
            text: What is about to be written or printed.
            told: What may be told although it is a value, such as the name of a module.
        """
        secrets = {
            value: name
            for name, value in self.reveal().items()
            if len(value) >= LEAST_SECRET
            and value not in told
            and not name.startswith(OF_UWSGI)  # an option as any other, and stored with them
            and not re.fullmatch(r"[\d.]+|/.*", value, re.DOTALL)
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
    """Options that stay as they are in the private copy of a configuration."""

    drop: frozenset[str] = frozenset()
    """Options that are left out of that copy."""

    chdir: Path | None = None
    """Folder that stands for the `chdir` of a user's ini; None where that says it."""

    pinned: bool = True
    """Whether servers are given CPUs; then no configuration chooses them."""

    front_http: bool = False
    """Whether profiles of ours are asked over HTTP even where a proxy asks the user's own."""

    bind: str = LOOPBACK
    """Address that servers listen on over TCP."""

    def started_in(self, folder: Path | None) -> Runtime:
        """Return what starts in *folder*, unless the user names another."""
        return replace(self, cwd=self.cwd or folder)

    def for_ours(self) -> Runtime:
        """Return what a profile of ours is started with: nothing that is told of a user's ini."""
        given = self.variables
        if given.options:
            given = Variables.of(given.others, given.digest)
        return replace(self, drop=frozenset(), chdir=None, variables=given)


OURS = Runtime()
"""This project's own: the lab's environment, and the caller's variables."""


@dataclass(frozen=True, slots=True)
class Alteration:
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
    Return a command with the names alone of what may be a secret.

    >>> without_values(("lab", "run", "--env", "A=1", "--env=B=2", "--env=C", "x=y"))
    ('lab', 'run', '--env', 'A', '--env=B', '--env=C', 'x=y')
    >>> without_values(("lab", "ab", "--env-old", "A=1", "--env-new=B=2"))
    ('lab', 'ab', '--env-old', 'A', '--env-new=B')
    >>> without_values(("--cookie", "id=3f9c", "--header=Authorization: x", "--header", "A: b"))
    ('--cookie', 'id=...', '--header=Authorization: ...', '--header', 'A: b')
    """
    said = []
    for before, word in zip(("", *words), words, strict=False):
        option, stands, value = word.partition("=")
        if stands and (hide := _hiding(option)):
            word = f"{option}={hide(value)}"  # noqa: PLW2901
        elif hide := _hiding(before):
            word = hide(word)  # noqa: PLW2901
        said.append(word)
    return tuple(said)


def without_secrets(command: str) -> str:
    """
    Return a command of a shell with the names alone of variables, and no password of an address.

    >>> without_secrets("DB_URL=postgres://u:pw@h/db ./migrate --index https://u:pw@h/")
    'DB_URL=... ./migrate --index https://...@h/'
    """
    named = re.sub(r"\b([A-Z_][A-Z0-9_]*)=(?:\"[^\"]*\"|'[^']*'|\S+)", r"\1=...", command)
    return re.sub(r"://[^/\s@]+@", "://...@", named)


def _hiding(word: str) -> Callable[[str], str] | None:
    """Return how the value of an option is told, which argparse takes by its first letters, too."""
    if len(word) < len("--env"):
        return None
    return next((_TOLD[each] for each in _TOLD if each.startswith(word)), None)


def _header(said: str) -> str:
    name, _, value = said.partition(":")
    return f"{name}: {concealed(name, value)}" if concealed(name, value) != value else said


def _name(said: str) -> str:
    return said.partition("=")[0]


_TOLD: Mapping[str, Callable[[str], str]] = {
    "--env": _name,
    "--env-old": _name,
    "--env-new": _name,
    "--cookie": lambda said: concealed("Cookie", said),
    "--header": _header,
    "--setup": without_secrets,
    "--install": without_secrets,
}
