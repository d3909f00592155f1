"""The command that starts a server, as a file for another program has it, and what is around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lab.config.spot import Spot

if TYPE_CHECKING:  # a configuration has a start command, which fills what is known besides it
    from lab.config.configuration import Known


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a file says of the process that a command becomes. None, or empty: it does not say."""

    container: bool | None = None
    """Whether the process runs in a container."""

    in_shell: bool | None = None
    """Whether a shell takes the command apart, and replaces variables in it."""

    is_first_process: bool | None = None
    """Whether the process has number 1, which gets no signal that it does not handle."""

    supervisor: str = ""
    """What starts the process, and starts it again, as "systemd"."""

    restarts: str = ""
    """When the supervisor starts it again, as the file has it: "on-failure"."""

    environ: Mapping[str, str] = field(default_factory=dict)
    """Environment variables."""

    folder: Path | None = None
    """The folder that the process is started in."""

    user: str = ""

    limits: Mapping[str, str] = field(default_factory=dict)
    """Limit, as the file has it -> its value: {"LimitNOFILE": "65536"}."""


@dataclass(frozen=True, slots=True)
class StartCommand:
    """The command of one server in a file of a kind in `lab.config.sources`."""

    name: str
    """By which the file calls it: "web" of `Procfile:web`."""

    program: str
    """The server's."""

    words: tuple[str, ...]
    """The command, taken apart."""

    spot: Spot
    """Where the command begins."""

    text: str
    """The command as it is written, in one line, without the commands before and behind it."""

    alone: bool = True
    """Whether no other command stands before or behind it but `cd FOLDER`."""

    before: str = ""
    """What stands before it in its line: the commands that say its folder."""

    surroundings: Surroundings = field(default_factory=Surroundings)

    @property
    def in_place(self) -> str:
        """The command with nothing else in its file, so that its words have their places."""
        return "\n" * (self.spot.line - 1) + " " * (self.spot.column - 1) + self.text

    @property
    def folder(self) -> Path:
        """The folder that it is started in: that of its file, where the file names no other."""
        return self.surroundings.folder or self.spot.file.parent

    def known(self, known: Known) -> Known:
        """Return the same with what the surroundings say; what the caller names stays."""
        around = self.surroundings
        return replace(
            known,
            container=known.container if around.container is None else around.container,
            root=around.user in {"root", "0"} if around.user else known.root,
            cwd=known.cwd or self.folder,
            environ={**around.environ, **known.environ},
        )
