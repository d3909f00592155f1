"""Reads a configuration of any server that rules are written for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lab.settings import granian, gunicorn
from lab.settings.lint.config import Config, Known
from lab.settings.uwsgi import places

Reader = Callable[[Path, Known], Config]

READERS: dict[str, Reader] = {
    ".ini": places.read,
    ".py": gunicorn.read_file,
    ".cmd": granian.read,
}
"""How a file's name ends -> what reads it."""


def reader_of(path: Path) -> Reader | None:
    """Return what reads a file, by its name; None where nothing does."""
    return next((each for end, each in READERS.items() if path.name.endswith(end)), None)
