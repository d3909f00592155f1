"""
A package.json: its `scripts`, by their names.

A shell takes them apart.

Source: https://docs.npmjs.com/cli/using-npm/scripts
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lab.config.files import UnreadableError, check_nesting
from lab.config.line import SourceFile
from lab.config.shell import starts_in
from lab.config.sources import DEVELOPMENT, with_own_names
from lab.config.start import StartCommand, Surroundings
from lab.errors import ProfileError

CALLED = r"package\.json"

_PAIR = re.compile(r'("(?:\\.|[^"\\])*")\s*:\s*("(?:\\.|[^"\\])*")')


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the scripts that start a server; one for development is not meant by default."""
    return with_own_names(_starts(SourceFile(path, text)))


def _starts(file: SourceFile) -> Iterator[StartCommand]:
    try:
        check_nesting(file.text)
        whole = json.loads(file.text or "{}")
    except UnreadableError as error:
        raise ProfileError(file.path, str(error), error.line) from None
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise ProfileError(
            file.path, f"is not JSON: {str(error).partition(':')[0]}", line
        ) from None
    scripts = whole.get("scripts") if isinstance(whole, dict) else None
    behind = max(0, file.text.find('"scripts"'))
    left = dict(scripts) if isinstance(scripts, dict) else {}
    for pair in _PAIR.finditer(file.text, behind):
        name, command = json.loads(pair[1], strict=False), json.loads(pair[2], strict=False)
        if left.get(name) == command:
            del left[name]
            line = file.line(command, pair.start(2) + 1, pair.end(2))
            is_default = not DEVELOPMENT.fullmatch(name)
            for start in starts_in(name, line, Surroundings(in_shell=True)):
                yield replace(start, is_default=is_default)
