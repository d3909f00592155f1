"""`Config`, a configuration as it was read, and `Known`, what is known about its environment."""

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
from lab.config.files import (
    LARGEST,
    UnreadableError,
    check_size,
    is_file,
    is_folder,
    read_bytes,
    real_path,
)
from lab.config.sections import Line
from lab.config.spot import Setting, Spot
from lab.config.start import StartCommand, Surroundings
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
Option that takes an address -> protocol, or "router".

"router" is uWSGI's HTTP router, a process of its own; workers speak the others themselves.
"""


def somaxconn() -> int | None:
    """Return the longest accept queue that this kernel allows; None: unknown."""
    try:
        return int(Path("/proc/sys/net/core/somaxconn").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about the environment of a configuration. None: unknown."""

    connections: int = 64
    """Expected number of concurrent clients."""

    db_connections: int | None = None
    container: bool = False
    """Whether the server runs in a container, as PID 1 under a cgroup limit."""

    here: bool = False
    """Whether this machine serves it, so that it can be asked about files and users."""

    pasted: bool = False
    """Whether the text is all that there is, as in a browser: no other file can be looked for."""

    lenient: bool = False
    """Whether a start command may name a file that is not here: what that sets is unknown."""

    cpus: int | None = None
    """CPUs of the machine that serves; None: those of this machine."""

    root: bool | None = None
    """Whether root starts the server."""

    somaxconn: int | None = None
    migrates: bool | None = None
    """Whether the kernel moves waiting connections to another socket of the port."""

    version: tuple[int, ...] = (2, 0, 31)
    targets: Mapping[str, str] = field(default_factory=dict)
    """Program -> the version of it that serves; a program that is not there: unknown."""

    options: frozenset[str] | None = None
    """Options in the `--help` of the build."""

    plugins: frozenset[str] | None = None
    """Plug-ins that are compiled into the build."""

    python: tuple[int, int] | None = None
    """Version of the Python in uWSGI."""

    section: str = ""
    """Section of the ini to read; empty for [uwsgi]."""

    cwd: Path | None = None
    """Folder in which the server is started; None: that of the configuration."""

    environ: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the server."""

    surroundings: Surroundings = field(default_factory=Surroundings)
    """What the file that starts the server says of its process."""

    overlay: Mapping[Path, str] = field(default_factory=dict)
    """File -> text to read instead of the content on disk."""

    confined: tuple[Path, ...] = ()
    """
    Real paths of the folders and files that may be read, without hidden ones; empty: all.

    A file that a configuration names may contain secrets, which findings would quote.
    """

    @classmethod
    def of_caller(cls, **expected: Any) -> Known:
        """Return what is known from the caller's environment, without variables of uWSGI itself."""
        acted_on = re.compile("UWSGI_|NOTIFY_SOCKET$")
        environ = {key: value for key, value in os.environ.items() if not acted_on.match(key)}
        return cls(environ=environ, **expected)

    def for_files(self, environ: Mapping[str, str] | None = None, *, trusted: bool) -> Known:
        """
        Return the knowledge for files that are *trusted*, or may be from strangers.

        For files from strangers, only files below the current folder are read, and only the
        variables in *environ* are known.
        """
        given = environ or {}
        if trusted:
            return replace(self, environ={**self.environ, **given})
        return replace(self, environ=given, confined=(real_path(Path()),))

    def beside(self, path: Path) -> Known:
        """Return the knowledge for a file that the user names, which may then be read."""
        if not self.confined:
            return self
        folder = real_path(path.parent)
        if folder.is_relative_to(real_path(Path())):
            more: tuple[Path, ...] = (folder / path.name,)  # but not the target of a link
        else:
            more = (folder, real_path(path).parent)
        return replace(self, confined=(*self.confined, *more))

    def reaches(self, path: Path) -> bool:
        """Return whether a file may be read, after links are resolved."""
        real = real_path(path)
        inside = (real.relative_to(path) for path in self.confined if real.is_relative_to(path))
        return not self.confined or any(
            not any(part.startswith(".") for part in path.parts) for path in inside
        )

    def named(self, name: str) -> Path:
        """Return the path of a file that a command names; of one in an image, what is copied."""
        copied = (path for path in self.surroundings.copied(name) if self.is_file(path))
        return next(copied, (self.cwd or Path()) / name)

    def exists(self, path: Path) -> bool:
        """Return whether there is such a file or folder."""
        return os.path.exists(path)  # noqa: PTH110 - as of `is_file`

    def is_user(self, name: str) -> bool | None:
        """Return whether this machine has a user of that name; None: unknown, as in a browser."""
        try:
            from pwd import getpwnam  # noqa: PLC0415 - Unix alone has it
        except ImportError:
            return None
        with suppress(KeyError):
            return bool(getpwnam(name))
        return False

    def is_group(self, name: str) -> bool | None:
        """Return whether this machine has a group of that name; None: unknown."""
        try:
            from grp import getgrnam  # noqa: PLC0415 - Unix alone has it
        except ImportError:
            return None
        with suppress(KeyError):
            return bool(getgrnam(name))
        return False

    def is_file(self, path: Path) -> bool:
        """Return whether there is such a file, and it may be read."""
        return self.reaches(path) and is_file(path)

    def lacks(self, name: str) -> bool:
        """Return whether a command names a file that is not here, and need not be: `lenient`."""
        path = self.named(name)
        return self.lenient and ("$" in name or not (path in self.overlay or self.is_file(path)))

    def is_folder(self, path: Path) -> bool:
        """Return whether there is such a folder."""
        return is_folder(path)

    def read(self, path: Path) -> str | None:
        """Return a file's text as `text` does; None if it cannot be read."""
        try:
            return self.text(path)
        except UnreadableError:
            return None

    def text(self, path: Path, most: int = LARGEST) -> str:
        """
        Return the text of a file; bytes that are not UTF-8 become surrogates.

        Raises:
            UnreadableError: The file is larger than *most* bytes or the limits of `check_size`, is
                no regular file, cannot be read, or must not be read.
        """
        text = self.overlay.get(path)
        if text is None and not self.reaches(path):
            if self.surroundings.container and path.is_absolute():
                where = "no COPY and no volume shows which file here it is"
                raise UnreadableError(f"is a file of the container, and {where}: name that file")
            raise UnreadableError(
                "lies outside of this folder, or is hidden: use --trusted to read it"
            )
        if text is None:
            raw = read_bytes(path, most)
            if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # keep the mark: a rule reports it
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
        """Return the sorted names in a folder; empty if it cannot be read."""
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
    """Settings in the order in which the server gets them, with repeats."""

    texts: Mapping[Path, str] = field(default_factory=dict)
    """File -> text, for each file that was read."""

    known: Known = field(default_factory=Known)
    table: OptionTable = NOTHING
    top: Spot = field(default_factory=lambda: Spot(Path(), 0, 0))
    """Beginning of the section, the place of findings about missing options."""

    guesses: str = ""
    """Why uWSGI may get other settings than *settings*; empty if it does not."""

    unread: tuple[str, ...] = ()
    """Names of other sources that uWSGI reads, as they are written."""

    unread_includes: tuple[tuple[str, Setting], ...] = ()
    """Included files and addresses that could not be read, with the option that includes each."""

    forms: frozenset[Path] = frozenset()
    """Files that are not inis, and are never fixed: YAML, JSON, XML, commands of gunicorn."""

    variables: frozenset[str] = frozenset()
    """Names of the environment variables in it."""

    relative: bool = False
    """Whether it has paths that are relative to the folder in which the server is started."""

    absent: tuple[tuple[Path, str, Setting | None], ...] = ()
    """Files, the section that they lack, and the include that asks for it."""

    missing: tuple[tuple[Path, Setting], ...] = ()
    """Files that do not exist, with the include that asks for them."""

    refused: tuple[tuple[Setting, str], ...] = ()
    """Options with which the server does not start, and the reasons."""

    circle: Setting | None = None
    """An include of a file that includes this one."""

    start: StartCommand | None = None
    """The start command that was read; None: a file of the server."""

    @cached_property
    def _by_name(self) -> dict[str, list[Setting]]:
        by_name: dict[str, list[Setting]] = {}
        for setting in self.settings:
            by_name.setdefault(self.table.canonical(setting.option), []).append(setting)
        return by_name

    @cached_property
    def _lines(self) -> dict[Path, list[str]]:
        return {
            file: [line.removesuffix("\r") for line in text.split("\n")]
            for file, text in self.texts.items()
        }

    @cached_property
    def ini_lines(self) -> tuple[Line, ...]:
        """The lines of all inis, without empty ones."""
        return tuple(sections.lines(self.texts, self.forms))

    @cached_property
    def section_names(self) -> frozenset[str]:
        """Names of the sections that are read: [uwsgi], and that of `Known.section`."""
        if not self.settings or self.top.file not in self.texts or self.top.file in self.forms:
            return frozenset({"uwsgi"})
        return frozenset({"uwsgi", self.line(self.top).strip(" \t\r")[1:-1]})

    @cached_property
    def option_lines(self) -> tuple[Line, ...]:
        """The lines with an option of these sections, with their conditions."""
        return tuple(sections.options(self.ini_lines, self.section_names, self.table))

    @cached_property
    def named(self) -> frozenset[str]:
        """Names by which lines refer to other options: in %( ), and behind if-opt."""
        inside = (
            re.findall(r"%\(([^)]*)|if-(?:not-)?opt\s*=\s*([\w-]+)", text)
            for text in self.texts.values()
        )
        return frozenset(
            word for pairs in inside for pair in pairs for part in pair for word in part.split()
        )

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(setting): number for number, setting in enumerate(self.settings)}

    @cached_property
    def _by_spot(self) -> dict[Spot, list[Setting]]:
        by_spot: dict[Spot, list[Setting]] = {}
        for setting in self.settings:
            by_spot.setdefault(setting.spot, []).append(setting)
        return by_spot

    def at(self, spot: Spot) -> list[Setting]:
        """Return the settings at a place, in order."""
        return self._by_spot.get(spot, [])

    def all(self, *names: str) -> list[Setting]:
        """Return the settings of the options, in any of their spellings, in order."""
        wanted = {self.table.canonical(name) for name in names}
        lists = [self._by_name.get(name, []) for name in wanted]
        if len(lists) == 1:
            return lists[0]
        together = [setting for settings in lists for setting in settings]
        return (
            sorted(together, key=lambda setting: self._positions[id(setting)]) if together else []
        )

    def first(self, *names: str) -> Setting | None:
        """Return the first setting of the options; None: not set."""
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
        protocol = self._by_name.get("protocol")
        plain = protocol[-1].value.removesuffix("-nph") if protocol else "uwsgi"
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
