"""The environment of a user's application, and the secrets in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.model.request import Unwritten, concealed

OWN = "own"
"""The interface of a user's configuration, which serves the application that it names."""

LOOPBACK = "127.0.0.1"
"""The address on which servers listen by default."""

OF_UWSGI = "UWSGI_"
"""Beginning of variables that uWSGI reads as options: UWSGI_PROCESSES sets processes."""

HOME = ("home", "virtualenv", "venv", "pyhome")
"""Options of uWSGI that name a virtual environment."""

LEAST_SECRET = 6
"""Least length of a value that may be a secret, in characters."""


@dataclass(frozen=True, slots=True)
class Variables(Unwritten):
    """The user's environment variables. Values are secrets: no file or message contains them."""

    names: tuple[str, ...] = ()
    """Sorted."""

    digest: str = ""
    """Salted hash of names and values: equal variables on one machine have equal digests."""

    @classmethod
    def of(cls, values: Mapping[str, str], digest: str) -> Variables:
        """Return *values* as variables, with their *digest*."""
        made = cls(tuple(sorted(values)), digest)
        made.hold(dict(values))
        return made

    def reveal(self) -> Mapping[str, str]:
        """Return name -> value, for the environment of a server; empty in a stored run."""
        values: Mapping[str, str] = self.held({})
        return values

    @property
    def options(self) -> Mapping[str, str]:
        """Name -> value of the variables that uWSGI reads as options."""
        return {n: value for n, value in self.reveal().items() if n.startswith(OF_UWSGI)}

    @property
    def others(self) -> Mapping[str, str]:
        """Name -> value of all other variables."""
        return {n: value for n, value in self.reveal().items() if not n.startswith(OF_UWSGI)}

    def hide(self, text: str, *, allowed: str = "") -> str:
        """
        Return *text* with `$(NAME)` in place of each value that may be a secret.

        Values of fewer than six characters, numbers and paths stay: they also occur in texts that
        have nothing to do with the variable.

        Args:
            text: A text that is about to be written or printed.
            allowed: A text whose parts are not hidden, such as the name of a module.
        """
        secrets = {
            value: name
            for name, value in self.reveal().items()
            if len(value) >= LEAST_SECRET
            and value not in allowed
            and not name.startswith(OF_UWSGI)  # options are stored in any case
            and not re.fullmatch(r"[\d.]+|/.*", value, re.DOTALL)
        }
        for value in sorted(secrets, key=len, reverse=True):
            text = text.replace(value, f"$({secrets[value]})")
        return text


@dataclass(frozen=True, slots=True)
class Runtime:
    """How servers of the user's application are started. The default is for our application."""

    python: Path | None = None
    """Folder of a virtual environment; None: the one in which the lab runs."""

    uwsgi: Path | None = None
    """The uwsgi program; None: that of the virtual environment, or else ours."""

    cwd: Path | None = None
    """Folder to start servers in; None: the folder of the configuration."""

    variables: Variables = Variables()
    """Environment variables, besides those of the caller."""

    keep: frozenset[str] = frozenset()
    """Options that stay unchanged in the private copy of a configuration."""

    drop: frozenset[str] = frozenset()
    """Options that the private copy leaves out."""

    chdir: Path | None = None
    """Folder that replaces the `chdir` of a user's ini; None: unchanged."""

    pinned: bool = True
    """Whether the lab assigns CPUs to servers; options that do so are then left out."""

    front_http: bool = False
    """Whether our profiles get HTTP requests even if the user's are behind a proxy."""

    bind: str = LOOPBACK
    """Address on which servers listen over TCP."""

    def started_in(self, folder: Path | None) -> Runtime:
        """Return the runtime with *folder* as `cwd`, unless the user has set that."""
        return replace(self, cwd=self.cwd or folder)

    def for_ours(self) -> Runtime:
        """Return the runtime for our profiles, without what applies to the user's ini only."""
        given = self.variables
        if given.options:
            given = Variables.of(given.others, given.digest)
        return replace(self, drop=frozenset(), chdir=None, variables=given)


OURS = Runtime()
"""The runtime of our application: the lab's environment, and the caller's variables."""


@dataclass(frozen=True, slots=True)
class Alteration:
    """An option of a user's configuration that its private copy changes or leaves out."""

    option: str
    value: str
    became: str | None
    """The new value, for people; None: the option is left out."""
    why: str = ""
    """Why the option is left out or added."""

    def __str__(self) -> str:
        if self.became and self.why:
            return f"{self.option} = {self.became} ({self.why})"
        change = f" -> {self.became}" if self.became else f" ({self.why})"
        return f"{self.option} = {self.value}{change}"


def without_values(words: Sequence[str]) -> tuple[str, ...]:
    """
    Return a command without the values of variables, cookies and secret headers.

    >>> without_values(("lab", "run", "--env", "A=1", "--env=B=2", "--env=C", "x=y"))
    ('lab', 'run', '--env', 'A', '--env=B', '--env=C', 'x=y')
    >>> without_values(("lab", "ab", "--env-old", "A=1", "--env-new=B=2"))
    ('lab', 'ab', '--env-old', 'A', '--env-new=B')
    >>> without_values(("--cookie", "id=3f9c", "--header=Authorization: x", "--header", "A: b"))
    ('--cookie', 'id=...', '--header=Authorization: ...', '--header', 'A: b')
    """
    safe_words = []
    for before, word in zip(("", *words), words, strict=False):
        option, equals, value = word.partition("=")
        if equals and (mask := _mask_of(option)):
            safe_words.append(f"{option}={mask(value)}")
        elif mask := _mask_of(before):
            safe_words.append(mask(word))
        else:
            safe_words.append(word)
    return tuple(safe_words)


def without_secrets(command: str) -> str:
    """
    Return a shell command without the values of variables and the passwords in URLs.

    >>> without_secrets("DB_URL=postgres://u:pw@h/db ./migrate --index https://u:pw@h/")
    'DB_URL=... ./migrate --index https://...@h/'
    """
    named = re.sub(r"\b([A-Z_][A-Z0-9_]*)=(?:\"[^\"]*\"|'[^']*'|\S+)", r"\1=...", command)
    return re.sub(r"://[^/\s@]+@", "://...@", named)


def _mask_of(word: str) -> Callable[[str], str] | None:
    """Return what masks the value of an option, which argparse also takes abbreviated."""
    if len(word) < len("--env"):
        return None
    return next((mask for option, mask in _MASKS.items() if option.startswith(word)), None)


def _mask_header(header: str) -> str:
    name, _, value = header.partition(":")
    return f"{name}: {concealed(name, value)}" if concealed(name, value) != value else header


def _mask_variable(variable: str) -> str:
    return variable.partition("=")[0]


_MASKS: Mapping[str, Callable[[str], str]] = {
    "--env": _mask_variable,
    "--env-old": _mask_variable,
    "--env-new": _mask_variable,
    "--cookie": lambda cookie: concealed("Cookie", cookie),
    "--header": _mask_header,
    "--setup": without_secrets,
    "--install": without_secrets,
}
