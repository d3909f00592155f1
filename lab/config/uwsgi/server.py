"""What the options of a uWSGI profile mean: as those of an ini do, by the same reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from lab.config.configuration import Config, Known
from lab.config.interface import WSGI
from lab.config.meaning import Settings
from lab.config.server import Server
from lab.config.spot import Setting, Spot
from lab.config.steps import AnyStep, Drop, Put, Rename, Step, Steps
from lab.config.uwsgi import OFF, application, keeps_connections, reader, steps
from lab.config.uwsgi.formats import FORMS
from lab.config.uwsgi.table import uwsgi_options
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning

if TYPE_CHECKING:
    from lab.config.launch import ApplicationTarget, Launch, Site
    from lab.model.profile import Profile
    from lab.model.workload import Transport, Wire, Workload

Options = tuple[tuple[str, str], ...]

AT_ONCE = ("threads", "async", "gevent", "asyncio")
"""Options that say how many requests a worker process serves at a time."""

NUMBERS = {
    "workers": (
        "processes",
        re.compile("cheaper.*"),
        "which starts and stops workers with the load",
    ),
    "threads": (
        "threads",
        re.compile("asyncio|async|gevent|ugreen"),
        "which serves several requests at once without threads",
    ),
}
"""Quantity -> the option, the options that do not go with it, and why."""

HEADER = re.compile(r"^[ \t]*\[uwsgi\]", re.MULTILINE)
"""What only an ini of its has, whatever the file's name is."""

KEY = re.compile(r"""^[ \t]*["']?uwsgi["']?[ \t]*:|<uwsgi\b""", re.MULTILINE)
"""What the other forms of its have."""


class Uwsgi(Server):
    """
    Its options stand in an ini, or one of the other forms that it reads.

    Of a profile that starts it by a command of its own, as behind a proxy, the options are not
    known here: they are what its ini says.
    """

    groups: ClassVar[Mapping[str, str]] = steps.GROUPS
    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = steps.SPECIAL

    @property
    def version(self) -> str:
        """The version of the table of options."""
        return uwsgi_options().version

    def options(self) -> Mapping[str, str]:
        """Return the options of the core and of all plugins."""
        return {name: entry.line for name, entry in uwsgi_options().entries.items()}

    def recognises(self, text: str) -> bool:
        """Return whether it has a section of uWSGI's."""
        return HEADER.search(text) is not None

    def has_options(self, text: str) -> bool:
        """Return whether it is uWSGI's in any form, and not only called so, as Supervisor's are."""
        return self.recognises(text) or KEY.search(text) is not None

    def read(self, path: Path, known: Known) -> Config:
        """Return what uWSGI gets from a file."""
        return reader.read(path, known)

    def read_command(self, text: str, known: Known) -> Config:
        """Return what a command sets, with the inis that it names."""
        from lab.config.uwsgi.command import read_command

        return read_command(text, known)

    def command_words(self, option: str, value: str) -> Sequence[str]:
        """Return the words of its command that set an option."""
        from lab.config.uwsgi.command import spelt

        return spelt(option, value.removeprefix("%d"))  # which only a file has

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before the command sets an option, as UWSGI_HTTP=:80 does."""
        from lab.config.uwsgi.variables import as_options

        name, _, value = word.partition("=")
        return any(as_options({name: value}))

    def bound_to(self, config: Config, cpu: int) -> Sequence[AnyStep]:
        """Return the option that binds uWSGI's first worker to CPU 0; it knows no other CPU."""
        return () if cpu or config.first("cpu-affinity") else (Put("cpu-affinity", "1"),)

    def edited(self, config: Config, steps: Steps) -> str:
        """Return the text of an ini after the steps."""
        from lab.config.uwsgi.edit import edited

        return edited(config, steps)

    def config(self, profile: Profile) -> Config | None:
        """Return a profile's options as what was read, which stands nowhere."""
        return None if profile.commands else self._written(profile)

    def protocol_of(self, profile: Profile) -> tuple[Wire, Transport] | None:
        """Return how an ini is asked: over the protocol of its first address."""
        from lab.config.uwsgi.private import protocol_of

        return None if profile.commands else protocol_of(profile.options)

    def settings(self, profile: Profile) -> Settings:
        """Return what the options of an ini mean."""
        if profile.commands:
            return super().settings(profile)
        written, options = self._written(profile), dict(profile.options)
        return Settings(
            options=options,
            off=OFF,
            application=application(options),
            processes=written.processes if _are_numbers(written, "processes") else None,
            at_once=written.at_once if _are_numbers(written, *AT_ONCE) else None,
            routed=bool(written.sockets("router")),
            logs=not written.on("disable-logging"),
            accept_lock=written.on("thunder-lock"),
            implied_keepalive=True,
            movable=True,
        )

    def why_fixed(self, profile: Profile, quantity: str) -> str | None:
        """Return which option of an ini does not go with such a number, and why."""
        read, (_, other, why) = self.settings(profile), NUMBERS[quantity]
        names = (option for option in read.options if other.fullmatch(option) and read.sets(option))
        option = next(names, None)
        return option and f"has {option} = {read.options[option]}, {why}: leave it out in a copy"

    def check(self, profile: Profile) -> None:
        """Refuse an ini that does not obey PORT."""
        from lab.config.uwsgi.launch import check

        if not profile.commands:
            check(profile)

    def launch(self, profile: Profile, workload: Workload, site: Site) -> Launch:
        """Return how an ini is started: told where to answer, or as a private copy."""
        from lab.config.uwsgi.launch import launch

        started = super().launch if profile.commands else launch
        return started(profile, workload, site)

    def application(
        self, profile: Profile, workload: Workload, root: Path, python: str | None
    ) -> ApplicationTarget | None:
        """Return the application that an ini names, or the workload in its place."""
        from lab.config.uwsgi.launch import application

        sought = super().application if profile.commands else application
        return sought(profile, workload, root, python)

    def includes(self, word: str) -> bool:
        """Return whether a word names an ini."""
        return word.endswith(".ini") and not word.startswith("-")

    def including(self, path: Path, options: Sequence[tuple[str, str]]) -> str:
        """Return an ini that includes another one."""
        return "\n".join(["[uwsgi]", f"ini = {path}", *map(" = ".join, options), ""])

    def with_steps(self, profile: Profile, steps: Sequence[Step]) -> Profile:
        """Return the private copy of an ini with some of its options otherwise."""
        from lab.model.digest import digest_of

        options = _with_steps(profile.options, steps)
        return replace(
            profile,
            options=options,
            digest=digest_of(options),
            keepalive=keeps_connections(options),
        )

    def with_options(self, options: Options, quantity: str, number: int) -> Options:
        """Return an ini's options with so many of a quantity."""
        puts = [Put(NUMBERS[quantity][0], str(number))]
        if quantity == "threads":
            # uWSGI switches it on from two threads on; with one it would be another difference.
            puts.append(Put("enable-threads", "true"))
        return _with_steps(options, puts)

    def with_number(self, words: Sequence[str], quantity: str, number: int) -> Sequence[str]:
        """Return the words of its command with the number at their end, where it wins."""
        more = ("--enable-threads",) if quantity == "threads" else ()
        return (*_named(words), self.flags_of(quantity)[0], str(number), *more)

    def candidates(self, config: Config) -> Pairs:
        """Return the changes of its router, its log and its lock that are tried."""
        return steps.candidates(config)

    def _written(self, profile: Profile) -> Config:
        nowhere = Spot(profile.path, 0, 0)
        settings = (Setting(name, value, nowhere, value) for name, value in profile.options)
        return Config(self.name, profile.path, tuple(settings), table=uwsgi_options())


def _with_steps(options: Options, steps: Iterable[Step]) -> Options:
    """Return options after steps; what is set stands at the end, where it counts."""
    return reduce(_after, steps, options)


def _after(options: Options, step: Step) -> Options:
    table = uwsgi_options()
    if isinstance(step, Rename):
        return tuple((step.to if key == step.option else key, value) for key, value in options)
    same = table.canonical(step.option)
    kept = tuple(pair for pair in options if table.canonical(pair[0]) != same)
    match step:
        case Drop():
            return kept
        case Put(option, value) if table.repeats(option):
            return options if (option, value) in options else (*options, (option, value))
    return (*kept, (step.option, step.value))


def _are_numbers(written: Config, *names: str) -> bool:
    """Return whether these options are written as numbers, as far as they are written."""
    settings = (written.last(name) for name in names)
    return all(setting.value.isdecimal() for setting in settings if setting is not None)


def _named(words: Iterable[str]) -> Iterator[str]:
    """Yield *words* of uWSGI with --ini before each ini, so that what stands behind it wins."""
    before = ""
    for word in words:
        if word.endswith(".ini") and not before.startswith("-"):
            yield "--ini"
        yield word
        before = word


UWSGI = Uwsgi(
    program="uwsgi",
    name="uWSGI",
    workers=("--processes", "--workers", "-p"),
    threads=("--threads",),
    code="UW",
    file="uwsgi.ini",
    endings=(".ini", *FORMS),
    file_pattern=r"[\w.-]*uwsgi[\w.-]*\.(ini|ya?ml|json|xml)$",
    templates=True,
    tells_systemd=True,
    output="uwsgi.ini",
    interfaces=(WSGI,),
    has_builds=True,
    speaks_uwsgi=True,
)
