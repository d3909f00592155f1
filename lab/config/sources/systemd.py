"""
A unit of systemd: its ExecStart.

No shell takes it apart. $NAME and ${NAME} are variables of the unit. Its name is ExecStart.

Sources: https://www.freedesktop.org/software/systemd/man/systemd.service.html, systemd.exec.html,
systemd.syntax.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lab.config.line import SourceFile, variables
from lab.config.shell import starts_in
from lab.config.sources import with_own_names
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings, seconds_of
from lab.config.words import LITERAL, words_in

CALLED = r".*\.service"

_LINE = re.compile(r"[ \t]*(\w+)[ \t]*=[ \t]*")

_CONTINUED = re.compile(r"\\[ \t]*\r?\n")

_PREFIX = re.compile(r"[@:+!|-]*")
"""What may stand before the program, and says how it is started."""


class _UnitLine(NamedTuple):
    """A line of the section [Service]; its value is as long as it is written."""

    key: str
    value: str
    begins: int


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the commands that start a server."""
    return with_own_names(_starts(SourceFile(path, text)))


def _starts(file: SourceFile) -> Iterator[StartCommand]:
    entries = list(_entries(file.text))
    values = {entry.key: entry.value.strip() for entry in entries}
    folder = values.get("WorkingDirectory", "").lstrip("-")
    around = Surroundings(
        container=False,
        in_shell=False,
        is_first_process=False,
        stop_signal=values.get("KillSignal", ""),
        stop_time=seconds_of(values.get("TimeoutStopSec") or values.get("TimeoutSec") or "90"),
        supervisor="systemd",
        escapes={"$": "$$", "%": "%%"},
        unit_type=values.get("Type", ""),
        restarts=values.get("Restart", "no"),
        folder=Path(folder) if folder.startswith("/") else None,
        has_other_variables="EnvironmentFile" in values,
        user=values.get("User", ""),
        cpus=values.get("CPUAffinity", ""),
        limits={key: value for key, value in values.items() if key.startswith("Limit")},
    )
    environ: dict[str, tuple[str | None, Spot]] = {}
    commands: list[_UnitLine] = []
    for entry in entries:
        if entry.key == "Environment":
            for word, begins, _ in _words(entry):
                name, _, value = word.partition("=")
                environ[name] = value.replace("$", LITERAL), file.spot(begins)
        elif entry.key == "ExecStart":
            commands = [*commands, entry] if entry.value.strip() else []
    for entry in commands:
        words = [(_live(word), begins, ends) for word, begins, ends in _words(entry)]
        if words:
            yield from starts_in("ExecStart", file.words(words), around, variables(environ))


def _entries(text: str) -> Iterator[_UnitLine]:
    """Yield the lines of the section [Service]."""
    section, at = "", 0
    while at < len(text):
        begins, parts = at, list[str]()
        while at < len(text):
            end = text.find("\n", at) + 1 or len(text)
            line, at = text[at:end], end
            is_comment = line.lstrip()[:1] in {"#", ";"}
            continued = _CONTINUED.search(line)
            parts.append(
                " " * len(line)
                if is_comment and parts
                else line[: continued.start()] + " " * (len(line) - continued.start())
                if continued
                else line
            )
            if not continued and not (is_comment and parts[1:]):
                break
        whole = "".join(parts)
        if whole.startswith("["):
            section = whole.strip()
        elif section == "[Service]" and (match := _LINE.match(whole)):
            yield _UnitLine(match[1], whole[match.end() :].rstrip(), begins + match.end())


def _words(entry: _UnitLine) -> list[tuple[str, int, int]]:
    """Return the words of a value, each with its offsets; none of one with an open quote."""
    prefix = _PREFIX.match(entry.value) if entry.key == "ExecStart" else None
    skipped = prefix.end() if prefix else 0
    with suppress(ValueError):
        return [
            (word, entry.begins + skipped + begins, entry.begins + skipped + begins + len(raw))
            for word, raw, begins in words_in(entry.value[skipped:])
        ]
    return []


def _live(word: str) -> str:
    """Return a word as it is started: %% is a %, and $$ a $ that names no variable."""
    return word.replace("%%", "%").replace("$$", LITERAL)
