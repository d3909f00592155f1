"""
A fly.toml: the commands in `[processes]`, by the name of the process.

They take the place of the image's CMD. Fly stops a process by SIGINT unless `kill_signal` is set.

Source: https://fly.io/docs/reference/configuration/
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.config.files import UnreadableError, check_nesting
from lab.config.line import SourceFile, variables
from lab.config.shell import starts_in
from lab.config.sources import with_own_names
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings, seconds_of
from lab.errors import ProfileError

CALLED = r"fly(?:\.[\w-]+)?\.toml"


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the processes that start a server."""
    return with_own_names(_starts(SourceFile(path, text)))


def _starts(file: SourceFile) -> Iterator[StartCommand]:
    whole = _table(file)
    stop_signal = str(whole.get("kill_signal") or "SIGINT")
    stop_time = seconds_of(str(whole.get("kill_timeout", 5)))
    around = Surroundings(
        container=True, supervisor="fly", stop_signal=stop_signal, stop_time=stop_time
    )
    environ: dict[str, tuple[str | None, Spot]] = {
        name: (str(value), file.spot(_place(file, "env", name)))
        for name, value in _entries(whole, "env")
    }
    for name, command in _entries(whole, "processes"):
        if isinstance(command, str):
            begins = _place(file, "processes", name)
            line = file.line(command, begins, len(file.text))
            yield from starts_in(name, line, around, variables(environ))


def _table(file: SourceFile) -> Mapping[str, Any]:
    try:
        check_nesting(file.text)
        return tomllib.loads(file.text)
    except UnreadableError as error:
        raise ProfileError(file.path, str(error), error.line) from None
    except ValueError as error:
        raise ProfileError(file.path, f"is not TOML: {error}") from None


def _entries(whole: Mapping[str, Any], table: str) -> Iterator[tuple[str, Any]]:
    entries = whole.get(table)
    yield from entries.items() if isinstance(entries, dict) else ()


def _place(file: SourceFile, table: str, key: str) -> int:
    """Return where the value of a key begins; of one that is spelt otherwise, its table."""
    header = re.search(rf"^[ \t]*\[?[ \t]*{table}\b", file.text, re.MULTILINE)
    begins = header.end() if header else 0
    name = re.compile(rf"""(?<![\w-])["']?{re.escape(key)}["']?[ \t]*=[ \t]*["']*""")
    value = name.search(file.text, begins)
    return value.end() if value else begins
