"""What an application needs beside it: a database, a cache, another service."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


class BackingRole(enum.StrEnum):
    """What a backing service is to the measurement."""

    UPSTREAM = "upstream"
    """Part of the load, on the generator's cores: what it limits does not count."""
    BACKEND = "backend"
    """Part of what is measured, on the server's cores: what it limits has a cause."""


Commands = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackingService:
    """
    A program that servers need and that is not compared: a file of loadtests/backing/.

    Commands and *environment* hold {python} {here} {folder} {host} {port} and its *words*, which a
    workload may set. It is started by *prepare*, *run*, and *fill* when it is *ready*: a command
    ends with 0, or GET / gives 200 ("http"). Its programs are on PATH or in *path*, with {here}
    in it, of a pattern the highest version; *needs* installs them, *version* prints theirs. Where
    the lab is root, *user* owns {folder}, prepares and runs. Servers get its *environment*. Where
    the user has a variable *url*, that names a server of theirs, and nothing is started.
    """

    summary: str
    role: BackingRole
    run: Commands
    ready: Literal["http"] | tuple[str, ...]
    path: str = ""
    user: str = ""
    prepare: Commands = ()
    fill: Commands = ()
    version: tuple[str, ...] = ()
    needs: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    url: str = ""

    name: str = ""
    file: Path = field(default_factory=Path)
    digest: str = ""
    """SHA-256, in hexadecimal, of *file* and those that are named after it."""
    release: str = ""
    """What *version* printed."""
    theirs: bool = False
    """Whether *url* names another one."""

    def __str__(self) -> str:
        """Say what it is, and on whose cores."""
        if self.theirs:
            return f"{self.name}: a server of the user's ({self.url}), not watched"
        side = "generator" if self.role is BackingRole.UPSTREAM else "server"
        release = f" ({self.release})" if self.release else ""
        return f"{self.name}, on the cores of the {side}: {self.summary}{release}"
