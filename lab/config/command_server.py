"""`CommandServer`: a server whose options are those of its command, in quotes or in a script."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from lab.config.command_table import CommandTable
from lab.config.configuration import Config, Known
from lab.config.interface import ASGI, WSGI
from lab.config.server import Server
from lab.config.steps import Steps
from lab.config.words import is_script

if TYPE_CHECKING:
    from lab.model.profile import Profile


class CommandServer(Server):
    """A server whose options `lab` reads from its command."""

    table: ClassVar[CommandTable]
    interface_of: ClassVar[Callable[[Config], str]]
    """Returns how a command has its application called; see `lab.config.interface`."""

    @property
    def version(self) -> str:
        """The version of the table of options."""
        return self.table.version

    def options(self) -> Mapping[str, str]:
        """Return the options of the command."""
        return dict.fromkeys(self.table.options, "")

    def recognises(self, text: str) -> bool:
        """Return whether a script starts it."""
        started = rf"^[ \t]*(exec[ \t]+)?([^\s#]*/)?{self.program}[ \t]"
        return is_script(text) and re.search(started, text, re.MULTILINE) is not None

    def read(self, path: Path, known: Known) -> Config:
        """Return what a command sets, which stands in a file or is given as one's text."""
        return self.table.read(path, known)

    def command_of(self, profile: Profile) -> Config:
        """Return what the command of a profile sets, without what only its machine knows."""
        path = Path(self.program)
        command = next(command for command in profile.commands if any(map(self._is, command)))
        return self.table.read(path, Known(overlay={path: shlex.join(command)}))

    def interface(self, profile: Profile) -> str:
        """Return that of its command."""
        return type(self).interface_of(self.command_of(profile))

    def why_fixed(self, profile: Profile, quantity: str) -> str | None:
        """Return why a profile has no threads to vary: its application runs in an event loop."""
        if quantity != "threads":
            return None
        called = self.interface(profile) if self.threads else ASGI
        if called == WSGI:
            return None
        return f"has no threads to vary: an {called.upper()} application runs in an event loop"

    def _is(self, word: str) -> bool:
        return PurePath(word).name == self.program

    def edited(self, config: Config, steps: Steps) -> str:
        """Return the text of a command, or of its script, after the steps."""
        return self.table.edited(config, steps)

    def command_words(self, option: str, value: str) -> Sequence[str]:
        """Return the words of its command that set an option."""
        return self.table.spelt(option, value)

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before its command is one of its variables, with a value."""
        return self.table.takes_variable(word)
