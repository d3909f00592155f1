"""
What must be right before uWSGI starts, and what uWSGI itself would start without.

A profile runs it before a word is logged; an exit status other than 0 stops the start:

    env = FIB_HOME=%d..
    exec-asap = python3 -I -S "$FIB_HOME/app/preflight.py" settings $PPID BIND PORT PROCESSES
    exec-asap = python3 -I -S "$FIB_HOME/app/preflight.py" log

In quotes, the shell takes whatever characters the folder's name has, and does not run them. The
module imports nothing of this project and asks nothing of this machine, so any Python can run it:
isolated (-I), and without looking for installed packages (-S), which makes it 20 ms of 40.

Sources: uWSGI 2.0.31, core/ini.c and core/uwsgi.c; fcntl(2), O_NONBLOCK, which belongs to the open
file and so is uWSGI's, too.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

MOST = 1024
"""Workers of an instance. Each takes megabytes; a digit too many takes all of the memory."""

RANGES = {"PORT": 65535, "PROCESSES": MOST}
"""Variables that are numbers from 1, and up to which. Any other is an address."""

NUMERIC = Path(__file__).resolve().parents[1] / "uwsgi/numeric-options.txt"
"""Options whose value is a number; how they were found stands in the file."""

INCLUDES = frozenset({"ini", "include"})

EXPANDED = re.compile(r"[%$@]")
"""Begins what uWSGI replaces in a value; what will stand there cannot be known here."""


def check_settings(environ: Mapping[str, str], names: Iterable[str]) -> None:
    """
    Refuse a variable that uWSGI would misread, and then start all the same.

    uWSGI reads "four" as 0: a master without workers, which accepts and never answers, or a port
    that nobody knows. An address that is empty is every address of the machine, and one that it
    cannot find is none.

    Raises:
        ValueError: One of *names* is set, and is no address or no number in its range.
    """
    for name in names:
        value = environ.get(name)
        if value is None:
            continue
        if name not in RANGES:
            if not _is_address(value.strip()):
                raise ValueError(
                    f"{name}={value!r}: expected an address, or a name that has one, or leave it "
                    "unset; IPv6 stands in brackets, as [::1]"
                )
            continue
        number = int(value) if re.fullmatch("[0-9]{1,9}", value) else 0
        if not 1 <= number <= RANGES[name]:
            raise ValueError(
                f"{name}={value!r}: expected a number from 1 to {RANGES[name]}, or leave it unset"
            )


def check_ini(name: str, folder: Path, numeric: frozenset[str]) -> None:
    """
    Refuse what uWSGI reads in silence in an ini file, or in one that it includes.

    That is an option of *numeric* that is no number, of which uWSGI takes the digits that it
    begins with, or 0; and a second section of one name, whose values replace those of the first.
    A value in which uWSGI replaces something is left to it, and so is a file named that way.

    Args:
        name: As uWSGI was told: a path, or a path and after a colon a section.
        folder: What a relative path is relative to.
        numeric: Names of options.

    Raises:
        ValueError: It has one; with file, line and option.
        OSError: A file cannot be read.
    """
    pending, seen = [name], set()
    while pending:
        path, section = _locate(pending.pop(), folder)
        if (path, section) in seen:
            continue
        seen.add((path, section))
        for number, key, value in _options(path, section):
            if key in INCLUDES:
                pending += _included(value, path)
            elif key in numeric and not EXPANDED.search(value):
                problem = _problem(value)
                if problem:
                    raise ValueError(f"{path}:{number}: {key} = {value}: {problem}")


def ini_names(words: Sequence[str]) -> list[str]:
    """
    Return which ini files a command line of uWSGI names.

    >>> ini_names(["uwsgi", "--master", "--ini=a.ini", "b.ini:two", "-H", "x"])
    ['a.ini', 'b.ini:two']
    """
    names = [re.sub("^--(ini|include)=", "", word) for word in words[1:]]
    return [name for name in names if re.search(r"\.ini(:[^/]*)?$", name) and name[0] != "-"]


def never_wait_for_the_log() -> None:
    """
    Let lines be lost where nobody reads them, instead of waiting until somebody does.

    A master that waits in a write neither replaces a dead worker nor obeys SIGTERM. It writes to
    its standard output, and before that to its standard error; containers have a pipe for each. A
    file never makes it wait, and a terminal belongs to others, too.
    """
    for descriptor in (1, 2):
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            os.set_blocking(descriptor, False)


def _is_address(text: str) -> bool:
    """Return whether uWSGI finds the address: of any other text it makes 255.255.255.255."""
    try:
        if text.startswith("[") and text.endswith("]"):
            socket.inet_pton(socket.AF_INET6, text[1:-1])
        else:
            socket.getaddrinfo(text or ":", None, socket.AF_INET)
    except (OSError, UnicodeError):
        return False
    return True


def _locate(name: str, folder: Path) -> tuple[Path, str]:
    """Return the file and the section of `file.ini` or `file.ini:section`."""
    if ":" in name and not (folder / name).exists():
        name, _, section = name.rpartition(":")
        return folder / name, section or "uwsgi"
    return folder / name, "uwsgi"


def _options(path: Path, asked: str) -> Iterator[tuple[int, str, str]]:
    """Yield number, option and value of the lines that uWSGI takes from a section."""
    section, first = "", 0
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip(" \t\r")
        if line.startswith("["):
            section = line[1:-1]
            if section == asked and first:
                raise ValueError(
                    f"{path}:{number}: a second section [{section}], whose values replace "
                    f"those of the one in line {first}: make them one"
                )
            first = first or (number if section == asked else 0)
        elif section == asked and line and line[0] not in ";#":
            key, _, value = line.partition("=")
            yield number, key.rstrip(" \t\r"), value.strip(" \t\r")


def _included(value: str, path: Path) -> Iterator[str]:
    """Yield the file that a line of *path* includes, unless only uWSGI can know which one."""
    for magic, text in (("%d", f"{path.resolve().parent}/"), ("%p", f"{path.resolve()}")):
        if value.startswith(magic) and not EXPANDED.search(value[len(magic) :]):
            yield text + value[len(magic) :]
    if not EXPANDED.search(value) and "://" not in value and value != "-":
        yield f"{path}{value}" if value.startswith(":") else value


def _problem(value: str) -> str | None:
    """Say why *value* is no number to uWSGI; None where it is one."""
    if re.fullmatch("[+-]?[0-9]+", value):
        return None
    digits = re.match(r"[+-]?[0-9]+", value)
    problem = f"not a number, and uWSGI takes {digits[0] if digits else 0}"
    if re.search("[;#]", value):
        return f"{problem}: a comment stands on a line of its own"
    return f"{problem}: write digits alone"


def _check_start(pid: str, names: Sequence[str]) -> None:
    """Check *names* in the environment, and the ini files that process *pid* was started with."""
    check_settings(os.environ, names)
    listed = NUMERIC.read_text(encoding="utf-8").splitlines()
    numeric = frozenset(line for line in listed if not line.startswith("#"))
    words = os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).split("\0")
    inis = ini_names([*words, *filter(None, [os.environ.get("UWSGI_INI")])])
    for name in inis:
        check_ini(name, Path.cwd(), numeric)


if __name__ == "__main__":
    try:
        if sys.argv[1] == "settings":
            _check_start(sys.argv[2], sys.argv[3:])
        else:
            never_wait_for_the_log()
    except (ValueError, OSError) as error:
        sys.exit(f"preflight: {error}")
