"""granian: its options are those of its command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from lab.config.configuration import Config, Known
from lab.config.granian import steps
from lab.config.granian.command import (
    PROGRAM,
    VARIABLE,
    carried,
    interface_of,
    options,
    read,
    spelt,
    takes_no_value,
)
from lab.config.interface import WSGI
from lab.config.server import Server
from lab.config.steps import Steps
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning
from lab.config.words import is_script

if TYPE_CHECKING:
    from lab.model.profile import Profile

_STARTED = re.compile(r"^[ \t]*(exec[ \t]+)?([^\s#]*/)?granian[ \t]", re.MULTILINE)
"""What a script has that starts it."""


class Granian(Server):
    """Its options are those of its command."""

    groups: ClassVar[Mapping[str, str]] = steps.GROUPS
    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = steps.SPECIAL

    @property
    def version(self) -> str:
        """The version of the table of options."""
        return str(carried()["version"])

    def options(self) -> Mapping[str, str]:
        """Return the options of the command."""
        return dict.fromkeys(options(), "")

    def recognises(self, text: str) -> bool:
        """Return whether a script starts it."""
        return is_script(text) and _STARTED.search(text) is not None

    def read(self, path: Path, known: Known) -> Config:
        """Return what a command sets, which stands in a file or is given as one's text."""
        return read(path, known)

    def interface(self, profile: Profile) -> str:
        """Return that of its command."""
        path = Path(PROGRAM)
        command = next(command for command in profile.commands if any(map(_is_program, command)))
        config = read(path, Known(overlay={path: shlex.join(command)}))
        return interface_of(config)

    def why_fixed(self, profile: Profile, quantity: str) -> str | None:
        """Return why a profile has no threads to vary: of others granian starts with one alone."""
        if quantity == "threads" and (called := self.interface(profile)) != WSGI:
            return f"has no threads to vary: an {called.upper()} application runs in an event loop"
        return None

    def edited(self, config: Config, steps: Steps) -> str:
        """Return the text of a command, or of its script, after the steps."""
        from lab.config.granian.edit import edited

        return edited(config, steps)

    def command_words(self, option: str, value: str) -> Sequence[str]:
        """Return the words of its command that set an option."""
        return spelt(option, value)

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before its command is one of its variables, with a value."""
        return VARIABLE.match(word) is not None

    def candidates(self, config: Config) -> Pairs:
        """Return the changes of its runtime that are tried."""
        return steps.candidates(config)


def _is_program(word: str) -> bool:
    return PurePath(word).name == PROGRAM


GRANIAN = Granian(
    program=PROGRAM,
    name="granian",
    listen=("--host", "{host}", "--port", "{port}"),
    workers=("--workers",),
    threads=("--blocking-threads",),
    takes_no_value=takes_no_value,
    code="GR",
    file="granian",
    endings=("granian",),
    max_bytes=1 << 16,
    edits_command=True,
    output="granian.sh",
    tunable=steps.TUNABLE,
)
