"""Backing services, read from the files of loadtests/backing/."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path

import msgspec

from lab.bench.machine import project
from lab.bench.machine.programs import find_command
from lab.bench.profiles.catalogue import read_header
from lab.errors import ProfileError, UsageError
from lab.model.backing import BackingService
from lab.model.digest import digest_of, without_comments
from lab.model.profile import Profile
from lab.model.workload import Workload

FOUND = frozenset({"name", "file", "digest", "release", "theirs"})
"""Fields of a service that are no key of its file."""


def find() -> list[Path]:
    """Return the files of all backing services, by name."""
    return sorted(project.backing().glob("*.toml"))


def needed(workload: Workload, profiles: Iterable[Profile] = ()) -> tuple[BackingService, ...]:
    """
    Return what the application of *workload*, and what *profiles* need, with the workload's words.

    Raises:
        ProfileError: A file is not there, or says something that it cannot.
        UsageError: A program is not installed, or nothing has a word of the workload's.
    """
    words = dict(workload.words)
    peer_backing = (name for profile in profiles for name in profile.peer.backing)
    names = dict.fromkeys((*workload.backing, *peer_backing))
    backing_services = tuple(read(project.backing() / f"{name}.toml", words) for name in names)
    problems = [
        problem
        for backing_service in backing_services
        if (problem := missing(backing_service)) is not None
    ]
    if unknown := words.keys() - {
        word for backing_service in backing_services for word in backing_service.words
    }:
        problems.append(f"no backing service of it has the word {min(unknown)}")
    if problems:
        raise UsageError(f"workload {workload.name}: {problems[0]}")
    return backing_services


def read(path: Path, words: Mapping[str, str] | None = None) -> BackingService:
    """
    Return the backing service of a file; of *words* it takes those that it has.

    Raises:
        ProfileError: It cannot be read, or a key is unknown or has another value than it may have.
    """
    header = read_header(path)
    keys = [field.name for field in fields(BackingService) if field.name not in FOUND]
    try:
        if unknown := header.table.keys() - set(keys):
            raise ValueError(f"`{min(unknown)}` is none of {', '.join(keys)}")  # noqa: TRY301
        service = msgspec.convert(header.table, BackingService)
    except ValueError as error:  # msgspec's are such
        (*_, key) = re.findall(r"`(?:\$\.)?(\w+)", str(error))
        lines = enumerate(header.text.splitlines(), start=1)
        line = next((n for n, text in lines if re.match(rf"\[?{key}\b", text)), None)
        sound = project.backing() / "upstream.toml"
        raise ProfileError(path, f"{error}; compare {sound}", line) from None
    merged_words = dict(service.words) | {
        k: v for k, v in (words or {}).items() if k in service.words
    }
    files = [path for path in sorted(path.parent.glob(f"{path.stem}.*")) if path.is_file()]
    place = service.path.replace("{here}", str(path.parent))
    folders = map(str, Path("/").glob(place.lstrip("/"))) if "*" in place else ()
    return replace(
        service,
        summary=re.sub(
            r"\{(\w+)\}", lambda word: merged_words.get(word[1], word[0]), service.summary
        ),
        path=max(folders, key=_version, default=place),
        words=merged_words,
        name=path.stem,
        file=path,
        digest=digest_of(
            tuple((file.name, without_comments(file.name, file.read_text())) for file in files)
        ),
        theirs=bool(os.environ.get(service.url)),
    )


def missing(service: BackingService) -> str | None:
    """Return what *service* needs and does not find here, and what installs it; None if nothing."""
    ready = () if service.ready == "http" else (service.ready,)
    lacking = [
        program
        for program, *_ in (*service.prepare, *service.run, *ready, *service.fill)
        if program != "{python}" and find_command(program, service.path) is None
    ]
    if (
        service.user
        and not os.geteuid()
        and service.user not in [u.pw_name for u in pwd.getpwall()]
    ):
        lacking.append(f"the user {service.user}")
    if service.theirs or not lacking:
        return None
    hint = f" ({project.as_installed(service.needs)})" if service.needs else ""
    return f"backing service {service.name} needs {lacking[0]}{hint}, which is not installed"


def _version(path: str) -> list[int]:
    """Return the numbers in *path*, so that 15 comes after 9."""
    return [int(number) for number in re.findall(r"\d+", path)]
