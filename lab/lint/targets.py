"""
The version of a server that serves a configuration, as files beside it pin it.

Only an exact version counts, and files that name several versions name none. Nothing is run.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lab.config.configuration import Config, Known
from lab.config.files import UnreadableError, check_nesting
from lab.errors import UsageError
from lab.lint.packages import LOCKS, folders_of, text_of
from lab.lint.rules.rule import TRIED
from lab.lint.versions import normal, pinned
from lab.model.wording import alternatives

UWSGI = "uwsgi"
"""The program whose version --uwsgi tells."""

PROGRAMS = tuple(name for name in TRIED if name.lower() != UWSGI)
"""Servers whose version may be given, or is looked for."""

MOST_FILES = 20
"""Files requirements*.txt in a folder that are read."""

LONGEST = 1000
"""Characters of the longest requirement, and of the longest table of a package."""

REQUIREMENTS = re.compile(r"requirements.*\.txt")


class TargetVersion(NamedTuple):
    """The version of a server, and the file or the option that has it."""

    program: str
    version: str
    source: str

    def __str__(self) -> str:
        """Return for which version the rules judge, and on which they were tried."""
        tried = TRIED[self.program]
        text = f"Checked for {self.program} {self.version} ({self.source})"
        return f"{text}." if self.version == tried else f"{text}; rules were tried on {tried}."


def given(values: Iterable[str], option: str) -> dict[str, TargetVersion]:
    """
    Return program -> target, of texts such as "gunicorn==23".

    Raises:
        UsageError: One is no such text; the message begins with *option*.
    """
    targets: dict[str, TargetVersion] = {}
    for value in values:
        program, equals, version = (part.strip() for part in value.partition("=="))
        if program == UWSGI:
            raise UsageError(f"{option} {value}: give the program of that version by --uwsgi PATH")
        if program not in PROGRAMS or not equals:
            names = alternatives([f"{name}==VERSION" for name in PROGRAMS])
            raise UsageError(f"{option} {value}: write {names}")
        if normal(version) is None:
            problem = f"{version!r} is no version: write it as in {program}=={TRIED[program]}"
            raise UsageError(f"{option} {value}: {problem}")
        targets[program] = TargetVersion(program, version, option)
    return targets


def target_of(config: Config, targets: Mapping[str, TargetVersion]) -> TargetVersion | None:
    """
    Return the version of the server that serves a configuration; None: unknown.

    Args:
        config: The configuration.
        targets: The targets that are given, which count more than any file.
    """
    program = config.server
    if program not in PROGRAMS or program in targets:
        return targets.get(program)
    folders = folders_of(config)
    return next(filter(None, (_pinned(program, it, config.known) for it in folders)), None)


def _pinned(program: str, folder: Path, known: Known) -> TargetVersion | None:
    """Return the version that the files of a folder pin: its locks, or else its requirements."""
    requirements = [name for name in known.names(folder) if REQUIREMENTS.fullmatch(name)]
    kinds = (
        (LOCKS, _of_lock),
        (requirements[:MOST_FILES], _of_requirements),
        (("pyproject.toml",), _of_project),
    )
    for names, read in kinds:
        pins = {
            version: name
            for name in names
            for version in read(program, text_of(folder / name, known))
        }
        if pins:
            version, name = next(iter(pins.items()))
            return TargetVersion(program, version, name) if len(pins) == 1 else None
    return None


def _of_lock(program: str, text: str) -> Iterator[str]:
    """Yield the versions of a program in a uv.lock or poetry.lock; only its tables are parsed."""
    for start in re.finditer(rf'^\[\[package\]\]\s+name = "{program}"$', text, re.MULTILINE):
        version = _toml(text[start.start() : start.start() + LONGEST].partition("\n\n")[0])
        with suppress(KeyError, IndexError, TypeError):
            yield from filter(None, (normal(version["package"][0]["version"]),))


def _of_requirements(program: str, text: str) -> Iterator[str]:
    """Yield the versions that a requirements file pins a program to."""
    lines = (re.split(r"[#\\]| --", line)[0] for line in text.split("\n"))
    yield from _of_dependencies(program, lines)


def _of_project(program: str, text: str) -> Iterator[str]:
    """Yield the versions that a pyproject.toml pins a program to."""
    table = _toml(text)
    with suppress(AttributeError, TypeError):
        project = table.get("project", {})
        groups = [
            project.get("dependencies", []),
            *project.get("optional-dependencies", {}).values(),
            *table.get("dependency-groups", {}).values(),
        ]
        yield from _of_dependencies(program, (line for group in groups for line in group))
        of_poetry = table.get("tool", {}).get("poetry", {}).get("dependencies", {}).get(program)
        if isinstance(of_poetry, str) and re.fullmatch(r"[\d.]+", of_poetry):
            yield of_poetry


def _of_dependencies(program: str, lines: Iterable[Any]) -> Iterator[str]:
    """Yield the versions to which requirements pin a program."""
    for line in lines:
        if isinstance(line, str) and len(line) < LONGEST and program in line.lower():
            pin = pinned(line.strip())
            if pin and pin.package == program:
                yield pin.version


def _toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML; empty of what is none, or nests too deeply."""
    with suppress(UnreadableError, ValueError, RecursionError):
        check_nesting(text)
        return tomllib.loads(text)
    return {}
