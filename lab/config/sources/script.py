"""
A script for a shell, by its name or its first line: the commands that it starts.

What a condition decides is not: each command in a branch counts. A start command is called as its
program is.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.config.line import SourceFile
from lab.config.shell import is_for_shell, starts_in
from lab.config.sources import with_own_names
from lab.config.start import StartCommand, Surroundings

CALLED = r".*\.(?:ba|da|a)?sh|(?:.*[._-])?(?:run|start|serve|server|web|boot|entrypoint)"


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the commands that start a server."""
    if not is_for_shell(path.name, text):
        return ()
    file = SourceFile(path, text)
    around = Surroundings(in_shell=True, has_other_variables=True)
    commands = starts_in("", file.part(0, len(text)), around)
    return with_own_names(replace(start, name=start.program) for start in commands)
