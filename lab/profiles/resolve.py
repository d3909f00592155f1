"""
The options that uWSGI really gets from an ini file, asked of uWSGI itself.

uWSGI can print every option after includes, conditions and variables, which no parser of our own
could promise to do alike. `--show-config` does so late: by then it has gone to the background, sent
its output to the ini's log, and run the ini's first hooks, and it goes on to write the pidfile
(2.0.31, uwsgi_setup in core/uwsgi.c). Its own function is called by the very first hook instead,
and the second ends it at once, without the removals of `vacuum` at exit: nothing is touched that a
server which runs from the same file may be using. What acts before the first hook, such as `stop`,
is not given to uWSGI at all: see `lab.settings.uwsgi.acting`.
"""

from __future__ import annotations

import difflib
import os
import re
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import takewhile
from pathlib import Path

from lab.errors import ProfileError
from lab.model import OURS, Runtime
from lab.profiles.header import line_of, second_section
from lab.settings.lint.config import Config, Known
from lab.settings.uwsgi import APPLICATION, places
from lab.settings.uwsgi.acting import acting
from lab.settings.uwsgi.table import uwsgi_options
from lab.system.programs import output_of, plugins
from lab.system.runtime import UWSGI, environment_of, program

HOST, PORT = "192.0.2.1", "61999"
"""An address that no machine has (RFC 5737): what is resolved with it can be told from what a
profile fixes, and cannot be bound."""

OPENING, CLOSING = ";uWSGI instance configuration", ";end of configuration"

HOOKS = (("hook-asap", "call:show_config"), ("hook-asap", "callint:_exit 0"))
"""On the command line, so that they are the first of all options, and of all hooks."""

ASKING = tuple(word for option, value in HOOKS for word in (f"--{option}", value))
"""The words by which uWSGI prints its configuration and ends."""

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


def read_options(
    path: Path, root: Path, runtime: Runtime = OURS, section: str = ""
) -> tuple[tuple[str, str], ...]:
    """
    Return the resolved options of an ini file in order, repeats kept.

    Address and folders are written {host}, {port}, {root} and {here}, so that they are the same in
    every checkout and on every port; and for what may be a secret of the user's stands $(NAME).

    Args:
        path: The file.
        root: This project's folder.
        runtime: Whose uWSGI is asked, with which variables, and in which folder.
        section: Of the file; empty for [uwsgi].

    Raises:
        ProfileError: uWSGI refuses the file, with uWSGI's own words; or it takes in silence what
            cannot be meant: text for a number, or a second section; or it would act while it reads.
        MissingError: uWSGI is not installed.
    """
    files, lines = _read(path, runtime, section)
    _check_sections(files, section or "uwsgi")
    if lines is None:
        raise ProfileError(path, f"it has no section [{section or 'uwsgi'}]")
    replacements = ((str(root.resolve()), "{root}"), (str(path.absolute().parent), "{here}"))
    options = parse_config(lines)
    _check_numbers(options, files)
    named = [(key, _portable(value, replacements)) for key, value in options]
    hide = runtime.variables.hide
    return tuple((key, value if key in APPLICATION else hide(value)) for key, value in named)


@cache
def known_options(uwsgi: str) -> tuple[str, ...]:
    """Return the names of uWSGI's own options, with those of the plugins that are part of it."""
    said = output_of(uwsgi, "--help") or ""
    return tuple(re.findall(r"^ +(?:-\S\|)?--(\S+)", said, re.MULTILINE))


def _read(path: Path, runtime: Runtime, section: str) -> tuple[Sequence[Path], list[str] | None]:
    """
    Return the files of a configuration, and its options in lines; None where the section is absent.

    uWSGI is asked, unless it would act while it reads: then it is not started.
    """
    known = Known(
        section=section,
        cwd=runtime.cwd or Path.cwd(),
        environ=environment_of(runtime, BIND=HOST, PORT=PORT),
        plugins=plugins(program(runtime, UWSGI)),
    )
    found = places.read(path, known)
    if (act := acting(found, own=True)) is None:
        printed = _printed(path, runtime, section)
        absent = any(line.endswith(ABSENT.format(path.absolute())) for line in printed)
        lines = None if absent else _whole(listed(printed), found)
        return _files(path, printed[: printed.index(OPENING)]), lines
    if found.guesses:
        why = "uWSGI acts on it as soon as it reads it, so that it is not asked what the rest means"
        problem = f"{act}: {why}, and without uWSGI {found.guesses}; give a copy without it"
        problem = runtime.variables.hide(problem)
        raise ProfileError(path, problem, line_of(_text(path), act.partition(" ")[0]))
    text = "\n".join(f"{shown(each.option)} = {shown(each.value)}" for each in found.settings)
    return tuple(found.texts), text.split("\n") if text else None


def _whole(lines: list[str], found: Config) -> list[str]:
    """Return *lines* with the values that uWSGI has cut while it read them, as they are written."""
    theirs = [number for number, line in enumerate(lines) if line.startswith(f"{CUT} = ")]
    ours = [f"{CUT} = {shown(each.value)}" for each in found.all(CUT)]
    for number, line in zip(theirs, ours, strict=False):
        lines[number] = line if line.startswith(lines[number]) else lines[number]
    return lines


def shown(value: str) -> str:
    """Return a text as uWSGI's is decoded: what is no UTF-8 is a mark of that."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _printed(path: Path, runtime: Runtime, section: str = "") -> list[str]:
    """
    Return what uWSGI prints of an ini file: which files it reads, and then its configuration.

    Raises:
        ProfileError: uWSGI refuses the file, with uWSGI's own words.
        MissingError: uWSGI is not installed.
    """
    whole = f"{path.absolute()}:{section}" if section else str(path.absolute())
    command = (program(runtime, UWSGI), *ASKING, "--ini", whole)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=runtime.cwd,
        env=environment_of(runtime, BIND=HOST, PORT=PORT),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        printed: list[str] = []
        try:
            for raw in process.stdout:
                printed.append(raw.decode("utf-8", "replace").rstrip("\n"))
                if printed[-1].endswith(CLOSING):
                    break
        finally:
            # It is our child and not yet waited for, so the number is still its own. Inside Locust
            # gevent waits for a child as soon as that ends, and then there may be no group left.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if OPENING not in printed or not printed[-1].endswith(CLOSING):
        raise _refusal(path, printed, runtime)
    return printed


def listed(printed: Sequence[str]) -> list[str]:
    """Return the lines of the options in what uWSGI printed by `ASKING`, without those of that."""
    lines = printed[printed.index(OPENING) + 2 :]  # after [uwsgi]
    # What `log-date` or `log-prefix` put before each line has one length, whatever it says.
    prefix = lines[0].index(" = ".join(HOOKS[0]))
    options = (line[prefix:] for line in lines[len(HOOKS) :])
    return list(takewhile(lambda line: line != CLOSING, options))


def parse_config(lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """
    Return the options of what `--show-config` printed, without those that only shape it.

    >>> parse_config(["set-ph = a=1", "a = 1", "http = :1", ";end of configuration"])
    (('http', ':1'),)
    """
    pairs = [line.partition(" = ")[::2] for line in lines if " = " in line]
    options: list[tuple[str, str]] = []
    placeholder: str | None = None
    for key, value in pairs:
        if key in PLACEHOLDER:
            placeholder = value.partition("=")[0]
        elif key == placeholder:
            placeholder = None  # uWSGI lists the placeholder itself once more
        elif not CONTROL.fullmatch(key):
            options.append((key, value))
    return tuple(options)


def misread(option: str, value: str) -> str | None:
    """
    Say what uWSGI makes of text where it reads a number; None where that is no matter.

    >>> misread("harakiri", "30s"), misread("harakiri", "30"), misread("master", "30s")
    ('not a number, and uWSGI takes 30: write digits alone', None, None)
    """
    if not uwsgi_options().is_number(option) or re.fullmatch("[+-]?[0-9]+", value):
        return None
    digits = re.match("[+-]?[0-9]+", value)
    problem = f"not a number, and uWSGI takes {digits[0] if digits else 0}"
    if re.search("[;#]", value):
        return f"{problem}: a comment stands on a line of its own; `lab lint --fix` moves it there"
    return f"{problem}: write digits alone"


def _portable(value: str, replacements: Iterable[tuple[str, str]]) -> str:
    if value.startswith("/"):
        value = os.path.normpath(value)
    for folder, name in replacements:
        value = re.sub(re.escape(folder) + r"(?=/|$)", name, value)
    # {root}/uwsgi/.. is {root}, whichever of its folders an ini lies in.
    value = re.sub(r"(\{root\})/\w+/\.\.(?=/|$)", r"\1", value)
    return value.replace(HOST, "{host}").replace(PORT, "{port}")


def _check_sections(files: Sequence[Path], own: str) -> None:
    """Refuse a section that is there twice: *own* of the first file, [uwsgi] of the others."""
    for number, each in enumerate(files):
        name = "uwsgi" if number else own
        if (line := second_section(_text(each), name)) is not None:
            problem = f"a second section [{name}], whose values replace those of the first"
            raise ProfileError(each, f"{problem}: make them one", line)


def _check_numbers(options: Sequence[tuple[str, str]], files: Sequence[Path]) -> None:
    """Refuse text for a number: the first in full, and those that the user would meet next."""
    wrong = [(key, value) for key, value in options if misread(key, value)]
    if not wrong:
        return
    (key, value), *others = wrong
    problem = f"{key} = {value}: {misread(key, value)}"
    if others:
        problem += (
            f"; so are {', '.join(dict.fromkeys(name for name, _ in others))}: see `lab lint`"
        )
    lines = [(each, line_of(_text(each), key, value)) for each in files]
    lines += [(each, line_of(_text(each), key)) for each in files]
    found = next(((each, number) for each, number in lines if number), (files[0], None))
    raise ProfileError(found[0], problem, found[1])


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


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
