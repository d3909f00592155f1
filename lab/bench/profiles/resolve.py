"""
The options that uWSGI gets from an ini file.

Our own reader finds them, with their places (`lab.config.uwsgi.reader`). Where the ini does
nothing while it is read (`lab.config.uwsgi.actions`), uWSGI is asked as well, and has the last
word. Its `--show-config` speaks late: by then it has gone to the background, sent its output to
the ini's log, and run the ini's first hooks, and it goes on to write the pidfile (2.0.31,
uwsgi_setup in core/uwsgi.c). Its own function is called by the very first hook instead, and the
second ends it at once, without the removals of `vacuum` at exit: nothing is touched that a server
which runs from the same file may be using.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lab.bench.machine import temporary
from lab.bench.machine.programs import output_of, plugins
from lab.bench.machine.runtime import UWSGI, environment_of, program
from lab.bench.profiles import asking
from lab.bench.profiles.header import line_of
from lab.bench.profiles.reading import Reading
from lab.config.configuration import Config, Known
from lab.config.spot import Setting, Spot
from lab.config.uwsgi import APPLICATION, reader
from lab.config.uwsgi.actions import acting
from lab.config.uwsgi.overrides import as_told, by_drop, by_env, by_variable, told_config, unset
from lab.config.uwsgi.table import atoi, uwsgi_options
from lab.errors import ProfileError
from lab.lint.flaw import Flaw, Severity
from lab.lint.rules.rule import RULES
from lab.model.runtime import OURS, Alteration, Runtime

HOST, PORT = "192.0.2.1", "61999"
"""An address that no machine has (RFC 5737): what is resolved with it can be told from what a
profile fixes, and cannot be bound."""

READING = "[uWSGI] getting INI configuration from "
ABSENT = "in INI configuration file {} ***"
"""Ends what uWSGI prints of a file without the section that it looks for."""

CONTROL = re.compile(
    r"ini|include|inherit|config|xml(config)?|ya?ml|js(on)?|inject-(before|after)|set|(end-)?(black"
    r"|white)list|if-.*|if(env|exists|plugin|dir)|for(-.*)?|end(-?(if|for))?"
)
"""Options that shape the configuration and do not survive into it: what they brought is listed as
well, and with them it would come a second time."""

CUT = "cron2"
"""The option whose value uWSGI ends behind the first word, before it prints it."""

PLACEHOLDER = ("set-ph", "set-placeholder", "resolve")

NUMBERS = ("UW003", "UW005", "UW012", "UW201")
"""Rules that find a text where uWSGI reads a number: it takes what is none in silence."""

WORKERS = ("processes", "workers")
"""Options of which text makes a server without any worker: nothing would answer."""

LINKER = ("LD_LIBRARY_PATH",)
"""Variables without which a program may not start."""

TAKEN = re.compile(r":|@\(|\n")
"""What uWSGI takes in the path of an ini for the beginning of a section, of a command to run, or of
another line."""

TWICE, CIRCLE = "UW017", "UW019"
"""The rules about a section that is there twice, and about a file that includes itself."""


def read_options(
    path: Path, root: Path, runtime: Runtime = OURS, section: str = ""
) -> tuple[tuple[str, str], ...]:
    """Return the options of `read` alone."""
    return read(path, root, runtime, section).options


@dataclass(frozen=True, slots=True)
class ResolvedIni:
    """What an ini says, as it will be served."""

    options: tuple[tuple[str, str], ...]
    """In order, repeats kept."""
    altered: tuple[Alteration, ...]
    """What the user tells otherwise than the file."""
    reading: Reading


def read(path: Path, root: Path, runtime: Runtime = OURS, section: str = "") -> ResolvedIni:
    """
    Return the resolved options of an ini file, and the reading of it.

    Address and folders are written {host}, {port}, {root} and {here}, so that they are the same in
    every checkout and on every port; and for what may be a secret of the user's stands $(NAME).

    Args:
        path: The file.
        root: This project's folder.
        runtime: Whose uWSGI is asked, with which variables, and in which folder.
        section: Of the file; empty for [uwsgi].

    Raises:
        ProfileError: uWSGI refuses the file, with uWSGI's own words; or it takes in silence what
            cannot be meant: a variable that is not set, or a second section; or it would act while
            it reads.
        MissingError: uWSGI is not installed.
    """
    if taken := TAKEN.search(str(path.absolute())):
        whose = "this checkout's folder" if path.is_relative_to(root) else "its folder or file"
        problem = f"uWSGI cannot read it: {whose} has {taken[0]!r} in its name; rename that"
        raise ProfileError(path, problem)
    config, lines = _read(path, runtime, section)
    if lines is None:
        raise ProfileError(path, f"it has no section [{section or 'uwsgi'}]")
    reading = Reading(told_config(config, runtime))
    _check(reading, runtime)
    replacements = ((str(root.resolve()), "{root}"), (str(path.absolute().parent), "{here}"))
    options, altered = as_told(parse_config(lines), runtime)
    named = [(key, _portable(_as_number(key, value), replacements)) for key, value in options]
    hide = runtime.variables.hide
    said = ((key, value if key in APPLICATION else hide(value)) for key, value in named)
    return ResolvedIni(tuple(said), tuple(altered), reading)


@cache
def known_options(uwsgi: str) -> tuple[str, ...]:
    """Return the names of uWSGI's own options, with those of the plugins that are part of it."""
    said = output_of(uwsgi, "--help") or ""
    return tuple(re.findall(r"^ +(?:-\S\|)?--(\S+)", said, re.MULTILINE))


def _read(path: Path, runtime: Runtime, section: str) -> tuple[Config, list[str] | None]:
    """
    Return a configuration with its places, and its lines as uWSGI has them; None without a section.

    uWSGI is asked, unless it may act while it reads: then it is not started.
    """
    given = runtime.variables.options
    environ = {**environment_of(runtime, BIND=HOST, PORT=PORT), **given}
    known = Known(
        section=section,
        cwd=runtime.cwd or Path.cwd(),
        environ=environ,
        plugins=plugins(program(runtime, UWSGI)),
    )
    config = reader.read(path, known)
    if config.circle is not None:
        raise refused(next(RULES[CIRCLE].flaws(config)), runtime)
    act = next((f"{name}, an option to it" for name in given), None) or acting(config)
    if act is None:
        cwd = known.cwd if config.relative else None
        environ = {name: environ[name] for name in environ.keys() & {*config.variables, *LINKER}}
        printed = _printed(path, section, program(runtime, UWSGI), cwd, environ)
        if not asking.whole(printed):
            raise _absent(config, printed) or _refusal(path, printed, runtime)
        absent = any(line.endswith(ABSENT.format(path.absolute())) for line in printed)
        _, *lines = _whole(asking.listed(printed), config)  # the first is the file itself
        return as_read(config, asking.pairs(lines)), None if absent else lines
    if config.guesses:
        why = "uWSGI may act on it as soon as it reads it, so it is not asked what the rest means"
        said = (runtime.variables.hide(each) for each in (act, config.guesses))
        act, guess = (f"{each[:60]}..." if len(each) > 60 else each for each in said)
        problem = f"{act}: {why}, and without uWSGI {guess}; give a copy without it"
        raise ProfileError(path, problem, line_of(_text(path), act.partition(" ")[0]))
    text = "\n".join(
        f"{shown(setting.option)} = {shown(setting.value)}" for setting in config.settings
    )
    return config, text.split("\n") if text else None


def _whole(lines: list[str], config: Config) -> list[str]:
    """Return *lines* with the values that uWSGI has cut while it read them, as they are written."""
    theirs = [number for number, line in enumerate(lines) if line.startswith(f"{CUT} = ")]
    ours = [f"{CUT} = {shown(setting.value)}" for setting in config.all(CUT)]
    for number, line in zip(theirs, ours, strict=False):
        lines[number] = line if line.startswith(lines[number]) else lines[number]
    return lines


def shown(value: str) -> str:
    """Return a text as uWSGI's is decoded: what is no UTF-8 is a mark of that."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _printed(
    path: Path, section: str, uwsgi: str, cwd: Path | None, environ: Mapping[str, str]
) -> list[str]:
    """
    Return what uWSGI prints of an ini file: which files it reads, and then its configuration.

    It gets the variables that the ini names, and no others. It starts in an empty folder, unless
    the ini names files of the folder that it is started in.
    """
    given = "--ini", asking.named(path, section)
    if cwd is not None:
        return asking.ask(uwsgi, given, path, cwd, environ)
    with temporary.folder() as empty:
        return asking.ask(uwsgi, given, path, empty, environ)


def parse_config(lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """
    Return the options of what `--show-config` printed, without those that only shape it.

    >>> parse_config(["set-ph = a=1", "a = 1", "http = :1", ";end of configuration"])
    (('http', ':1'),)
    """
    found = [line.partition(" = ")[::2] for line in lines if " = " in line]
    options: list[tuple[str, str]] = []
    placeholder: str | None = None
    for key, value in found:
        if key in PLACEHOLDER:
            placeholder = value.partition("=")[0]
        elif key == placeholder:
            placeholder = None  # uWSGI lists the placeholder itself once more
        elif not CONTROL.fullmatch(key):
            options.append((key, value))
    return tuple(options)


def _portable(value: str, replacements: Iterable[tuple[str, str]]) -> str:
    if value.startswith("/"):
        value = os.path.normpath(value)
    for folder, name in replacements:
        value = re.sub(re.escape(folder) + r"(?=/|$)", name, value)
    # {root}/uwsgi/.. is {root}, whichever of its folders an ini lies in.
    value = re.sub(r"(\{root\})/\w+/\.\.(?=/|$)", r"\1", value)
    return value.replace(HOST, "{host}").replace(PORT, "{port}")


def _check(reading: Reading, runtime: Runtime) -> None:
    """
    Refuse what uWSGI takes in silence: a variable that is not set, a second section, no worker.

    Any other text in place of a number is taken as uWSGI takes it, and is a warning.
    """
    for flaw in reading.found((TWICE,)):
        raise refused(flaw, runtime)
    flaws = {(flaw.spot.file, flaw.spot.line): flaw for flaw in reading.found(NUMBERS)}
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
    said = of_variable or runtime.variables.hide(flaw.message)
    said = said.replace(HOST, "$(BIND)").replace(PORT, "$(PORT)")
    line = None if of_variable else flaw.spot.line
    return ProfileError(flaw.spot.file, "; ".join(filter(None, (said, what_to_do))), line)


def as_read(config: Config, printed: Sequence[tuple[str, str]]) -> Config:
    """
    Return a configuration as uWSGI reads it.

    Args:
        config: As our own reader has it, which knows the place of each option.
        printed: The options that uWSGI gets. Where they are others, they take the places where
            their names stand.
    """
    read = [(shown(setting.option), shown(setting.value)) for setting in config.settings]
    same = len(read) == len(printed) and all(
        # uWSGI has cut some values by then, such as cron2's.
        name == theirs and value.startswith(cut)
        for (name, value), (theirs, cut) in zip(read, printed, strict=True)
    )
    if same:
        return config
    spots: dict[str, list[Spot]] = {}
    for spot, line in config.lines():
        for word in () if line.lstrip()[:1] in {";", "#"} else re.finditer(r"[\w-]+", line):
            spots.setdefault(word[0], []).append(replace(spot, column=word.start() + 1))
    following = {word: iter(spots) for word, spots in spots.items()}
    settings = tuple(
        Setting(name, value, next(following.get(name, iter(())), config.top), value)
        for name, value in printed
    )
    top = replace(config.top, column=0)
    return replace(config, settings=settings, top=top, guesses="uWSGI reads it otherwise")


def _as_number(option: str, value: str) -> str:
    """Return what uWSGI makes of a value: of a number what it reads, whatever stands behind."""
    if not uwsgi_options().is_number(option) or re.fullmatch("[+-]?[0-9]+", value):
        return value
    return str(atoi(value))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _absent(config: Config, printed: Sequence[str]) -> ProfileError | None:
    """Return the refusal of an include that is not there; None where something else ended uWSGI."""
    names = (re.match(r"realpath\(\) of (.+) failed: ", line) for line in reversed(printed))
    name = next((name[1] for name in names if name), None)
    for setting in config.settings if name else ():
        if name in (setting.value, setting.value.rpartition(":")[0]):
            problem = "there is no such file, so uWSGI does not start; give a copy without the line"
            if not setting.value.startswith("/"):
                problem += ", or the folder that uWSGI is started in: --cwd PATH"
            return ProfileError(
                setting.spot.file, f"{setting.written}: {problem}", setting.spot.line
            )
    return None


def _refusal(path: Path, printed: Sequence[str], runtime: Runtime) -> ProfileError:
    said = next((line for line in reversed(printed) if line.strip()), READING)
    said = runtime.variables.hide(said)
    if unknown := re.search(r"unknown config directive: (\S+)", said):
        for read in _files(path, printed):
            number = line_of(_text(read), unknown[1])
            if number is not None:
                close = difflib.get_close_matches(
                    unknown[1], known_options(program(runtime, UWSGI)), n=1
                )
                hint = f"did you mean {close[0]}? It says: {said}" if close else said
                return ProfileError(read, f"uWSGI has no option {unknown[1]!r}: {hint}", number)
    if said.startswith(READING):
        problem = "uWSGI ended while it read it and said nothing; test a copy with fewer options"
        return ProfileError(path, problem)
    return ProfileError(path, f"uWSGI refuses it: {said}")


def _files(path: Path, printed: Sequence[str]) -> Sequence[Path]:
    named = [line.removeprefix(READING) for line in printed if line.startswith(READING)]
    included = [Path(os.path.normpath(name)) for name in named]
    return [path, *(each for each in included if each.is_file() and each != path.absolute())]
