"""uvicorn: its options are those of its command."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from lab.config.command_server import CommandServer
from lab.config.command_table import CommandTable
from lab.config.configuration import Config
from lab.config.interface import ASGI
from lab.config.uvicorn import steps
from lab.config.uvicorn.command import APPLICATION, PROGRAM, TABLE, interface_of
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning


class Uvicorn(CommandServer):
    """Its options are those of its command."""

    table: ClassVar[CommandTable] = TABLE
    interface_of: ClassVar[Callable[[Config], str]] = staticmethod(interface_of)
    groups: ClassVar[Mapping[str, str]] = steps.GROUPS
    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = steps.SPECIAL

    def why_refused(self, words: Sequence[str], folder: Path) -> str | None:  # noqa: ARG002 - as of Server
        """Refuse what listens elsewhere than a trial says."""
        if any(word.partition("=")[0] == "--fd" for word in words):
            return "--fd is a socket that is already open: leave it out"
        return None

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before its command is one of its variables, with a value."""
        return word.startswith(f"{APPLICATION}=") or super().takes_variable(word)

    def candidates(self, config: Config) -> Pairs:
        """Return the changes of its event loop and its parser that are tried."""
        return steps.candidates(config)


UVICORN = Uvicorn(
    program=PROGRAM,
    name="uvicorn",
    listen=("--host", "{host}", "--port", "{port}"),
    workers=("--workers",),
    takes_no_value=TABLE.takes_no_value,
    code="UV",
    file=PROGRAM,
    endings=(PROGRAM,),
    max_bytes=1 << 16,
    default_interface=ASGI,
    stop_time=math.inf,
    output="uvicorn.sh",
    interfaces=(ASGI,),
    edits_command=True,
    tunable=steps.TUNABLE,
)
