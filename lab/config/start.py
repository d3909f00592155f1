"""The command that starts a server, as a file for another program has it, and what is around it."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lab.config.files import is_folder
from lab.config.spot import Spot

if TYPE_CHECKING:  # a configuration has a start command, which fills what is known besides it
    from lab.config.configuration import Known


_UNITS = {
    **dict.fromkeys(("", "s", "sec", "second"), 1.0),
    **dict.fromkeys(("m", "min", "minute"), 60.0),
    **dict.fromkeys(("h", "hr", "hour"), 3600.0),
    **dict.fromkeys(("us", "usec"), 1e-6),
    **dict.fromkeys(("ms", "msec"), 1e-3),
}

_PART = r"(\d++(?:\.\d++)?)\s*+([a-z]*+)\s*+"


def seconds_of(text: str) -> float | None:
    """
    Return the seconds of a time as systemd and compose write it; None: unknown, or without limit.

    >>> seconds_of("1m30s"), seconds_of("2 min 5 secs"), seconds_of("20"), seconds_of("infinity")
    (90.0, 125.0, 20.0, None)
    """
    if not re.fullmatch(f"({_PART})+", text.strip()):
        return None
    total = 0.0
    for number, unit in re.findall(_PART, text):
        seconds = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
        if seconds is None:
            return None
        total += float(number) * seconds
    return total or None


def place_of(places: Sequence[tuple[int, Spot]], offset: int) -> Spot:
    """Return the place of a character, where the places are known at which some pieces begin."""
    begins, spot = places[bisect_right(places, offset, key=itemgetter(0)) - 1]
    return replace(spot, column=spot.column + offset - begins)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a file says of the process that a command becomes. None, or empty: it does not say."""

    container: bool | None = None
    """Whether the process runs in a container."""

    in_shell: bool | None = None
    """Whether a shell takes the command apart, and replaces variables in it."""

    in_list: bool = False
    """Whether its words are the entries of a list."""

    is_one_entry: bool = False
    """Whether the program and its options are one entry of a list."""

    escapes: Mapping[str, str] = field(default_factory=dict)
    """Character that the file gives a meaning -> what stands for it in a command: {"$": "$$"}."""

    is_first_process: bool | None = None
    """Whether the process has number 1, which gets no signal that it does not handle."""

    shell: str = ""
    """The shell that starts the process, as "dash"; empty: unknown, or it becomes the process."""

    waits: Spot | None = None
    """The command of a script whose shell stays and waits for the process: without `exec`."""

    in_background: bool = False
    """Whether a shell starts the process in the background."""

    stop_signal: str = ""
    """The signal that stops the process, as "SIGINT"."""

    stop_time: float | None = None
    """Seconds after that signal at which the process is killed; None: never, or unknown."""

    supervisor: str = ""
    """What starts the process, and starts it again, as "systemd"."""

    unit_type: str = ""
    """How systemd learns that the service has started, as the unit has it: "notify"."""

    restarts: str = ""
    """When the supervisor starts it again, as the file has it: "on-failure"."""

    environ: Mapping[str, str] = field(default_factory=dict)
    """Environment variables."""

    has_other_variables: bool = False
    """Whether it gets variables that stand elsewhere, as by `env_file`."""

    folder: Path | None = None
    """The folder that the process is started in; of an image, the folder here with its files."""

    image_folder: str = "/"
    """The same folder, as the image calls it."""

    copies: tuple[tuple[PurePosixPath, Path], ...] = ()
    """Path in the image -> the file or folder here that is copied to it; the last one counts."""

    user: str = ""

    cpus: str = ""
    """The CPUs that it is bound to, as the file has them; empty: unknown, or all."""

    proxy: str = ""
    """A reverse proxy in another container beside it, as "the service nginx"; empty: unknown."""

    limits: Mapping[str, str] = field(default_factory=dict)
    """Limit, as the file has it -> its value: {"LimitNOFILE": "65536"}."""

    def copied(self, name: str) -> Iterator[Path]:
        """Yield what may be copied to the file of that name in the image, the likeliest first."""
        path = PurePosixPath(os.path.normpath(PurePosixPath(self.image_folder, name)))
        for there, here in reversed(self.copies):
            if path.is_relative_to(there):
                yield Path(os.path.normpath(here / path.relative_to(there)))

    def in_folder(self, name: str, here: Path) -> Surroundings:
        """Return the same behind `cd`; *here*: the folder before it, where none is known."""
        inside = replace(self, image_folder=str(PurePosixPath(self.image_folder, name)))
        copied = filter(is_folder, inside.copied("."))
        return replace(inside, folder=next(copied, (self.folder or here) / name))


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
    """
    The command in one line, without the commands before and behind it.

    The variables that its file gives the server stand before it. What only starts it, such as
    `poetry run`, is left out.
    """

    alone: bool = True
    """Whether no other command stands before or behind it but `cd FOLDER`."""

    before: str = ""
    """What stands before it in its line: the commands that say its folder, what starts it."""

    surroundings: Surroundings = field(default_factory=Surroundings)

    places: tuple[tuple[int, Spot], ...] = ()
    """Where pieces of the text begin, and their places in the file."""

    is_default: bool = True
    """Whether it is meant where no name is given: of a Dockerfile the last stage is."""

    def place(self, spot: Spot) -> Spot:
        """Return the place in the file of a place in the text."""
        return place_of(self.places, spot.column - 1) if self.places else self.spot

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
            surroundings=around,
        )
