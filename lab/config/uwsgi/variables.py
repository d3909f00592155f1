"""
What uWSGI puts in the place of variables: %d and its kind in a whole text, $(X) and %(x) in values.

Texts are bytes in Latin-1 here, because uWSGI knows no characters: `as_bytes` and `as_text`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab.config.files import LARGEST, UnreadableError, read_bytes
from lab.config.uwsgi.table import atoi, uwsgi_options

_BRACKETS = re.compile("[()]")

MOST = 500
"""Times that something is replaced in a value. Where that is not enough, it contains itself."""

LONGEST = 1 << 16
"""Characters of the longest value that is made by replacing something."""


INCLUDES = 100
"""Files that a configuration may include, and values that it may take from files, all together."""


class TooMuchError(Exception):
    """A configuration is more than is read; the message says of what."""


@dataclass(slots=True)
class Budget:
    """What one reading may take, so that it ends whatever stands in the files."""

    characters: int = 4 * LARGEST
    """Of files and of what is made of them; a file that is read twice counts twice."""

    files: int = INCLUDES
    """That are looked for; the same file again is another one."""

    brackets: int = 4 << 20
    """That are looked at where names are replaced."""

    def spend(self, characters: int = 0, brackets: int = 0, files: int = 0) -> None:
        """
        Take some of it.

        Raises:
            TooMuchError: There is not that much left.
        """
        self.characters -= characters
        self.brackets -= brackets
        self.files -= files
        if self.characters < 0:
            raise TooMuchError(
                "its files, each as often as it is included, and its values are more than "
                f"{4 * LARGEST >> 20} MiB"
            )
        if self.brackets < 0:
            raise TooMuchError("its values have millions of brackets")
        if self.files < 0:
            raise TooMuchError(f"it includes more than {INCLUDES} files")


def logical_lines(text: str, magic: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    r"""
    Yield the lines as they are when the variables have been replaced, with where they begin.

    A variable that is unknown is empty; so is a percent sign at the end of a line, which joins it
    with the next.

    >>> list(logical_lines("a = %n%%\nb = c%\nd", {"n": "x", "%": "%"}))
    [(1, 'a = x%'), (2, 'b = cd')]
    """
    if "%" not in text:
        yield from enumerate(text.split("\n"), 1)
        return
    parts: list[str] = []
    begins = number = 1
    at = 0
    for match in re.finditer(r"%(?s:.)?|\n", text):
        parts.append(text[at : match.start()])
        at = match.end()
        number += match[0].endswith("\n")
        if match[0] == "\n":
            yield begins, "".join(parts)
            parts, begins = [], number
        else:
            parts.append(magic.get(match[0][1:], ""))
    yield begins, "".join((*parts, text[at:]))


def replaced(
    value: str, symbol: str, meaning: Callable[[str], str | None], budget: Budget
) -> str | None:
    """
    Return a value with `symbol(key)` replaced where the key means something; None without an end.

    After each one uWSGI looks again, from the second character on: what stands at the very
    beginning is not seen then.

    Raises:
        TooMuchError: It gets longer than `LONGEST`, or takes more than the budget has.
    """
    opening, at = f"{symbol}(", 0
    for _ in range(MOST):
        start = value.find(opening, at)
        while start >= 0:
            end = _closing(value, start + 2, budget)
            replacement = (
                meaning(value[start + 2 : end]) if end is not None and end > start + 2 else None
            )
            if replacement is not None and end is not None:
                value = value[:start] + replacement + value[end + 1 :]
                break
            start = value.find(opening, start + 2)
        else:
            return value
        budget.spend(characters=len(value))
        if len(value) > LONGEST:
            raise TooMuchError(f"a value gets longer than {LONGEST >> 10} KiB")
        at = 1
    return None


def _closing(value: str, at: int, budget: Budget) -> int | None:
    """Return where the bracket closes that was opened before *at*."""
    depth = 0
    for number, match in enumerate(_BRACKETS.finditer(value, at, at + LONGEST)):
        if match[0] == "(":
            depth += 1
        elif depth == 0:
            budget.spend(brackets=number)
            return match.start()
        else:
            depth -= 1
    budget.spend(brackets=value.count("(", at, at + LONGEST) + 1)
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


def of_machine(folder: Path, cpus: int | None = None) -> dict[str, str]:
    """
    Return the variables that the machine decides, and the escapes.

    Args:
        folder: The folder in which the server is started.
        cpus: The CPUs of the machine; None: those of this machine.
    """
    user, group = str(os.getuid()), str(os.getgid())
    variables = {"%": "%", "(": "%(", "[": "\033", "u": user, "g": group}
    variables |= {"U": _name("/etc/passwd", user), "G": _name("/etc/group", group)}
    variables |= {"v": as_bytes(str(folder)), "V": "2.0.31", "h": as_bytes(os.uname().nodename)}
    return variables | {"k": str(cpus or os.sysconf("SC_NPROCESSORS_ONLN"))}


@cache
def _name(file: str, number: str) -> str:
    """Return the name of a user or group; the system's functions may ask a network for it."""
    try:
        lines = read_bytes(Path(file)).decode("latin-1").splitlines()
    except UnreadableError:
        return number
    named = (line.split(":") for line in lines)
    return next((fields[0] for fields in named if fields[2:3] == [number]), number)


def of_file(folder: str, file: str) -> dict[str, str]:
    """Return the variables that the name of a file decides, which may hang on *folder*."""
    path = Path(as_text(folder), as_text(file))
    full = as_bytes(str(path if path.is_symlink() else path.resolve()))
    holds, _, base = full.rpartition("/")
    stem, dot, ending = base.rpartition(".")
    parts = [part for part in holds.split("/") if part]
    variables = {str(number): "".join(parts[number : number + 1]) for number in range(10)}
    variables |= {"o": file, "p": full, "s": base, "d": f"{holds}/", "c": holds.rpartition("/")[2]}
    return variables | {"e": ending if dot else "", "n": stem if dot else base}


def as_options(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """
    Yield the variables that uWSGI takes for options, with the option and its value.

    They come before all that a file says; what is no option does nothing.

    >>> list(as_options({"UWSGI_MAX_REQUESTS": "9", "PATH": "/bin", "UWSGI_SHOP": "pears"}))
    [('UWSGI_MAX_REQUESTS', 'max-requests', '9')]
    """
    for name, value in environ.items():
        option = name.removeprefix("UWSGI_").lower().replace("_", "-")
        if name.startswith("UWSGI_") and option in uwsgi_options().entries:
            yield name, option, value


def as_bytes(text: str) -> str:
    """Return the bytes of a text, a character each, as uWSGI compares them."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def as_text(raw: str) -> str:
    """Return the text of such bytes; what is no UTF-8 becomes surrogates."""
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")
