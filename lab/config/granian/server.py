"""granian: its options are those of its command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import ClassVar

from lab.config.change import Steps, new_option
from lab.config.command_edit import edited
from lab.config.configuration import Config, Known
from lab.config.granian import script, steps, translator
from lab.config.granian.command import (
    GRAMMAR,
    PROGRAM,
    VARIABLE,
    carried,
    interface_of,
    option_of,
    options,
    read,
    takes_no_value,
)
from lab.config.interface import WSGI
from lab.config.server import Files, Server
from lab.config.vocabulary.senses import Spelling
from lab.config.vocabulary.service import SenseSetting, Service
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning
from lab.config.vocabulary.translation import Note, Translation
from lab.config.words import is_script
from lab.errors import ProfileError
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

    def fixed(self, profile: Profile, quantity: str) -> str | None:
        """Return why a profile has no threads to vary: of others granian starts with one alone."""
        if quantity == "threads" and (called := self.interface(profile)) != WSGI:
            return f"has no threads to vary: an {called.upper()} application is served by a loop"
        return None

    def edited(self, config: Config, steps: Steps) -> str:
        """Return the text of a command, or of its script, after the steps."""
        for step, _ in steps:
            if (name := new_option(step)) and option_of(name) not in options():
                raise ProfileError(config.file, f"granian has no option {name}")
        return edited(GRAMMAR, config, steps)

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before its command is one of its variables, with a value."""
        return VARIABLE.match(word) is not None

    def check_certain(self, config: Config) -> None:
        """Refuse a script whose command is one of several, or with an option under a condition."""
        text = config.texts[config.file]
        if is_script(text):
            script.check_certain(config, text)

    def around(self, config: Config) -> list[Note]:
        """Return the lines of a script that are not carried over, each line once."""
        text = config.texts[config.file]
        return script.beside_command(config, text) if is_script(text) else []

    def service(self, config: Config) -> Service:
        """Return what a command asks for."""
        return translator.service_of(config)

    def write_meaning(
        self, translation: Translation, meaning: SenseSetting, column: Spelling
    ) -> bool:
        """Write a meaning that takes more than one word of its command."""
        return translator.special(translation, meaning, column)

    def write_defaults(self, translation: Translation) -> None:
        """Write where it listens: at one address, by HTTP."""
        translator.added(translation)

    def write(self, translation: Translation, name: str) -> Files:
        """Return a script for sh, and the file of its variables."""
        return translator.files(translation, name)

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
    largest=1 << 16,
    edits_command=True,
    output="granian.sh",
    words=translator.WORDS,
    tunable=steps.TUNABLE,
)
