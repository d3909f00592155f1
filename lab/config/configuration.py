"""A configuration as it was read: what is written, where, and what is known besides."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lab.config import sections
from lab.config.files import LARGEST, UnreadableError, check_size, read_bytes
from lab.config.sections import Line
from lab.config.spot import Setting, Spot
from lab.config.start import StartCommand
from lab.config.uwsgi import OFF
from lab.config.uwsgi.table import NOTHING, OptionTable, atoi
from lab.errors import ProfileError

SOCKETS = {
    "socket": "uwsgi",
    "uwsgi-socket": "uwsgi",
    "suwsgi-socket": "uwsgi",
    "puwsgi-socket": "uwsgi",
    "fastcgi-socket": "fastcgi",
    "fastcgi-nph-socket": "fastcgi",
    "scgi-socket": "scgi",
    "scgi-nph-socket": "scgi",
    "raw-socket": "raw",
    "http-socket": "http",
    "https-socket": "http",
    "http11-socket": "http11",
    "http": "router",
    "https": "router",
    "https2": "router",
    "httprouter": "router",
    "http-to-https": "router",
}
"""
Option that takes an address -> who speaks there.

"router" is uWSGI's HTTP router, a process of its own; workers speak the others themselves.
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known besides the file: what is expected, and what is there. None: not known."""

    connections: int = 64
    """Clients at once."""

    db_connections: int | None = None
    container: bool = False
    """Whether it runs under a cgroup limit, as PID 1."""

    here: bool = False
    """Whether it is this machine that serves it; what is asked of files means nothing else."""

    root: bool | None = None
    """Whether root starts it."""

    somaxconn: int | None = None
    migrates: bool | None = None
    """Whether the kernel moves connections that wait to another socket of the port."""

    version: tuple[int, ...] = (2, 0, 31)
    options: frozenset[str] | None = None
    """What the build's `--help` lists."""

    plugins: frozenset[str] | None = None
    """What is part of the build."""

    python: tuple[int, int] | None = None
    """The uWSGI's own: of the build that is asked, or as the caller says."""

    section: str = ""
    """Of an ini; empty for [uwsgi]."""

    cwd: Path | None = None
    """Folder that it is started in; None for the configuration's own."""

    environ: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that it is started with."""

    overlay: Mapping[Path, str] = field(default_factory=dict)
    """File -> what stands in it instead of what is on the disk."""

    confined: tuple[Path, ...] = ()
    """
    Folders and files, by their real paths, beside which nothing is read, nor what is hidden in
    them; none: whatever is named.

    What a configuration names may be a secret, which its findings would then quote.
    """

    @classmethod
    def of_caller(cls, **expected: Any) -> Known:
        """Return what the caller's environment says, without what uWSGI would act on by itself."""
        acted_on = re.compile("UWSGI_|NOTIFY_SOCKET$")
        environ = {key: value for key, value in os.environ.items() if not acted_on.match(key)}
        return cls(environ=environ, **expected)

    def for_files(self, environ: Mapping[str, str] | None = None, *, trusted: bool) -> Known:
        """
        Return the same for files that are *trusted*, or may be of others.

        Of others the folder that the caller is in is read alone, and no variable is known but
        those in *environ*, which the caller names.
        """
        given = environ or {}
        if trusted:
            return replace(self, environ={**self.environ, **given})
        return replace(self, environ=given, confined=(Path(os.path.realpath(".")),))

    def beside(self, path: Path) -> Known:
        """Return the same for a named file: it is read, and elsewhere all of its folder."""
        if not self.confined:
            return self
        folder = Path(os.path.realpath(path.parent))
        if folder.is_relative_to(os.path.realpath(".")):
            more: tuple[Path, ...] = (folder / path.name,)  # but not what it leads to
        else:
            more = (folder, Path(os.path.realpath(path)).parent)
        return replace(self, confined=(*self.confined, *more))

    def reaches(self, path: Path) -> bool:
        """Return whether a file may be read, wherever its name leads."""
        real = Path(os.path.realpath(path))
        inside = (real.relative_to(path) for path in self.confined if real.is_relative_to(path))
        return not self.confined or any(
            not any(part.startswith(".") for part in path.parts) for path in inside
        )

    def exists(self, path: Path) -> bool:
        """Return whether there is such a file or folder."""
        return path.exists()

    def is_user(self, name: str) -> bool | None:
        """Return whether this machine has a user of that name; None: not known, as in a browser."""
        try:
            from pwd import getpwnam  # noqa: PLC0415 - Unix alone has it
        except ImportError:
            return None
        with suppress(KeyError):
            return bool(getpwnam(name))
        return False

    def is_group(self, name: str) -> bool | None:
        """Return whether this machine has a group of that name; None as of a user."""
        try:
            from grp import getgrnam  # noqa: PLC0415 - Unix alone has it
        except ImportError:
            return None
        with suppress(KeyError):
            return bool(getgrnam(name))
        return False

    def is_file(self, path: Path) -> bool:
        """Return whether there is such a file, and it may be read."""
        return self.reaches(path) and path.is_file()

    def is_folder(self, path: Path) -> bool:
        """Return whether there is such a folder."""
        return path.is_dir()

    def read(self, path: Path) -> str | None:
        """Return a file's text as `text` does; None if it cannot be read."""
        try:
            return self.text(path)
        except UnreadableError:
            return None

    def text(self, path: Path, most: int = LARGEST) -> str:
        """
        Return a file's text, what is no UTF-8 as surrogates.

        Raises:
            UnreadableError: It is larger than *most* bytes, or than `check_size` lets pass; it is
                no regular file, cannot be read, or may not be.
        """
        text = self.overlay.get(path)
        if text is None and not self.reaches(path):
            raise UnreadableError(
                "lies outside of this folder, or is hidden: use --trusted to read it"
            )
        if text is None:
            raw = read_bytes(path, most)
            if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # the mark stays: a rule is about it
                text = "\ufeff" + raw.decode("utf-16", "replace")
            else:
                text = raw.decode("utf-8", "surrogateescape")
        check_size(text, most)
        return text

    def required(self, path: Path) -> str:
        """
        Return a file's text as `text` does.

        Raises:
            ProfileError: It cannot be read; the message says why.
        """
        try:
            return self.text(path)
        except UnreadableError as error:
            raise ProfileError(path, str(error), error.line) from None

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder, sorted; none where it cannot be read."""
        try:
            return sorted(path.name for path in folder.iterdir())
        except OSError:
            return []


@dataclass(frozen=True)
class Config:
    """One configuration with all that it includes."""

    server: str
    """ "uWSGI", "gunicorn" or "granian"."""

    file: Path
    settings: tuple[Setting, ...]
    """In the order in which the server gets them, repeats kept."""

    texts: Mapping[Path, str] = field(default_factory=dict)
    """File -> what stands in it, for each file that was read."""

    known: Known = field(default_factory=Known)
    table: OptionTable = NOTHING
    top: Spot = field(default_factory=lambda: Spot(Path(), 0, 0))
    """Where the section begins, for what is said of an option that is missing."""

    guesses: str = ""
    """Why uWSGI may get something else than *settings*; empty where it does not."""

    unread: tuple[str, ...] = ()
    """Names of what uWSGI reads besides, as it is written there."""

    unread_includes: tuple[str, ...] = ()
    """Files and addresses with options that it includes, and that could not be read."""

    forms: frozenset[Path] = frozenset()
    """Files that are no inis: YAML, JSON, XML, and those of gunicorn's command. Never fixed."""

    variables: frozenset[str] = frozenset()
    """Environment variables that it names."""

    relative: bool = False
    """Whether what it names lies in the folder that it is started in."""

    absent: tuple[tuple[Path, str, Setting | None], ...] = ()
    """Files with the section that is looked for and not there, and the include that asks for it."""

    missing: tuple[tuple[Path, Setting], ...] = ()
    """Files that are not there, each with the include that asks for it."""

    refused: tuple[tuple[Setting, str], ...] = ()
    """Options of a command with which the server does not start, and why."""

    circle: Setting | None = None
    """An include of a file that includes this one."""

    start: StartCommand | None = None
    """The command that was read, in the file that has it; None of a file of the server's."""

    @cached_property
    def _by_name(self) -> dict[str, list[Setting]]:
        found: dict[str, list[Setting]] = {}
        for setting in self.settings:
            found.setdefault(self.table.canonical(setting.option), []).append(setting)
        return found

    @cached_property
    def _lines(self) -> dict[Path, list[str]]:
        return {
            file: [line.removesuffix("\r") for line in text.split("\n")]
            for file, text in self.texts.items()
        }

    @cached_property
    def ini_lines(self) -> tuple[Line, ...]:
        """The lines of all inis that were read, but for empty ones."""
        return tuple(sections.lines(self.texts, self.forms))

    @cached_property
    def section_names(self) -> frozenset[str]:
        """Names of the sections that are read: [uwsgi], or the one asked for."""
        if not self.settings or self.top.file not in self.texts or self.top.file in self.forms:
            return frozenset({"uwsgi"})
        return frozenset({"uwsgi", self.line(self.top).strip(" \t\r")[1:-1]})

    @cached_property
    def option_lines(self) -> tuple[Line, ...]:
        """Those of them that have an option which may be read, each with its condition."""
        return tuple(sections.options(self.ini_lines, self.section_names, self.table))

    @cached_property
    def named(self) -> frozenset[str]:
        """Words by which lines refer to other options: those in %( ), and behind if-opt."""
        inside = (
            re.findall(r"%\(([^)]*)|if-(?:not-)?opt\s*=\s*([\w-]+)", text)
            for text in self.texts.values()
        )
        return frozenset(
            word for found in inside for pair in found for part in pair for word in part.split()
        )

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(setting): number for number, setting in enumerate(self.settings)}

    def all(self, *names: str) -> list[Setting]:
        """Return what sets one of the options, in any of their spellings, in order."""
        wanted = {self.table.canonical(name) for name in names}
        lists = [self._by_name.get(name, []) for name in wanted]
        if len(lists) == 1:
            return lists[0]
        together = [setting for settings in lists for setting in settings]
        return sorted(together, key=lambda each: self._positions[id(each)]) if together else []

    def first(self, *names: str) -> Setting | None:
        """Return the first that sets one of the options; None if nothing does."""
        return next(iter(self.all(*names)), None)

    def last(self, *names: str) -> Setting | None:
        """Return the last that sets one of the options; None if nothing does."""
        return next(reversed(self.all(*names)), None)

    def starting(self, *beginnings: str) -> list[Setting]:
        """Return what sets an option whose name begins so, as it is written, in order."""
        return [setting for setting in self.settings if setting.option.startswith(beginnings)]

    def on(self, name: str) -> bool:
        """Return whether a switch is written, and its last value is no word for no."""
        setting = self.last(name)
        return setting is not None and setting.value.lower() not in OFF

    def number(self, name: str, default: int = 0) -> int:
        """Return the option's last value as uWSGI reads a number there."""
        setting = self.last(name)
        return default if setting is None else atoi(setting.value)

    @cached_property
    def master(self) -> bool:
        """Whether there is a master: one that is switched on, or that another option implies."""
        setting = self.last("master")
        if setting is not None:
            return self.on("master")
        return any(self.table.implies_master(setting.option) for setting in self.settings)

    @property
    def processes(self) -> int:
        """Worker processes."""
        return self.number("processes", 1)

    @property
    def at_once(self) -> int:
        """Requests that each worker process serves at a time."""
        ways = ("threads", "async", "gevent", "asyncio", "ugreen")
        return max(1, *(self.number(name, 1) for name in ways))

    @property
    def cores(self) -> int:
        """Requests that all workers together serve at a time."""
        return self.processes * self.at_once

    def sockets(self, *kinds: str) -> list[Setting]:
        """
        Return what makes a socket of one of the *kinds*, all without any: see `SOCKETS`.

        `protocol` says what is spoken at a plain `socket`.
        """
        protocol = self.last("protocol")
        plain = protocol.value.removesuffix("-nph") if protocol else "uwsgi"
        of = {**SOCKETS, "socket": {"https": "http"}.get(plain, plain)}
        return [
            setting
            for setting in self.settings
            if setting.option in of and (not kinds or of[setting.option] in kinds)
        ]

    def line(self, spot: Spot) -> str:
        """Return the text of a line, without its end."""
        return self._lines[spot.file][spot.line - 1]

    def lines(self) -> Iterator[tuple[Spot, str]]:
        """Yield each line of each file that was read, with where it begins."""
        for file, lines in self._lines.items():
            for number, line in enumerate(lines, start=1):
                yield Spot(file, number, 1), line
