"""
What `lab` knows of one server: its options, their meanings, how it is configured and translated.

The defaults are those of a server that is known by its command alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from lab.config.configuration import Config, Known
from lab.config.files import LARGEST
from lab.config.interface import ASGI, WSGI
from lab.config.meaning import Settings
from lab.config.steps import Step, Steps
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning, is_writable, plain

if TYPE_CHECKING:  # what reads a configuration needs none of them
    from lab.config.launch import ApplicationTarget, Launch, Site
    from lab.config.vocabulary.translation import Translator
    from lab.model.profile import Profile
    from lab.model.workload import Transport, Wire, Workload


@dataclass(frozen=True, slots=True)
class Server:
    """One server: how its configuration is read, what it means, and how it is written."""

    program: str = ""
    """The last part of its command's first word; empty of a server that nobody here knows."""

    name: str = ""
    """As its project writes it."""

    listen: tuple[str, ...] = ()
    """The words of its command that say where it listens, with {host} and {port}."""

    workers: tuple[str, ...] = ()
    """How its command spells the number of worker processes, the usual way first."""

    threads: tuple[str, ...] = ()
    """The same of threads that serve requests."""

    takes_no_value: Callable[[str], bool] | None = None
    """Whether a word of its command is an option that no value follows; None: nobody here knows."""

    code: str = ""
    """How the codes of the linter's rules for it begin; empty where there are none."""

    file: str = ""
    """What its configuration is called where nobody says otherwise: its command's own name where
    that command is what is read."""

    endings: tuple[str, ...] = ()
    """How the names of files end that it reads."""

    called: str = ""
    """Pattern of what its files are usually called, for who looks for them; empty: nobody does."""

    largest: int = LARGEST
    """Bytes of the largest of them that is read."""

    templates: bool = False
    """Whether another program, such as Ansible, often writes them."""

    calls: str = WSGI
    """How it calls an application where no option of its says so."""

    output: str = ""
    """Name of the file that a translation for it is; empty: `lab` cannot translate to it."""

    interfaces: tuple[str, ...] = (WSGI, ASGI)
    """The interfaces by which it calls an application."""

    edits_command: bool = False
    """Whether `edited` changes its command, and not a file alone."""

    has_builds: bool = False
    """Whether its program is asked which options, plug-ins and Python its build has."""

    speaks_uwsgi: bool = False
    """Whether it takes the uwsgi protocol from nginx."""

    tunable: tuple[str, ...] = ()
    """Options without a meaning that servers share, which `lab tune` may set."""

    groups: ClassVar[Mapping[str, str]] = {}
    """Groups of changes that `lab tune` tries with this server alone -> what each group is."""

    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = {}
    """Key of a meaning -> the steps that set it, where that is more than one option."""

    @property
    def reads_command(self) -> bool:
        """Whether its command is what is read of it, in place of a file."""
        return bool(self.file) and self.file == self.program

    @property
    def version(self) -> str:
        """The version whose options are known; empty: the options are not known."""
        return ""

    def options(self) -> Mapping[str, str]:
        """
        Return its options, with the place of each option in the source of that version.

        The place is empty where the vocabulary has it.
        """
        return {}

    def recognises(self, text: str) -> bool:
        """Return whether a file of any name is one of its configurations."""
        return False

    def has_options(self, text: str) -> bool:
        """Return whether a file that is called as its own has options of its."""
        return True

    def read(self, path: Path, known: Known) -> Config:
        """
        Return what stands in a file of its; nothing is run for that.

        Raises:
            ProfileError: It is none of its form.
        """
        raise NotImplementedError

    def edited(self, config: Config, steps: Steps) -> str:
        """
        Return the text of a configuration's file after the steps; nothing is written.

        Its lines, comments, order and ends of lines stay. A value is changed where it stands; where
        something else decides it, as a condition or what is included, a line is added that wins,
        with a comment that says over what. Steps that have been made change nothing.

        Args:
            config: As it was read.
            steps: Each with comment lines for above the line that it changes.

        Raises:
            ProfileError: A step cannot be made in that file; the message says what to do by hand.
        """
        raise NotImplementedError

    def plain(self, written: str) -> str:
        """Return a value as its server reads it, of how it is written in a file."""
        return written

    def own(self, path: Path) -> Profile | None:
        """
        Return the profile of a file of the user's; None where its server is asked what it says.

        Raises:
            ProfileError: It cannot be read, or is none of its form.
        """
        return None

    def moved(self, profile: Profile, folder: Path) -> Profile:
        """Return a user's file with *folder* for its `chdir`; the same where it cannot be told."""
        return profile

    def config(self, profile: Profile) -> Config | None:
        """Return the options of a profile as what was read; None where they are not known."""
        return None

    def settings(self, profile: Profile) -> Settings:
        """Return what the options of a profile mean."""
        return Settings(application=dict(profile.options).get("app"))

    def interface(self, profile: Profile) -> str:
        """Return how a profile's application is called; see `lab.config.interface`."""
        return self.calls

    def asked_over(self, profile: Profile) -> tuple[Wire, Transport] | None:
        """Return how the private copy of a user's configuration is asked; None: as any server."""
        return None

    def refused(self, words: Sequence[str], folder: Path) -> str | None:
        """Return why a user's command is not run in *folder*, and what to do; None if it is."""
        return None

    def fixed(self, profile: Profile, quantity: str) -> str | None:
        """Return why a profile of it has no "workers" or "threads" to vary; None where it has."""
        return None

    def check(self, profile: Profile) -> None:
        """
        Refuse a profile that does not listen where a trial tells it to.

        Raises:
            ProfileError: It is one; the message says what to write.
        """

    def private(self, profile: Profile, workload: Workload, site: Site) -> Launch:
        """
        Return how a trial starts a profile: at the address of *site*, reaching nothing beyond it.

        Raises:
            ProfileError: It cannot listen there, or has a word in braces that is not known.
        """
        from lab.config.launch import by_commands

        return by_commands(profile, workload, site)

    def application(
        self, profile: Profile, workload: Workload, root: Path, python: str | None
    ) -> ApplicationTarget | None:
        """
        Return the application that a profile loads for a workload; None: it loads none.

        Args:
            profile: What is served.
            workload: What is asked of it.
            root: The project's folder.
            python: Imports the applications of this server; None: not known.
        """
        from lab.config.launch import application_of_commands

        return application_of_commands(profile, workload, self.settings(profile), root, python)

    def includes(self, word: str) -> bool:
        """Return whether a file can include one of that name, and options after it."""
        return False

    def including(self, path: Path, options: Sequence[tuple[str, str]]) -> str:
        """Return the text of a file that includes another one, and has options after it."""
        raise NotImplementedError

    def stepped(self, profile: Profile, steps: Sequence[Step]) -> Profile:
        """Return the private copy of a file of the user's with some of its options otherwise."""
        raise NotImplementedError

    def with_options(
        self, options: tuple[tuple[str, str], ...], quantity: str, number: int
    ) -> tuple[tuple[str, str], ...]:
        """Return the options of a profile that no command starts, with so many of a quantity."""
        raise NotImplementedError

    def with_number(self, words: Sequence[str], quantity: str, number: int) -> Sequence[str]:
        """Return the words behind its command's first one with so many of a quantity."""
        return (self.spelt(quantity)[0], str(number), *words)

    def spelt(self, quantity: str) -> tuple[str, ...]:
        """Return how its command spells "workers" or "threads"; empty without an option for it."""
        return self.workers if quantity == "workers" else self.threads

    def read_command(self, text: str, known: Known) -> Config:
        """
        Return what a command sets, which is given as its text.

        Raises:
            ProfileError: It cannot be read.
        """
        path = Path(self.program)
        return self.read(path, replace(known, overlay={**known.overlay, path: text}))

    def command_words(self, option: str, value: str) -> Sequence[str]:
        """Return the words of its command that set an option; empty if none can."""
        return ()

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before its command is a variable that sets one of its options."""
        return False

    @property
    def translator(self) -> Translator:
        """Its `TRANSLATOR`, imported at the first use: only a translation needs it."""
        translator: Translator = import_module(f"lab.config.{self.program}.translator").TRANSLATOR
        return translator

    def takes(self, key: str) -> bool:
        """Return whether the server has an option for a meaning, or for what it alone can set."""
        return key in self.special_steps or key in self.tunable or is_writable(self.program, key)

    def steps(self, config: Config, values: Mapping[str, str]) -> tuple[Step, ...]:
        """
        Return the steps from a configuration to what is wanted.

        Args:
            config: As it was read.
            values: Meaning, by its key in the vocabulary, or an option of `tunable` -> value.
        """
        steps: list[Step] = []
        for key, value in values.items():
            special = self.special_steps.get(key)
            steps += special(config, value) if special else self.plain_steps(key, value)
        return tuple(dict.fromkeys(steps))

    def plain_steps(self, key: str, value: object) -> Iterator[Step]:
        """Yield the steps that set a meaning, and nothing that goes with it; see `steps`."""
        return plain(self.program, key, value)

    def candidates(self, config: Config) -> Pairs:
        """Return the changes that `lab tune` tries with this server alone."""
        return ()
