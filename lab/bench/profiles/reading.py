"""
A profile's file, read once and judged once for all who ask. No process is started.

The reader of `lab.config` reads an ini, with its places. `lab.bench.profiles.asking` has uWSGI
confirm that before the first trial.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lab.bench.machine import project
from lab.bench.machine.runtime import environment_of
from lab.bench.profiles.known import of_machine
from lab.config.configuration import Config, Known
from lab.config.reading import in_container, read_file
from lab.config.spot import Setting
from lab.config.uwsgi import APPLICATION
from lab.config.uwsgi.overrides import (
    by_drop,
    by_env,
    by_variable,
    effective_config,
    effective_options,
    unset,
)
from lab.config.uwsgi.table import atoi, uwsgi_options
from lab.errors import ProfileError
from lab.lint.case import Case
from lab.lint.flaw import Flaw, Severity
from lab.lint.rules.rule import RULES
from lab.model.runtime import OURS, Alteration, Runtime

Options = tuple[tuple[str, str], ...]
"""Options in order, repeats kept."""

HOST, PORT = "192.0.2.1", "61999"
"""An address that no machine has (RFC 5737): what is resolved with it can be told from what a
profile fixes, and cannot be bound."""

CONTROL = re.compile(
    r"ini|include|inherit|config|xml(config)?|ya?ml|js(on)?|inject-(before|after)|set|(end-)?(black"
    r"|white)list|if-.*|if(env|exists|plugin|dir)|for(-.*)?|end(-?(if|for))?"
)
"""Options that shape the configuration and do not survive into it: what they brought is listed as
well, and with them it would come a second time."""

PLACEHOLDER = ("set-ph", "set-placeholder", "resolve")

NUMBERS = ("UW003", "UW005", "UW012", "UW201")
"""Rules that find a text where uWSGI reads a number: it takes what is none in silence."""

WORKERS = ("processes", "workers")
"""Options of which text makes a server without any worker: nothing would answer."""

TAKEN = re.compile(r":|@\(|\n")
"""What uWSGI takes in the path of an ini for the beginning of a section, of a command to run, or of
another line."""

TWICE, CIRCLE = "UW017", "UW019"
"""The rules about a section that is there twice, and about a file that includes itself."""


class Reading:
    """One reading of a file, which is passed to whoever asks what it says."""

    def __init__(self, config: Config, case: Config) -> None:
        self.config = config
        """As the file says it."""
        self.case = Case.of(case)
        """As the user has it otherwise, for the rules."""
        self._flaws: dict[str, tuple[Flaw, ...]] = {}
        self._has_build = False

    def flaws(self, codes: Iterable[str]) -> Iterator[Flaw]:
        """Yield what these rules find; what is known of uWSGI's build, they may know or not."""
        for code in codes:
            if code not in self._flaws:
                self._flaws[code] = tuple(RULES[code].flaws(self.case))
            yield from self._flaws[code]

    def flaws_with(self, build: Callable[[Known], Known]) -> list[Flaw]:
        """
        Return what all rules find.

        Args:
            build: Adds what is known of uWSGI's build; it is called once.
        """
        if not self._has_build:
            self.case = replace(self.case, known=build(self.case.known))
            self._has_build = True
        return list(self.flaws(sorted(RULES)))


def known_of_server(path: Path, runtime: Runtime, section: str = "") -> Known:
    """Return what is known besides a file whose server is started with *runtime* here."""
    given = runtime.variables.options
    return replace(
        of_machine(Known()),
        section=section,
        cwd=runtime.cwd or Path.cwd(),
        environ={**environment_of(runtime, BIND=HOST, PORT=PORT), **given},
        container=in_container(path),
    )


def read_settings(path: Path, runtime: Runtime) -> Reading:
    """
    Return the reading of a file of the user's for another server than uWSGI.

    Raises:
        ProfileError: It cannot be read.
    """
    config = read_file(path, known_of_server(path, runtime))
    return Reading(config, config)


def read_ini(path: Path, runtime: Runtime = OURS, section: str = "") -> Reading:
    """
    Return the reading of an ini.

    Args:
        path: The file.
        runtime: What its server is started with.
        section: Of the file; empty for [uwsgi].

    Raises:
        ProfileError: It cannot be read, or uWSGI alone could say what a part of it means; or uWSGI
            would take in silence what cannot be meant: a variable that is not set, or a second
            section.
    """
    if taken := TAKEN.search(str(path.absolute())):
        problem = f"uWSGI cannot read it: its folder or file has {taken[0]!r} in its name; rename"
        raise ProfileError(path, f"{problem} that")
    config = read_file(path, known_of_server(path, runtime, section))
    if config.circle is not None:
        raise refused(next(RULES[CIRCLE].flaws(config)), runtime)
    for _, include in config.missing:
        problem = "the file does not exist, so uWSGI does not start; give a copy without the line"
        if not include.value.startswith("/"):
            problem += ", or the folder that uWSGI is started in: --cwd PATH"
        raise ProfileError(include.spot.file, f"{include.written}: {problem}", include.spot.line)
    if config.guesses:
        guess = runtime.variables.hide(config.guesses)
        problem = f"cannot be served, because lab reads it without uWSGI: {guess}"
        raise ProfileError(path, f"{problem}; give a copy without that")
    if any(include is None for *_, include in config.absent):
        raise ProfileError(path, f"it has no section [{section or 'uwsgi'}]")
    reading = Reading(config, effective_config(config, runtime))
    _check(reading, runtime)
    return reading


def options_of(reading: Reading, runtime: Runtime) -> tuple[Options, tuple[Alteration, ...]]:
    """
    Return the options of an ini as it will be served, and what the user has otherwise than the ini.

    Address and folders are written {host}, {port}, {root} and {here}, so that they are the same in
    every checkout and on every port; and for what may be a secret of the user's stands $(NAME).

    Raises:
        ProfileError: A value has several lines, which no line of an ini can say.
    """
    config = reading.config
    for setting in config.settings:
        if "\n" in setting.value:
            problem = f"{setting.option}: its value has several lines, which lab cannot serve"
            raise ProfileError(setting.spot.file, problem, setting.spot.line)
    folder = str(config.file.absolute().parent)
    replacements = ((str(project.root().resolve()), "{root}"), (folder, "{here}"))
    options, altered = effective_options(_served(config.settings), runtime)
    named = [(key, _portable(_as_number(key, value), replacements)) for key, value in options]
    hide = runtime.variables.hide
    masked_options = ((key, value if key in APPLICATION else hide(value)) for key, value in named)
    return tuple(masked_options), tuple(altered)


def shown(value: str) -> str:
    """Return a text as uWSGI's is decoded: what is no UTF-8 is a mark of that."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _served(settings: Sequence[Setting]) -> list[tuple[str, str]]:
    """Return the options among settings, without those that only shape the configuration."""
    options: list[tuple[str, str]] = []
    placeholder: str | None = None
    for setting in settings:
        key, value = shown(setting.option), shown(setting.value)
        if key in PLACEHOLDER:
            placeholder = value.partition("=")[0]
        elif key == placeholder:
            placeholder = None  # uWSGI lists the placeholder itself once more
        elif not CONTROL.fullmatch(key):
            options.append((key, value))
    return options


def _portable(value: str, replacements: Iterable[tuple[str, str]]) -> str:
    if value.startswith("/"):
        value = os.path.normpath(value)
    for folder, name in replacements:
        value = re.sub(re.escape(folder) + r"(?=/|$)", name, value)
    # {root}/uwsgi/.. is {root}, whichever of its folders an ini lies in.
    value = re.sub(r"(\{root\})/\w+/\.\.(?=/|$)", r"\1", value)
    return value.replace(HOST, "{host}").replace(PORT, "{port}")


def _as_number(option: str, value: str) -> str:
    """Return what uWSGI makes of a value: of a number what it reads, whatever stands behind."""
    if not uwsgi_options().is_number(option) or re.fullmatch("[+-]?[0-9]+", value):
        return value
    return str(atoi(value))


def _check(reading: Reading, runtime: Runtime) -> None:
    """
    Refuse what uWSGI takes in silence: a variable that is not set, a second section, no worker.

    Any other text in place of a number is taken as uWSGI takes it, and is a warning.
    """
    for flaw in reading.flaws((TWICE,)):
        raise refused(flaw, runtime)
    flaws = {(flaw.spot.file, flaw.spot.line): flaw for flaw in reading.flaws(NUMBERS)}
    config = reading.case
    wrong = [
        (setting, flaws[setting.spot.file, setting.spot.line])
        for setting in config.settings
        if (setting.spot.file, setting.spot.line) in flaws
        and config.table.is_number(setting.option)
        and (unset(setting.value) or (setting.option in WORKERS and atoi(setting.value) == 0))
    ]
    if wrong:
        names = tuple(dict.fromkeys(name for setting, _ in wrong for name in unset(setting.value)))
        raise refused(wrong[0][1], runtime, by_env(names) or by_drop(wrong[0][0].option))
    for none in [setting for setting in config.all("processes")[-1:] if atoi(setting.value) == 0]:
        text = f"{none.written}: no worker is started, so nothing answers; write 1 or more"
        flaw = Flaw("", Severity.ERROR, text, none.spot)
        raise refused(flaw, runtime, by_drop(none.option))


def refused(flaw: Flaw, runtime: Runtime, what_to_do: str = "") -> ProfileError:
    """
    Return the refusal of what a rule found, with its place; of a variable with the variable.

    There are no values of the user's in it, nor what stands for an address.
    """
    of_variable = by_variable(flaw.message, runtime) if not flaw.spot.column else ""
    message = without_address(of_variable or runtime.variables.hide(flaw.message))
    line = None if of_variable else flaw.spot.line
    return ProfileError(flaw.spot.file, "; ".join(filter(None, (message, what_to_do))), line)


def without_address(text: str) -> str:
    """Return a text with the variables of the address in place of what stands for it."""
    return text.replace(HOST, "$(BIND)").replace(PORT, "$(PORT)")
