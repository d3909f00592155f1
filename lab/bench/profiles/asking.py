"""What uWSGI prints of a configuration that it reads, and an end to that."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from threading import Timer

from lab.errors import ProfileError

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
        each if limit == resource.RLIM_INFINITY else min(each, limit)
        for each in (most[0], most[-1])
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
