"""Finds the configurations in a folder by their names, as `lab lint FOLDER` and jobs of CI ask."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lab.config import servers
from lab.config.server import Server
from lab.errors import ProfileError

FOREIGN = frozenset({"node_modules", "site-packages", "__pycache__"})
"""Folders of what others wrote; those that are hidden, and virtual environments, are so, too."""

DEEPEST = 100
"""Folders in each other that are searched."""

LOOKED_AT = 1 << 20
"""Characters of a file in which its options are looked for."""


def configurations(folder: Path) -> Iterator[Path]:
    """
    Yield the configurations in a folder, and in those below it, in the order of their paths.

    Raises:
        ProfileError: There are folders deeper in it than `DEEPEST`.
    """
    searched = [each for each in servers.every() if each.called]
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        below, files = _inside(here)
        if below and depth == DEEPEST:
            problem = f"has folders more than {DEEPEST} deep in each other, so it is not searched"
            raise ProfileError(folder, problem)
        waiting += ((here / each, depth + 1) for each in sorted(below, reverse=True))
        for name in sorted(files):
            server = next((each for each in searched if re.match(each.called, name)), None)
            if server and _is_one(path := here / name, server):
                yield path


def _inside(folder: Path) -> tuple[list[str], list[str]]:
    """Return the names of the folders in a folder that are to be searched, and of its files."""
    below: list[str] = []
    files: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for each in entries:
            if each.is_dir(follow_symlinks=False):
                if not _is_foreign(folder / each.name):
                    below.append(each.name)
            else:  # a link to a folder is no file, which is seen when it is opened
                files.append(each.name)
    return below, files


def _is_foreign(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in FOREIGN
    return hidden or (folder / "pyvenv.cfg").exists()


def _is_one(path: Path, server: Server) -> bool:
    """Return whether a file that is called so is one; what cannot be read is none."""
    if not path.is_file():  # a FIFO would never end
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return server.has_options(file.read(LOOKED_AT))
    except OSError:
        return False
