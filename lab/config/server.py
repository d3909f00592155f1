"""
`Server`: what `lab` knows of a server. Each known server has a subclass.

The defaults are for a server of which only the command is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from lab.config.configuration import Config, Known
from lab.config.files import LARGEST
from lab.config.interface import ASGI, WSGI
from lab.config.meaning import Settings
from lab.config.steps import AnyStep, Prefix, Step, Steps
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning, is_writable, plain
from lab.config.words import command_of, is_script

if TYPE_CHECKING:  # what reads a configuration needs none of them
    from lab.config.launch import ApplicationTarget, Launch, Site
    from lab.config.vocabulary.translation import Translator
    from lab.model.profile import Profile
    from lab.model.workload import Transport, Wire, Workload

BINDING = frozenset({"taskset", "numactl"})
"""Programs that bind the command behind them to CPUs."""


@dataclass(frozen=True, slots=True)
class Server:
    """One server: how `lab` reads, understands, edits and starts its configurations."""

    program: str = ""
    """Name of the program, as in a command; empty for an unknown server."""

    name: str = ""
    """As its project writes it."""

    listen: tuple[str, ...] = ()
    """Words of a command that set the address, with {host} and {port}."""

    workers: tuple[str, ...] = ()
    """Command-line options for the number of worker processes, the usual one first."""

    threads: tuple[str, ...] = ()
    """Command-line options for the number of threads that serve requests."""

    takes_no_value: Callable[[str], bool] | None = None
    """Whether a word of a command is an option without a value; None: unknown."""

    code: str = ""
    """First two letters of the codes of its linter rules; empty: it has none."""

    file: str = ""
    """Default name of its configuration file; the program, if `lab` reads its command instead."""

    endings: tuple[str, ...] = ()
    """Endings of the names of its configuration files."""

    file_pattern: str = ""
    """Pattern of the usual names of its files, by which a search finds them; empty: no search."""

    max_bytes: int = LARGEST
    """Size of the largest file that `lab` reads, in bytes."""

    templates: bool = False
    """Whether its files are often templates of another program, such as Ansible."""

    default_interface: str = WSGI
    """How it calls an application if no option sets that."""

    output: str = ""
    """Name of the file that a translation writes; empty: `lab` cannot translate to this server."""

    interfaces: tuple[str, ...] = (WSGI, ASGI)
    """The interfaces that it can serve."""

    edits_command: bool = False
    """Whether `edited` can also change a command."""

    prints_version: bool = True
    """Whether its command prints its version with --version."""

    has_builds: bool = False
    """Whether its builds differ in options, plug-ins and Python, so that the program is asked."""

    speaks_uwsgi: bool = False
    """Whether nginx can send it requests by the uwsgi protocol."""

    tells_systemd: bool = False
    """Whether it tells systemd when it has started."""

    stop_time: float | None = None
    """
    Seconds for which a stop waits for requests in flight, where no option sets a limit; infinity:
    as long as they take; None: it does not wait, or that is unknown.
    """

    tunable: tuple[str, ...] = ()
    """Options that `lab tune` may set although other servers have no equivalent."""

    groups: ClassVar[Mapping[str, str]] = {}
    """Groups of changes that `lab tune` tries only with this server -> description."""

    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = {}
    """Key of a meaning -> the steps that set it, if it takes more than one option."""

    @property
    def reads_command(self) -> bool:
        """Whether `lab` reads its command instead of a file."""
        return bool(self.file) and self.file == self.program

    @property
    def version(self) -> str:
        """The version whose options `lab` knows; empty: the options are unknown."""
        return ""

    def options(self) -> Mapping[str, str]:
        """
        Return its options, each with its line in the source of `version`.

        The line is empty if the vocabulary has it.
        """
        return {}

    def recognises(self, text: str) -> bool:
        """Return whether a file, whatever its name, is a configuration of this server."""
        return False

    def has_options(self, text: str) -> bool:
        """Return whether a file whose name fits is a configuration of this server."""
        return True

    def read(self, path: Path, known: Known) -> Config:
        """
        Read a configuration file; nothing is run.

        Raises:
            ProfileError: The file cannot be read.
        """
        raise NotImplementedError

    def edited(self, config: Config, steps: Steps) -> str:
        """
        Return the text of a configuration file after the steps; nothing is written.

        Lines, comments, order and line ends stay. A value is changed in its line. If a condition or
        an included file decides the value, a line is added that overrides it, with a comment that
        names what it overrides. Applying a step twice changes nothing.

        Args:
            config: The configuration as it was read.
            steps: The steps, each with the comment lines to write above the changed line.

        Raises:
            ProfileError: A step is impossible in that file; the message says what to edit by hand.
        """
        raise NotImplementedError

    def value_of(self, text: str) -> str:
        """Return the value that the server reads from *text*, as it is written in a file."""
        return text

    def profile_of_file(self, path: Path) -> Profile | None:
        """
        Return the profile of a user's file; None if the server itself has to resolve the file.

        Raises:
            ProfileError: The file cannot be read.
        """
        return None

    def with_chdir(self, profile: Profile, folder: Path) -> Profile:
        """Return the profile of a user's command with *folder* as the folder that it starts in."""
        if profile.private_copy is None:
            return profile
        return replace(profile, private_copy=replace(profile.private_copy, cwd=folder))

    def config(self, profile: Profile) -> Config | None:
        """Return the options of a profile as a configuration; None: unknown."""
        return None

    def settings(self, profile: Profile) -> Settings:
        """Return the meaning of a profile's options."""
        return Settings(application=dict(profile.options).get("app"))

    def interface(self, profile: Profile) -> str:
        """Return the interface of a profile's application; see `lab.config.interface`."""
        return self.default_interface

    def protocol_of(self, profile: Profile) -> tuple[Wire, Transport] | None:
        """Return the protocol by which a private copy is asked; None: that of the workload."""
        return None

    def why_refused(self, words: Sequence[str], folder: Path) -> str | None:
        """Return why `lab` refuses to run a user's command in *folder*; None if it runs it."""
        return None

    def why_fixed(self, profile: Profile, quantity: str) -> str | None:
        """Return why a profile has no "workers" or "threads" to vary; None if it has."""
        return None

    def check(self, profile: Profile) -> None:
        """
        Refuse a profile that does not listen where a trial tells it to.

        Raises:
            ProfileError: It does not; the message says what to write.
        """

    def launch(self, profile: Profile, workload: Workload, site: Site) -> Launch:
        """
        Return how a trial starts a profile: at the address of *site*, isolated from production.

        Raises:
            ProfileError: It cannot listen there, or has an unknown word in braces.
        """
        from lab.config.launch import by_commands

        return by_commands(profile, workload, site)

    def application(
        self, profile: Profile, workload: Workload, root: Path, python: str | None
    ) -> ApplicationTarget | None:
        """
        Return the application that a profile loads for a workload; None: it loads none.

        Args:
            profile: The profile.
            workload: The workload.
            root: The folder of this project.
            python: The Python that imports the applications of this server; None: unknown.
        """
        from lab.config.launch import application_of_commands

        return application_of_commands(profile, workload, self.settings(profile), root, python)

    def includes(self, word: str) -> bool:
        """Return whether *word* names a file that another file of this server can include."""
        return False

    def including(self, path: Path, options: Sequence[tuple[str, str]]) -> str:
        """Return the text of a file that includes *path* and then sets *options*."""
        raise NotImplementedError

    def with_steps(self, profile: Profile, steps: Sequence[Step]) -> Profile:
        """Return a profile with its options changed by *steps*."""
        raise NotImplementedError

    def with_options(
        self, options: tuple[tuple[str, str], ...], quantity: str, number: int
    ) -> tuple[tuple[str, str], ...]:
        """Return the options of an ini, with *number* "workers" or "threads"."""
        raise NotImplementedError

    def with_number(self, words: Sequence[str], quantity: str, number: int) -> Sequence[str]:
        """Return the words behind the program, with *number* "workers" or "threads"."""
        return (self.flags_of(quantity)[0], str(number), *words)

    def flags_of(self, quantity: str) -> tuple[str, ...]:
        """Return the command-line options for "workers" or "threads"."""
        return self.workers if quantity == "workers" else self.threads

    def read_command(self, text: str, known: Known) -> Config:
        """
        Read the options of a command.

        Raises:
            ProfileError: The command cannot be read.
        """
        path = Path(self.program)
        return self.read(path, replace(known, overlay={**known.overlay, path: text}))

    def command_words(self, option: str, value: str) -> Sequence[str]:
        """Return the words of its command that set an option; empty if none can."""
        return ()

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before the command is a variable that sets one of its options."""
        return False

    @property
    def translator(self) -> Translator:
        """The `TRANSLATOR` of the server, imported at the first use: only translations need it."""
        translator: Translator = import_module(f"lab.config.{self.program}.translator").TRANSLATOR
        return translator

    def can_set(self, key: str) -> bool:
        """Return whether the server has an option for *key*: a meaning, or one of `tunable`."""
        return key in self.special_steps or key in self.tunable or is_writable(self.program, key)

    def steps(self, config: Config, values: Mapping[str, str]) -> tuple[Step, ...]:
        """
        Return the steps that set values in a configuration.

        Args:
            config: The configuration as it was read.
            values: Key of a meaning, or an option of `tunable` -> value.
        """
        steps: list[Step] = []
        for key, value in values.items():
            special = self.special_steps.get(key)
            steps += special(config, value) if special else self.plain_steps(key, value)
        return tuple(dict.fromkeys(steps))

    def plain_steps(self, key: str, value: object) -> Iterator[Step]:
        """Yield the steps that set the options of a meaning, without its `special_steps`."""
        return plain(self.program, key, value)

    def bound_to(self, config: Config, cpu: int) -> Sequence[AnyStep]:
        """Return the steps that bind the server to a CPU; empty: the configuration cannot."""
        text = config.texts[config.file]
        is_command = config.file.name == self.program or is_script(text)
        if not self.edits_command or not is_command or config.known.surroundings.cpus:
            return ()
        command = command_of(text, config.file, self.program)
        if command is None or any(PurePath(it.value).name in BINDING for it in command.before):
            return ()
        return (Prefix(f"taskset -c {cpu}"),)

    def candidates(self, config: Config) -> Pairs:
        """Return the changes that `lab tune` tries only with this server."""
        return ()
