"""What gunicorn's settings mean: those of its configuration file and of its command."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from lab.config.configuration import Config, Known
from lab.config.gunicorn import BIND, PROGRAM, steps
from lab.config.gunicorn.reader import LARGEST, assignments, carried, literal, read, takes_no_value
from lab.config.interface import ASGI, of_worker_class
from lab.config.meaning import ComputedValue, Settings
from lab.config.server import Server
from lab.config.spot import Setting, Spot
from lab.config.steps import Step, Steps, new_option
from lab.config.vocabulary.steps_for_meaning import StepsOfMeaning
from lab.errors import ProfileError

if TYPE_CHECKING:
    from lab.model.profile import Profile
    from lab.model.workload import Transport, Wire

FLAGS = {
    "--keep-alive": "keepalive",
    "--worker-class": "worker_class",
    "-k": "worker_class",
    "--threads": "threads",
    "--chdir": "chdir",
    "--pythonpath": "pythonpath",
}
"""Word of the command -> setting."""

BACKGROUND = {"--daemon", "-D"}

FILE = "gunicorn.conf.py"
"""What it reads by itself in the folder that it is started in."""

LOOPS = re.compile("gevent|eventlet|tornado")
"""Worker classes of WSGI that have a loop, and no threads for requests."""


class Gunicorn(Server):
    """Its settings are names of a module, or options of its command."""

    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = steps.SPECIAL

    @property
    def version(self) -> str:
        """The version of the table of settings."""
        return str(carried()["version"])

    def options(self) -> Mapping[str, str]:
        """Return the settings."""
        return dict.fromkeys(carried()["settings"], "")

    def read(self, path: Path, known: Known) -> Config:
        """Return what a configuration file sets, or a command."""
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

    def plain(self, written: str) -> str:
        """Return the value of a literal, as 4 or gevent; what is computed as it is."""
        value = literal(written)
        return written if isinstance(value, ComputedValue) else str(value)

    def command_words(self, option: str, value: str) -> Sequence[str]:
        """Return the words of its command that set a setting; several for a list."""
        from lab.config.gunicorn.command import spelt

        several = literal(value) if value.startswith("[") else None
        values = several if isinstance(several, list) else [value]
        with suppress(ProfileError):  # a setting of files alone
            return [word for one in values for word in spelt(option, str(one))]
        return ()

    def own(self, path: Path) -> Profile:
        """Return the profile of a configuration file, served from a private copy."""
        from lab.config.gunicorn.private import own

        return own(path)

    def moved(self, profile: Profile, folder: Path) -> Profile:
        """Return a configuration file with *folder* for its `chdir`."""
        from lab.config.gunicorn.private import moved

        return moved(profile, folder)

    def asked_over(self, profile: Profile) -> tuple[Wire, Transport] | None:
        """Return how a configuration file is asked that has a protocol for a proxy."""
        from lab.config.gunicorn.private import asked_over

        return asked_over(self._options(profile))

    def config(self, profile: Profile) -> Config:
        """Return what the files of a profile and its command set, which stands nowhere."""
        nowhere = Spot(profile.path, 0, 0)
        said = ((name, str(value)) for name, value in self._options(profile).items())
        settings = tuple(Setting(name, value, nowhere, value) for name, value in said)
        return Config(self.name, profile.path, settings)

    def settings(self, profile: Profile) -> Settings:
        """Return what its settings mean; how many requests it serves at once is not known."""
        return Settings(
            options=self._options(profile), application=dict(profile.options).get("app")
        )

    def stepped(self, profile: Profile, steps: Sequence[Step]) -> Profile:
        """Return the private copy of a configuration file with some of its settings otherwise."""
        from lab.config.gunicorn.private import stepped

        return stepped(profile, steps)

    def refused(self, words: Sequence[str], folder: Path) -> str | None:
        """Refuse what would act beyond a trial, and what a file says that it reads by itself."""
        options = {word.partition("=")[0] for word in words}
        if options & BACKGROUND:
            return "the server would go to the background: leave --daemon out"
        if options & {"--config", "-c"}:
            return f"give its configuration file, as in lab run {FILE}"
        if (folder / FILE).is_file():
            return f"{self.name} also reads the {FILE} in this folder: lab run {FILE}"
        return None

    def interface(self, profile: Profile) -> str:
        """Return that of its class of workers."""
        return of_worker_class(self._worker_class(profile))

    def fixed(self, profile: Profile, quantity: str) -> str | None:
        """Return why a profile has no threads to vary."""
        worker = self._worker_class(profile)
        loops = LOOPS.search(worker) or of_worker_class(worker) == ASGI
        if quantity == "threads" and loops:
            return f"has no threads to vary: its worker class, {worker}, uses an event loop"
        return None

    def _worker_class(self, profile: Profile) -> str:
        """Return the class of workers; empty where it is computed, or set under a condition."""
        name = self._options(profile).get("worker_class", "sync")
        return "" if isinstance(name, ComputedValue) else str(name)

    def _options(self, profile: Profile) -> dict[str, object]:
        """Return what a profile's files say, and over it what its command says."""
        options: dict[str, object] = {}
        for name, text in profile.options:
            if name.endswith(".py"):
                options |= assignments(text)
        command = next(command for command in profile.commands if PROGRAM in _names(command))
        return options | _flags(command)


def _names(command: Sequence[str]) -> list[str]:
    return [PurePath(word).name for word in command]


def _flags(command: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    words = [part for word in command for part in _split(word)]
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word in FLAGS:
            found[FLAGS[word]] = int(value) if value.isdecimal() else value
    return found


def _split(word: str) -> list[str]:
    if word[:2] in FLAGS:
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
    called=r"(?!test_)(([\w.-]*[._-])?gunicorn[._-]?conf(ig)?([._-][\w-]+)?\.py$|[\w-][\w.-]*\.gunicorn\.py$|[\w-][\w.-]*\.conf\.py$)",
    largest=LARGEST,
    edits_command=True,
    output=FILE,
    speaks_uwsgi=True,
)
