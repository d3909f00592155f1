"""
The options that uWSGI really gets from an ini file, asked of uWSGI itself.

`uwsgi X.ini --show-config` prints every option after includes, conditions and variables, which no
parser of our own could promise to do alike. With `--no-server` it still loads the application and
binds the router's port (2.0.31), so it is ended as soon as the configuration is printed.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from lab.errors import ProfileError
from lab.profile_header import line_of
from lab.servers.launch import binary, environment

HOST, PORT = "192.0.2.1", "61999"
"""An address that no machine has (RFC 5737): what is resolved with it can be told from what a
profile fixes, and cannot be bound."""

OPENING, CLOSING = ";uWSGI instance configuration", ";end of configuration"

LOG_DATE = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [0-9]{4} - ")
"""What `log-date` puts before each line, those of the configuration too."""

CONTROL = frozenset({"ini", "include", "endif", "set-ph", "set-placeholder", "show-config"})
"""Options that shape the configuration and do not survive into it; so do all that begin `if-`."""


def read_options(path: Path, root: Path) -> tuple[tuple[str, str], ...]:
    """
    Return the resolved options of an ini file in order, repeats kept.

    Address and folders are written {host}, {port}, {root} and {here}, so that they are the same in
    every checkout and on every port.

    Args:
        path: The file.
        root: This project's folder.

    Raises:
        ProfileError: uWSGI refuses the file; with uWSGI's own words.
        LabError: uWSGI is not installed.
    """
    command = (binary(), str(path.resolve()), "--show-config", "--no-server")
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(BIND=HOST, PORT=PORT),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        printed: list[str] = []
        try:
            for raw in process.stdout:
                line = raw.decode("utf-8", "replace").rstrip("\n")
                printed.append(LOG_DATE.sub("", line, count=1))
                if printed[-1] == CLOSING:
                    break
        finally:
            # It is our child and not yet waited for, so the number is still its own.
            os.killpg(process.pid, signal.SIGKILL)
    if not printed or printed[-1] != CLOSING:
        raise _refusal(path, printed)
    replacements = ((str(root.resolve()), "{root}"), (str(path.resolve().parent), "{here}"))
    return tuple(
        (key, _portable(value, replacements))
        for key, value in parse_config(printed[printed.index(OPENING) :])
    )


def parse_config(lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """
    Return the options of what `--show-config` printed, without those that only shape it.

    >>> parse_config(["[uwsgi]", "no-server = true", "set-ph = a=1", "a = 1", "http = :1"])
    (('http', ':1'),)
    """
    pairs = [line.partition(" = ")[::2] for line in lines if " = " in line]
    options: list[tuple[str, str]] = []
    placeholder: tuple[str, str] | None = None
    for key, value in pairs:
        if key in {"set-ph", "set-placeholder"}:
            name, _, content = value.partition("=")
            placeholder = (name, content)
        elif (key, value) == placeholder:
            placeholder = None  # uWSGI lists the placeholder itself once more
        elif key not in CONTROL and not key.startswith("if-"):
            options.append((key, value))
    if ("no-server", "true") in options:
        options.remove(("no-server", "true"))
    return tuple(options)


def _portable(value: str, replacements: Iterable[tuple[str, str]]) -> str:
    if value.startswith("/"):
        value = os.path.normpath(value)
    for folder, name in replacements:
        value = re.sub(re.escape(folder) + r"(?=/|$)", name, value)
    return value.replace(HOST, "{host}").replace(PORT, "{port}")


def _refusal(path: Path, printed: Sequence[str]) -> ProfileError:
    said = next((line for line in reversed(printed) if line.strip()), "nothing")
    if unknown := re.search(r"unknown config directive: (\S+)", said):
        for read in _files(path, printed):
            number = line_of(read.read_text(encoding="utf-8", errors="replace"), unknown[1])
            if number is not None:
                return ProfileError(read, f"uWSGI has no option {unknown[1]!r}: {said}", number)
    return ProfileError(path, f"uWSGI refuses it: {said}")


def _files(path: Path, printed: Sequence[str]) -> Sequence[Path]:
    opening = "[uWSGI] getting INI configuration from "
    named = [line.removeprefix(opening) for line in printed if line.startswith(opening)]
    included = [Path(os.path.normpath(name)) for name in named]
    return [path, *(each for each in included if each.is_file() and each != path.resolve())]
