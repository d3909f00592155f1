"""
What must be right before uWSGI starts, and what uWSGI itself would start without.

A number that is none, of which it takes 0; an address that it cannot find; a second section; a
socket that another instance has. `app.serve` asks all of it before it becomes uWSGI.

Sources: uWSGI 2.0.31, core/ini.c, core/uwsgi.c (vacuum), core/utils.c (uwsgi_apply_config_pass) and
core/socket.c (bind_to_unix); unix(7), SO_PEERCRED.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

NUMERIC = Path(__file__).with_name("numeric-options.txt")
"""Options whose value is a number; how they were found stands in the file."""

NUMBERS = {"PORT": 65535, "PROCESSES": 1024}
"""
Variables that are numbers from 1, and up to which.

A process takes megabytes, so that one digit too many would take all of the memory.
"""

LONGEST = 102 - len(".stats")
"""Bytes of a socket's path: uWSGI's limit, of which the path of the statistics takes some."""

INCLUDES = frozenset({"ini", "include"})

EXPANDED = re.compile(r"[%$@]")
"""Begins what uWSGI replaces in a value; what will stand there cannot be known here."""


class Option(NamedTuple):
    """A line of an ini, as it is written."""

    path: Path
    number: int
    name: str
    value: str


def read(name: str) -> Iterator[Option]:
    """
    Yield what stands in an ini, and in those that it includes.

    A file that only uWSGI can know the name of is left to it.

    Args:
        name: As uWSGI is told: a path, or a path and after a colon a section.

    Raises:
        ValueError: A section is there twice; uWSGI takes the values of the second in silence.
        OSError: A file cannot be read.
    """
    pending, seen = [name], set()
    while pending:
        path, section = _file_and_section(pending.pop())
        if (path, section) in seen:
            continue
        seen.add((path, section))
        for option in _options(path, section):
            yield option
            if option.name in INCLUDES:
                pending += _existing(option, path)


def _existing(option: Option, path: Path) -> Iterator[str]:
    """Yield what a line includes; raise ValueError if the file does not exist."""
    for name in _included(option.value, path):
        file, _ = _file_and_section(name)
        if not file.exists():
            line = f"{option.path}:{option.number}: {option.name} = {option.value}"
            missing = f"{file.absolute()} does not exist, so uWSGI does not start"
            raise ValueError(f"{line}: {missing}: create it, or leave the line out")
        yield name


def check_numbers(options: Iterable[Option]) -> None:
    """
    Refuse a number that is none: uWSGI takes the digits that it begins with, or 0, in silence.

    A value in which uWSGI replaces something is left to it.

    Raises:
        ValueError: With file, line and option.
    """
    lines = NUMERIC.read_text(encoding="utf-8").splitlines()
    numeric = frozenset(line for line in lines if not line.startswith("#"))
    for path, number, name, value in options:
        if name in numeric and not EXPANDED.search(value) and (problem := _problem(value)):
            raise ValueError(f"{path}:{number}: {name} = {value}: {problem}")


def _problem(value: str) -> str | None:
    """Say why *value* is no number to uWSGI; None where it is one."""
    if re.fullmatch("[+-]?[0-9]+", value):
        return None
    digits = re.match(r"[+-]?[0-9]+", value)
    problem = f"not a number, and uWSGI takes {digits[0] if digits else 0}"
    if re.search("[;#]", value):
        return f"{problem}: a comment stands on a line of its own"
    return f"{problem}: write digits alone"


def _file_and_section(name: str) -> tuple[Path, str]:
    """Return the file and the section of `file.ini` or `file.ini:section`."""
    file, colon, section = name.rpartition(":")
    if colon and not Path(name).exists():
        return Path(file), section or "uwsgi"
    return Path(name), "uwsgi"


def _options(path: Path, wanted_section: str) -> Iterator[Option]:
    """Yield the options that uWSGI takes from a section."""
    section, first = "", 0
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip(" \t\r")
        if line.startswith("["):
            section = line[1:-1]
            if section == wanted_section and first:
                raise ValueError(
                    f"{path}:{number}: a second section [{section}], whose values replace "
                    f"those of the one in line {first}: make them one"
                )
            first = first or (number if section == wanted_section else 0)
        elif section == wanted_section and line and line[0] not in ";#":
            name, _, value = line.partition("=")
            yield Option(path, number, name.rstrip(" \t\r"), value.strip(" \t\r"))


def _included(value: str, path: Path) -> Iterator[str]:
    """Yield the file that a line of *path* includes, unless only uWSGI can know which one."""
    for magic, text in (("%d", f"{path.absolute().parent}/"), ("%p", f"{path.absolute()}")):
        if value.startswith(magic) and not EXPANDED.search(value[len(magic) :]):
            yield text + value[len(magic) :]
    if not EXPANDED.search(value) and "://" not in value and value != "-":
        yield f"{path}{value}" if value.startswith(":") else value


def asks(options: Iterable[Option], name: str) -> bool:
    """Return whether a profile asks for a variable: by a condition, or in a value."""
    conditions = ("if-env", "ifenv", "if-not-env")
    return any(
        (option.name in conditions and option.value.partition("=")[0] == name)
        or f"$({name})" in option.value
        for option in options
    )


def check_variable(name: str, value: str) -> None:
    """
    Refuse a variable that uWSGI would misread, and then start all the same.

    uWSGI reads "four" as 0: a master without workers, which accepts and never answers, or a port
    that nobody knows. An address that is empty is every address of the machine, and one that it
    cannot find is none.

    Raises:
        ValueError: It is no address, or no number in its range.
    """
    if name not in NUMBERS:
        if not _is_address(value.strip()):
            raise ValueError(
                f"{name}={value!r}: expected an address, or a name that has one, or leave it "
                "unset; IPv6 stands in brackets, as [::1]"
            )
        return
    number = int(value) if re.fullmatch("[0-9]{1,9}", value) else 0
    if not 1 <= number <= NUMBERS[name]:
        raise ValueError(
            f"{name}={value!r}: expected a number from 1 to {NUMBERS[name]}, or leave it unset"
        )


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


def expanded(text: str, environ: Mapping[str, str]) -> str | None:
    """
    Return the first part of *text* that uWSGI would replace; of `@(exec://...)` it runs the rest.

    >>> expanded("/a$(HOME)", {"HOME": "/"}), expanded("/a$(b c)", {})
    ('$(HOME)', None)
    """
    if match := re.search(r"[@%]\(", text):
        return match[0]
    names = re.findall(r"\$\(([^()]+)\)", text)
    return next((f"$({name})" for name in names if name in environ), None)


def check_name(path: str, environ: Mapping[str, str]) -> None:
    """
    Refuse a SOCKET that uWSGI would take for something else.

    Raises:
        ValueError: It is no absolute path, or too long; has a colon, which makes it an address;
            or something that uWSGI expands.
    """
    expected = f"SOCKET={path!r}: expected the path of a UNIX socket, as /run/fibonacci/a.sock"
    if not path.startswith("/"):
        raise ValueError(f"{expected}: it begins with a slash")
    if not path.strip("/"):
        raise ValueError(f"{expected}: it has a name")
    if placeholder := expanded(path, environ):
        raise ValueError(f"{expected}: uWSGI expands {placeholder}")
    if ":" in path:
        raise ValueError(f"{expected}: a colon would make it an address")
    if any(ord(character) < 32 for character in path) or path != path.strip():
        raise ValueError(f"{expected}: without line breaks, and without blanks at its ends")
    if len(os.fsencode(path)) > LONGEST:
        raise ValueError(f"{expected}: of {LONGEST} bytes at the most")


def check_folder(folder: Path) -> None:
    """
    Refuse a folder in which no socket can be made; uWSGI's own message does not name it.

    Raises:
        ValueError: There is no such folder, or this user may not write to it.
    """
    if not folder.is_dir():
        raise ValueError(f"no folder {folder} for the socket: make it, or set SOCKET")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{folder} cannot be written by user {os.geteuid()}: see chown")


def check_free(path: Path) -> None:
    """
    Refuse a socket that uWSGI would take away from others.

    It removes any file that has the socket's name; and when an instance whose socket it took
    stops, that one removes the statistics' socket of its successor.

    Raises:
        ValueError: Another kind of file has the name, or a process that is alive listens there.
    """
    for socket_path in (path, path.with_name(f"{path.name}.stats")):
        if os.path.lexists(socket_path) and not socket_path.is_socket():
            raise ValueError(f"{socket_path} is there and is no socket: remove it, or set SOCKET")
    pid = listener(path)
    if pid is not None:
        who = f"process {pid}" if pid else "a process of another container"
        raise ValueError(f"{who} listens on {path}: stop it first, or set SOCKET")


def listener(path: Path) -> int | None:
    """
    Return the process that listens on a socket; 0 where it is in another container.

    Returns:
        None where nobody does, and where the process that began to listen is dead: after a master
        was killed, a worker goes on with the request that it is at, for as long as that takes, and
        must not keep the next instance from starting.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.setblocking(False)
        try:
            connection.connect(str(path))
        except OSError:  # nobody, or its queue is full; better two instances than none
            return None
        size = struct.calcsize("3i")
        packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid: int = struct.unpack("3i", packed)[0]
    if not pid:
        return 0
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return None
    return None if line.rpartition(") ")[2][0] in "ZX" else pid
