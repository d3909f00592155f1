"""Finds the configurations in a folder by their names, as `lab lint FOLDER` and jobs of CI ask."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from lab import dialects
from lab.dialects.dialect import Dialect

FOREIGN = frozenset({"node_modules", "site-packages", "__pycache__"})
"""Folders of what others wrote; those that are hidden, and virtual environments, are so, too."""

LOOKED_AT = 1 << 20
"""Characters of a file in which its options are looked for."""


def configurations(folder: Path) -> Iterator[Path]:
    """Yield the configurations in a folder, and in those below it, in the order of their paths."""
    searched = [each for each in dialects.every() if each.called]
    for here, below, files in os.walk(folder):
        below[:] = sorted(each for each in below if not _is_foreign(Path(here, each)))
        for name in sorted(files):
            dialect = next((each for each in searched if re.match(each.called, name)), None)
            if dialect and _is_one(path := Path(here, name), dialect):
                yield path


def _is_foreign(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in FOREIGN
    return hidden or (folder / "pyvenv.cfg").exists()


def _is_one(path: Path, dialect: Dialect) -> bool:
    """Return whether a file that is called so is one; what cannot be read is none."""
    if not path.is_file():  # a FIFO would never end
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return dialect.has_options(file.read(LOOKED_AT))
    except OSError:
        return False
