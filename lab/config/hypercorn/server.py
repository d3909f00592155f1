"""hypercorn: its settings are names in a file of TOML or Python, or options of its command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from lab.config.command_server import CommandServer
from lab.config.command_table import CommandTable
from lab.config.configuration import Config, Known
from lab.config.hypercorn import steps
from lab.config.hypercorn.command import PROGRAM, TABLE, interface_of, read
from lab.config.hypercorn.file import PYTHON, TOML
from lab.config.interface import ASGI
from lab.config.steps import Steps
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning
from lab.errors import ProfileError

if TYPE_CHECKING:
    from lab.model.profile import Profile

FILES = (
    "hypercorn.toml",
    *(f"hypercorn{name}" for name in (".conf.toml", "_config.toml", "_conf.toml")),
    *(f"hypercorn{name}" for name in (".py", ".conf.py", "_config.py", "_conf.py")),
)
"""Usual names of its files."""

NO_PYTHON = "lab starts no Python file of hypercorn: give a TOML file, or the command in quotes"


class Hypercorn(CommandServer):
    """hypercorn."""

    table: ClassVar[CommandTable] = TABLE
    interface_of: ClassVar[Callable[[Config], str]] = staticmethod(interface_of)
    groups: ClassVar[Mapping[str, str]] = steps.GROUPS
    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = steps.SPECIAL

    def read(self, path: Path, known: Known) -> Config:
        """Return what a file sets, or a command with the file that it names."""
        return read(path, known)

    def edited(self, config: Config, steps: Steps) -> str:
        """Return the text of a command, or of a file in TOML, after the steps."""
        from lab.config.hypercorn import edit

        if config.file.suffix == PYTHON:
            raise ProfileError(config.file, f"{NO_PYTHON}, nor edits it")
        is_toml = config.file.suffix == TOML
        return edit.edited(config, steps) if is_toml else self.table.edited(config, steps, read)

    def profile_of_file(self, path: Path) -> Profile | None:
        """Return the profile of a file in TOML, which a trial serves from a private copy."""
        from lab.config.hypercorn.edit import profile_of_file

        if path.suffix == PYTHON:
            raise ProfileError(path, NO_PYTHON)
        return profile_of_file(path) if path.suffix == TOML else None

    def why_refused(self, words: Sequence[str], folder: Path) -> str | None:  # noqa: ARG002 - as of Server
        """Refuse a file, whose addresses and logs may be those of production."""
        if any(TABLE.option_of(word.partition("=")[0]) == "config" for word in words):
            return "--config names a file: write its options in the command"
        return None

    def candidates(self, config: Config) -> Pairs:
        """Return the changes of its event loop that are tried."""
        return steps.candidates(config)


HYPERCORN = Hypercorn(
    program=PROGRAM,
    name="hypercorn",
    listen=("--bind", "{host}:{port}"),
    workers=("--workers", "-w"),
    takes_no_value=TABLE.takes_no_value,
    code="HC",
    file=PROGRAM,
    endings=(PROGRAM, *FILES),
    file_pattern="|".join(rf"{name.replace('.', '[.]')}$" for name in FILES),
    max_bytes=1 << 16,
    default_interface=ASGI,
    stop_time=3,
    output="hypercorn.sh",
    interfaces=(ASGI,),
    edits_command=True,
    prints_version=False,
    tunable=steps.TUNABLE,
)
