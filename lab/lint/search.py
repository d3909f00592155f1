"""Finds the configurations in a folder by their names, as `lab lint FOLDER` and jobs of CI ask."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

NAMES = (
    r"[\w.-]*uwsgi[\w.-]*\.(ini|ya?ml|json|xml)$"
    r"|[\w.-]*gunicorn[\w.-]*\.py$"
    r"|[\w-][\w.-]*\.conf\.py$"
)
"""How files of uWSGI and gunicorn are called; .pre-commit-hooks.yaml has the same."""

FOREIGN = frozenset({"node_modules", "site-packages", "__pycache__"})
"""Folders of what others wrote; those that are hidden, and virtual environments, are so, too."""

OURS = re.compile(r"""^[^\S\n]*(\[uwsgi\]|["']?uwsgi["']?[^\S\n]*:)|<uwsgi\b""", re.MULTILINE)
"""What a file has that is uWSGI's, and not only called so."""

LARGEST = 1 << 20
"""Characters of a file in which that is looked for."""


def configurations(folder: Path) -> Iterator[Path]:
    """Yield the configurations in a folder, and in those below it, in the order of their paths."""
    for here, below, files in os.walk(folder):
        below[:] = sorted(each for each in below if not _is_foreign(Path(here, each)))
        for name in sorted(files):
            path = Path(here, name)
            if re.match(NAMES, name) and (name.endswith(".py") or _is_uwsgis(path)):
                yield path


def _is_foreign(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in FOREIGN
    return hidden or (folder / "pyvenv.cfg").exists()


def _is_uwsgis(path: Path) -> bool:
    """Return whether a file has options of uWSGI's; what cannot be read has none."""
    if not path.is_file():  # a FIFO would never end
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return OURS.search(file.read(LARGEST)) is not None
    except OSError:
        return False
