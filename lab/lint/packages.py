"""The files beside a configuration that pin packages, and the packages of those that have all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lab.config.configuration import Config, Known
from lab.config.files import UnreadableError, read_bytes

MOST_BYTES = 1 << 20
"""Bytes of the largest file that is read: a uv.lock of 200 packages has half of it."""

LOCKS = ("uv.lock", "poetry.lock")
"""Files that have every package."""

COMPILED = ("requirements.txt",)
"""Files that have every package if a tool wrote them."""

REQUIRED = frozenset({"click", "h11"})
"""What uvicorn requires: a file that pins these has all packages, and was not written by hand."""

_LOCKED = re.compile(r'^\[\[package\]\]\s+name = "([\w.-]+)"', re.MULTILINE)
_PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*==")


class Packages(NamedTuple):
    """The packages that a file has, and its name."""

    file: str
    packages: frozenset[str]


def installed_with(config: Config, package: str) -> Packages | None:
    """
    Return the packages of the environment that has *package*; None: unknown.

    A lock has all, and so has a requirements.txt that pins what uvicorn requires.
    """
    for folder in folders_of(config):
        for name in (*LOCKS, *COMPILED):
            text = text_of(folder / name, config.known)
            packages = frozenset(_in_lock(text) if name in LOCKS else _compiled(text))
            if package in packages:
                return Packages(name, packages)
    return None


def folders_of(config: Config) -> list[Path]:
    """Return where files of a configuration's project are: beside it, and in the current folder."""
    file = config.start.spot.file if config.start else config.file
    here, folder = Path.cwd(), file.absolute().parent
    return [folder, here] if folder != here and folder.is_relative_to(here) else [folder]


def text_of(path: Path, known: Known) -> str:
    """Return the text of a file that pins packages; empty of one that may not or cannot be read."""
    if path in known.overlay:
        return known.overlay[path]
    with suppress(UnreadableError, UnicodeDecodeError):
        if known.reaches(path):
            return read_bytes(path, MOST_BYTES).decode()
    return ""


def _in_lock(text: str) -> Iterator[str]:
    yield from (match[1].lower() for match in _LOCKED.finditer(text))


def _compiled(text: str) -> Iterator[str]:
    """Yield the packages of a file of pins; none of one that was written by hand."""
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    if any(line.startswith(("-r", "--requirement", "-e", "--editable")) for line in lines):
        return
    names = {match[1].lower() for line in lines if (match := _PINNED.match(line))}
    if names >= REQUIRED:
        yield from names
