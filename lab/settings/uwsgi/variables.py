"""
What uWSGI puts in the place of variables: %d and its kind in a whole text, $(X) and %(x) in values.

Texts are bytes in Latin-1 here, because uWSGI knows no characters: `as_bytes` and `as_text`.
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from lab.settings.uwsgi.table import atoi

MOST = 500
"""Times that something is replaced in a value. Where that is not enough, it contains itself."""


def logical_lines(text: str, magic: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    r"""
    Yield the lines as they are when the variables have been replaced, with where they begin.

    A variable that is unknown is empty; so is a percent sign at the end of a line, which joins it
    with the next.

    >>> list(logical_lines("a = %n%%\nb = c%\nd", {"n": "x", "%": "%"}))
    [(1, 'a = x%'), (2, 'b = cd')]
    """
    parts: list[str] = []
    begins = number = 1
    at = 0
    for found in re.finditer(r"%(?s:.)?|\n", text):
        parts.append(text[at : found.start()])
        at = found.end()
        number += found[0].endswith("\n")
        if found[0] == "\n":
            yield begins, "".join(parts)
            parts, begins = [], number
        else:
            parts.append(magic.get(found[0][1:], ""))
    yield begins, "".join((*parts, text[at:]))


def replaced(value: str, symbol: str, meaning: Callable[[str], str | None]) -> str | None:
    """
    Return a value with `symbol(key)` replaced where the key means something; None without an end.

    After each one uWSGI looks again, from the second character on: what stands at the very
    beginning is not seen then.
    """
    at = 0
    for _ in range(MOST):
        for opening in re.finditer(re.escape(symbol) + r"\(", value[at:]):
            start = at + opening.start()
            end = _closing(value, start + 2)
            found = meaning(value[start + 2 : end]) if end is not None and end > start + 2 else None
            if found is not None and end is not None:
                value = value[:start] + found + value[end + 1 :]
                break
        else:
            return value
        at = 1
    return None


def _closing(value: str, at: int) -> int | None:
    """Return where the bracket closes that was opened before *at*."""
    depth = 0
    for position in range(at, len(value)):
        if value[position] == "(":
            depth += 1
        elif value[position] == ")":
            if depth == 0:
                return position
            depth -= 1
    return None


def computed(made: str, operator: str, value: str) -> str:
    """Return two values joined, or what an operator makes of their numbers."""
    left, right = atoi(made), atoi(value)
    match operator:
        case "+":
            return str(left + right)
        case "-":
            return str(left - right)
        case "*":
            return str(left * right)
        case "/":
            return str(int(left / right) if right else 0)
    return made + value


def of_machine(folder: Path) -> dict[str, str]:
    """Return the variables that the machine decides, and the escapes."""
    user, group = str(os.getuid()), str(os.getgid())
    found = {"%": "%", "(": "%(", "[": "\033", "u": user, "U": user, "g": group, "G": group}
    with suppress(KeyError):
        found["U"] = as_bytes(pwd.getpwuid(os.getuid()).pw_name)
    with suppress(KeyError):
        found["G"] = as_bytes(grp.getgrgid(os.getgid()).gr_name)
    found |= {"v": as_bytes(str(folder)), "V": "2.0.31", "h": as_bytes(socket.gethostname())}
    return found | {"k": str(os.sysconf("SC_NPROCESSORS_ONLN"))}


def of_file(folder: str, file: str) -> dict[str, str]:
    """Return the variables that the name of a file decides, which may hang on *folder*."""
    path = Path(as_text(folder), as_text(file))
    full = as_bytes(str(path if path.is_symlink() else path.resolve()))
    holds, _, base = full.rpartition("/")
    stem, dot, ending = base.rpartition(".")
    parts = [part for part in holds.split("/") if part]
    found = {str(number): "".join(parts[number : number + 1]) for number in range(10)}
    found |= {"o": file, "p": full, "s": base, "d": f"{holds}/", "c": holds.rpartition("/")[2]}
    return found | {"e": ending if dot else "", "n": stem if dot else base}


def as_bytes(text: str) -> str:
    """Return the bytes of a text, a character each, as uWSGI compares them."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def as_text(raw: str) -> str:
    """Return the text of such bytes; what is no UTF-8 becomes surrogates."""
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")
