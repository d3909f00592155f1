"""
uWSGI's word on an ini that lab has read, before the first trial.

What is served is a copy of what lab read, so a misreading would measure another server in silence.
uWSGI's `--show-config` speaks late: by then it has gone to the background, sent its output to the
ini's log, and run the ini's first hooks, and it goes on to write the pidfile (2.0.31, uwsgi_setup
in core/uwsgi.c). Its own function is called by the very first hook instead, and the second ends it
at once, without the removals of `vacuum` at exit: nothing is touched that a server which runs from
the same file may be using.
"""

from __future__ import annotations

import difflib
import os
import re
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import takewhile, zip_longest
from pathlib import Path
from threading import Timer

from lab.bench.machine import temporary
from lab.bench.machine.programs import options
from lab.bench.machine.runtime import UWSGI, program
from lab.bench.profiles.header import line_of
from lab.bench.profiles.reading import Reading, shown, without_address
from lab.config.configuration import Config
from lab.config.uwsgi.actions import acting
from lab.config.uwsgi.variables import as_options
from lab.errors import ProfileError
from lab.model.runtime import Runtime

READING = "[uWSGI] getting INI configuration from "

CUT = "cron2"
"""The option whose value uWSGI ends behind the first word, before it prints it."""

LINKER = ("LD_LIBRARY_PATH",)
"""Variables without which a program may not start."""

TIMEOUT = 20.0
"""Seconds that uWSGI gets to read a file: milliseconds, and more on a machine that is busy."""

CPU = 3
"""Seconds of CPU that it gets for that."""

MEMORY = 256 << 20
"""Bytes of address space that it gets for that: it needs less than a tenth of them."""

FULL = "!!! tried memory allocation"
"""What it prints where they are not enough."""

PRINTED = 4 << 20
"""Bytes that it may print: more than four times what the lab reads of a configuration."""

HOOKS = (("hook-asap", "call:show_config"), ("hook-asap", "callint:_exit 0"))
"""On the command line, so that they are the first of all options, and of all hooks."""

ASKING = tuple(word for option, value in HOOKS for word in (f"--{option}", value))
"""The words by which uWSGI prints its configuration and ends."""

OPENING, CLOSING = ";uWSGI instance configuration", ";end of configuration"


@dataclass(frozen=True, slots=True)
class IniQuestion:
    """What uWSGI is asked: what it reads from a file."""

    uwsgi: str
    path: Path
    section: str
    cwd: Path | None
    """The folder that it starts in; None for an empty one."""

    environ: tuple[tuple[str, str], ...]
    texts: tuple[tuple[Path, str], ...]
    """What stands in the file, and in those that it includes: what has changed is asked again."""


def confirm(reading: Reading, runtime: Runtime) -> None:
    """
    Refuse an ini of which uWSGI gets something else than lab has read.

    uWSGI is asked once for the same files and variables, and not at all where it might act while it
    reads. It gets the variables that the ini names, and no others. It starts in an empty folder,
    unless the ini names files of the folder that it is started in.

    Args:
        reading: Of the ini.
        runtime: Whose uWSGI is asked.

    Raises:
        ProfileError: The two differ, or uWSGI refuses the ini, with uWSGI's own words.
        MissingError: uWSGI is not installed.
    """
    config = reading.config
    environ = config.known.environ
    if any(as_options(environ)) or acting(config):
        return
    names = environ.keys() & {*config.variables, *LINKER}
    question = IniQuestion(
        program(runtime, UWSGI),
        config.file,
        config.known.section,
        config.known.cwd if config.relative else None,
        tuple((name, environ[name]) for name in sorted(names)),
        tuple(config.texts.items()),
    )
    printed = _printed(question)
    if not whole(printed):
        raise _refusal(question, printed, runtime)
    _, *theirs = pairs(listed(printed))  # the first is the file itself
    if difference := _difference(config, theirs, runtime):
        raise difference


@cache
def _printed(question: IniQuestion) -> Sequence[str]:
    """Return what uWSGI prints of an ini: which files it reads, and then its configuration."""
    path, environ = question.path, dict(question.environ)
    given = "--ini", named(path, question.section)
    if question.cwd is not None:
        return ask(question.uwsgi, given, path, question.cwd, environ)
    with temporary.folder() as empty:
        return ask(question.uwsgi, given, path, empty, environ)


def _difference(
    config: Config, printed: Sequence[tuple[str, str]], runtime: Runtime
) -> ProfileError | None:
    """Return the refusal of the first option that uWSGI gets otherwise; None without one."""
    for setting, theirs in zip_longest(config.settings, printed):
        ours = setting and (shown(setting.option), shown(setting.value))
        cut = ours and theirs and ours[0] == theirs[0] == CUT and ours[1].startswith(theirs[1])
        if ours == theirs or cut:
            continue
        texts = (" = ".join(pair) if pair else "nothing more" for pair in (theirs, ours))
        theirs_text, ours_text = (without_address(runtime.variables.hide(text)) for text in texts)
        problem = f"uWSGI reads {theirs_text}, and lab {ours_text}; give a copy without that line"
        spot = setting.spot if setting else config.top
        return ProfileError(spot.file, problem, spot.line)
    return None


def _refusal(question: IniQuestion, printed: Sequence[str], runtime: Runtime) -> ProfileError:
    path = question.path
    last_line = next((line for line in reversed(printed) if line.strip()), READING)
    last_line = runtime.variables.hide(last_line)
    if unknown := re.search(r"unknown config directive: (\S+)", last_line):
        for file, text in question.texts:
            number = line_of(text, unknown[1])
            if number is not None:
                close = difflib.get_close_matches(unknown[1], options(question.uwsgi), n=1)
                hint = f"did you mean {close[0]}? It says: {last_line}" if close else last_line
                return ProfileError(file, f"uWSGI has no option {unknown[1]!r}: {hint}", number)
    if last_line.startswith(READING):
        problem = "uWSGI ended while it read it and said nothing; test a copy with fewer options"
        return ProfileError(path, problem)
    return ProfileError(path, f"uWSGI refuses it: {last_line}")


def named(path: Path, section: str) -> str:
    """Return how uWSGI is told a file, and which of its sections; empty for [uwsgi]."""
    return f"{path.absolute()}:{section}" if section else str(path.absolute())


def ask(
    uwsgi: str, given: Sequence[str], path: Path, cwd: Path | None, environ: Mapping[str, str]
) -> list[str]:
    """
    Return the lines that uWSGI prints of a file: which files it reads, and then its configuration.

    Args:
        uwsgi: The program.
        given: The words that give it the file.
        path: The file, for the error.
        cwd: The folder that it starts in; None for this one.
        environ: Its variables, all of them.

    Raises:
        ProfileError: It has not read the file within `TIMEOUT`, `CPU` and `MEMORY`, or prints more
            than `PRINTED`.
        OSError: It cannot be started.
    """
    with subprocess.Popen(
        (uwsgi, *ASKING, *given),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=environ,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        _limit(process.pid)
        deadline = Timer(TIMEOUT, _kill, (process.pid,))
        deadline.start()
        printed: list[str] = []
        left = PRINTED
        try:
            while left > 0 and (raw := process.stdout.readline(left)):
                left -= len(raw)
                printed.append(raw.decode("utf-8", "replace").rstrip("\n"))
                if printed[-1].endswith(CLOSING):
                    break
        finally:
            late = not deadline.is_alive()
            deadline.cancel()
            # It is our child and not yet waited for, so the number is still its own. Inside Locust
            # gevent waits for a child as soon as that ends, and then there may be no group left.
            _kill(process.pid)
    if left <= 0:
        raise ProfileError(path, f"uWSGI makes more than {PRINTED >> 20} MiB of it")
    busy = process.returncode == -signal.SIGXCPU
    if late or busy or any(line.startswith(FULL) for line in printed):
        given_up = f"{TIMEOUT:g} s" if late else f"{MEMORY >> 20} MiB of memory"
        given_up = f"{CPU} s of CPU" if busy else given_up
        problem = f"uWSGI has not read it within {given_up}; does a placeholder hold itself?"
        raise ProfileError(path, problem)
    return printed


def _limit(pid: int) -> None:
    """
    Limit what uWSGI can take: it replaces a placeholder that holds itself without end (2.0.31).

    If the lab is killed meanwhile, the kernel ends it.
    """
    with suppress(ProcessLookupError):
        _lower(pid, resource.RLIMIT_CPU, CPU, CPU + 1)  # the first with a signal that tells it
        _lower(pid, resource.RLIMIT_AS, MEMORY)
        _lower(pid, resource.RLIMIT_FSIZE, 0)  # it writes no file, only its output


def _lower(pid: int, what: int, *most: int) -> None:
    """Set a limit, or two; what the caller has set lower stays, as only root may lift it."""
    _, limit = resource.prlimit(pid, what)
    soft, hard = (
        bound if limit == resource.RLIM_INFINITY else min(bound, limit)
        for bound in (most[0], most[-1])
    )
    resource.prlimit(pid, what, (soft, hard))


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def whole(printed: Sequence[str]) -> bool:
    """Return whether uWSGI has printed a configuration to its end."""
    return OPENING in printed and printed[-1].endswith(CLOSING)


def listed(printed: Sequence[str]) -> list[str]:
    """Return the lines of the options in what uWSGI printed by `ASKING`, without those of that."""
    lines = printed[printed.index(OPENING) + 2 :]  # after [uwsgi]
    # What `log-date` or `log-prefix` put before each line has one length, whatever it says.
    prefix = lines[0].index(" = ".join(HOOKS[0]))
    options = (line[prefix:] for line in lines[len(HOOKS) :])
    return list(takewhile(lambda line: line != CLOSING, options))


def pairs(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return the options of such lines with their values."""
    return [(name, value) for name, _, value in (line.partition(" = ") for line in lines)]
