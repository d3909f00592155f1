"""gunicorn: its settings are names in a Python file, or options of its command."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from lab.config.configuration import Config, Known
from lab.config.files import is_file
from lab.config.gunicorn import BIND, PROGRAM, steps
from lab.config.gunicorn.reader import LARGEST, assignments, carried, literal, read, takes_no_value
from lab.config.interface import ASGI, of_worker_class
from lab.config.meaning import ComputedValue, Settings
from lab.config.server import Server
from lab.config.spot import Setting, Spot
from lab.config.steps import Step, Steps, new_option
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning
from lab.errors import ProfileError

if TYPE_CHECKING:
    from lab.model.profile import Profile
    from lab.model.workload import Transport, Wire

SETTING_OF_FLAG = {
    "--keep-alive": "keepalive",
    "--worker-class": "worker_class",
    "-k": "worker_class",
    "--threads": "threads",
    "--chdir": "chdir",
    "--pythonpath": "pythonpath",
}
"""Command-line options that a trial needs to know -> setting."""

BACKGROUND = {"--daemon", "-D"}

FILE = "gunicorn.conf.py"
"""gunicorn reads the file of this name in its working folder, without being told to."""

EVENT_LOOPS = re.compile("gevent|eventlet|tornado")
"""WSGI worker classes that serve requests in an event loop, and not in threads."""


class Gunicorn(Server):
    """gunicorn."""

    groups: ClassVar[Mapping[str, str]] = steps.GROUPS
    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = steps.SPECIAL

    @property
    def version(self) -> str:
        """The version whose settings `lab` knows."""
        return str(carried()["version"])

    def options(self) -> Mapping[str, str]:
        """Return the names of all settings; their lines are unknown."""
        return dict.fromkeys(carried()["settings"], "")

    def read(self, path: Path, known: Known) -> Config:
        """Read a configuration file, or the command in a file named like the program."""
        from lab.config.gunicorn.command import read_command

        return read_command(path, known) if path.name == PROGRAM else read(path, known)

    def edited(self, config: Config, steps: Steps) -> str:
        """Return the text of a configuration file, or of a command, after the steps."""
        from lab.config import command_edit
        from lab.config.gunicorn import edit
        from lab.config.gunicorn.command import is_command, setting_of

        for step, _ in steps:
            if (name := new_option(step)) and setting_of(name) not in carried()["settings"]:
                raise ProfileError(config.file, f"gunicorn has no setting {name}")
        if is_command(config):
            return command_edit.edited(edit.GRAMMAR, config, steps)
        return edit.edited(config, steps)

    def candidates(self, config: Config) -> Pairs:
        """Return the changes of how its ASGI workers accept that are tried."""
        return steps.candidates(config)

    def value_of(self, text: str) -> str:
        """Return the value of a literal, such as 4 or gevent; other expressions unchanged."""
        value = literal(text)
        return text if isinstance(value, ComputedValue) else str(value)

    def command_words(self, option: str, value: str) -> Sequence[str]:
        """Return the words of its command that set a setting; several for a list."""
        from lab.config.gunicorn.command import spelt

        several = literal(value) if value.startswith("[") else None
        values = several if isinstance(several, list) else [value]
        with suppress(ProfileError):  # a setting of files alone
            return [word for one in values for word in spelt(option, str(one))]
        return ()

    def profile_of_file(self, path: Path) -> Profile:
        """Return the profile of a configuration file, which a trial serves from a private copy."""
        from lab.config.gunicorn.private import profile_of_file

        return profile_of_file(path)

    def with_chdir(self, profile: Profile, folder: Path) -> Profile:
        """Return the profile with *folder* as the `chdir` of its private copy."""
        from lab.config.gunicorn.private import COPY, with_chdir

        if COPY not in dict(profile.options):
            return super().with_chdir(profile, folder)
        return with_chdir(profile, folder)

    def protocol_of(self, profile: Profile) -> tuple[Wire, Transport] | None:
        """Return the protocol that a configuration file sets; None: HTTP."""
        from lab.config.gunicorn.private import protocol_of

        return protocol_of(self._options(profile))

    def config(self, profile: Profile) -> Config:
        """Return the settings of a profile's files and command, without their lines."""
        nowhere = Spot(profile.path, 0, 0)
        values = {name: str(value) for name, value in self._options(profile).items()}
        settings = tuple(Setting(name, value, nowhere, value) for name, value in values.items())
        return Config(self.name, profile.path, settings)

    def settings(self, profile: Profile) -> Settings:
        """Return the meaning of a profile's settings; its concurrency is unknown."""
        return Settings(
            options=self._options(profile), application=dict(profile.options).get("app")
        )

    def with_steps(self, profile: Profile, steps: Sequence[Step]) -> Profile:
        """Return the profile with the steps made in its private copy."""
        from lab.config.gunicorn.private import with_steps

        return with_steps(profile, steps)

    def why_refused(self, words: Sequence[str], folder: Path) -> str | None:
        """Refuse to start in the background, and to read a file beside the command."""
        options = {word.partition("=")[0] for word in words}
        if options & BACKGROUND:
            return "the server would go to the background: leave --daemon out"
        if options & {"--config", "-c"}:
            return f"give its configuration file, as in lab run {FILE}"
        if is_file(folder / FILE):
            return f"{self.name} also reads the {FILE} in this folder: lab run {FILE}"
        return None

    def interface(self, profile: Profile) -> str:
        """Return the interface of the worker class."""
        return of_worker_class(self._worker_class(profile))

    def why_fixed(self, profile: Profile, quantity: str) -> str | None:
        """Return why a profile has no threads to vary: its workers have event loops."""
        worker_class = self._worker_class(profile)
        has_loop = EVENT_LOOPS.search(worker_class) or of_worker_class(worker_class) == ASGI
        if quantity == "threads" and has_loop:
            return f"has no threads to vary: its worker class, {worker_class}, uses an event loop"
        return None

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before its command is a variable that it alone reads."""
        return word.partition("=")[0] in {
            "WEB_CONCURRENCY",
            "FORWARDED_ALLOW_IPS",
            "GUNICORN_CMD_ARGS",
        }

    def _worker_class(self, profile: Profile) -> str:
        """Return the worker class; empty if it is computed, or set under a condition."""
        name = self._options(profile).get("worker_class", "sync")
        return "" if isinstance(name, ComputedValue) else str(name)

    def _options(self, profile: Profile) -> dict[str, object]:
        """Return the settings of a profile's files, overridden by those of its command."""
        options: dict[str, object] = {}
        for name, text in profile.options:
            if name.endswith(".py"):
                options |= assignments(text)
        command = next(command for command in profile.commands if _starts_gunicorn(command))
        return options | _command_settings(command)


def _starts_gunicorn(command: Sequence[str]) -> bool:
    return any(PurePath(word).name == PROGRAM for word in command)


def _command_settings(command: Sequence[str]) -> dict[str, object]:
    """Return the settings of `SETTING_OF_FLAG` that a command sets."""
    settings: dict[str, object] = {}
    words = [part for word in command for part in _split(word)]
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word in SETTING_OF_FLAG:
            settings[SETTING_OF_FLAG[word]] = int(value) if value.isdecimal() else value
    return settings


def _split(word: str) -> list[str]:
    """Split an option from a value in the same word: -kgevent, --threads=4."""
    if word[:2] in SETTING_OF_FLAG:
        return [word[:2], *filter(None, [word[2:]])]
    return word.split("=", 1) if word.startswith("--") else [word]


GUNICORN = Gunicorn(
    program=PROGRAM,
    name="gunicorn",
    listen=BIND,
    workers=("--workers", "-w"),
    threads=("--threads",),
    takes_no_value=takes_no_value,
    code="GU",
    file=FILE,
    endings=(".py",),
    file_pattern=r"(?!test_)(([\w.-]*[._-])?gunicorn[._-]?conf(ig)?([._-][\w-]+)?\.py$|[\w-][\w.-]*\.gunicorn\.py$|[\w-][\w.-]*\.conf\.py$)",
    max_bytes=LARGEST,
    edits_command=True,
    tells_systemd=True,
    stop_time=30,
    output=FILE,
    tunable=steps.TUNABLE,
    speaks_uwsgi=True,
)
