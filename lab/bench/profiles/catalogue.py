"""
Find the profiles, and read one.

A profile of this project is an ini under profiles/, or a TOML with the commands of another server
under profiles/peers/. A TOML beside an ini of the same name starts the ini and a proxy in front of
it. A user's configuration, which is served from a private copy, is an ini, a gunicorn.conf.py, or a
command (`lab.config.command`).
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lab.bench.machine import project
from lab.bench.machine.runtime import UWSGI
from lab.bench.profiles.header import ProfileHeader, line_of, parse_ini, parse_toml
from lab.bench.profiles.peer import APP, read_peer
from lab.bench.profiles.reading import Reading, options_of, read_ini, read_settings
from lab.config import command, reading, servers, sources
from lab.config.files import UnreadableError, check_size, read_bytes
from lab.config.reading import Source
from lab.config.uwsgi import keeps_connections
from lab.config.uwsgi.private import private
from lab.errors import ProfileError
from lab.model.digest import digest_of
from lab.model.profile import PrivateCopy, Profile
from lab.model.runtime import OURS, OWN, Runtime

KINDS = frozenset({".ini", ".py", ".toml"})
"""Endings of the files that are profiles."""


def find() -> tuple[str, ...]:
    """Return the names of all profiles of this project: inis in alphabetical order, then peers."""
    return tuple(path.stem for path in (*_our_files(), *sorted(project.peers().glob("*.toml"))))


def check_names(names: Iterable[str]) -> None:
    """Raise ProfileError for the first name that is neither a profile nor a configuration."""
    for name in names:
        _located(name)


def read(name: str, runtime: Runtime = OURS, *, ours: bool = False) -> Profile:
    """Read and resolve a profile, as `with_reading` does."""
    return with_reading(name, runtime, ours=ours)[0]


def with_reading(
    name: str, runtime: Runtime = OURS, *, ours: bool = False
) -> tuple[Profile, Reading | None]:
    """
    Read and resolve a profile; return it with the reading of its file, or None for a command.

    Args:
        name: The name of a profile of this project; the path of an ini, with or without a section,
            of a TOML or of a gunicorn.conf.py (with a slash or suffix); or a command.
        runtime: The runtime of its server.
        ours: See `described`.

    Raises:
        ProfileError: It does not exist, its header is incomplete, or it cannot be read or served.
    """
    profile = described(name, ours=ours)
    here = (runtime if profile.private_copy else runtime.for_ours()).started_in(profile.cwd)
    if profile.commands:
        folder = runtime.chdir if profile.private_copy else None
        is_users_file = _is_users_own(profile.path) and profile.path.is_file()
        reading = read_settings(profile.path, here) if is_users_file else None
        return (servers.of(profile).with_chdir(profile, folder) if folder else profile), reading
    reading = read_ini(profile.path, here, profile.section)
    options, altered_by_user = options_of(reading, here)
    private_copy = profile.private_copy
    if private_copy is not None:
        try:
            options, altered = private(options, runtime, root=os.geteuid() == 0)
            altered = (*altered_by_user, *altered)
            named = str(profile.path.parent)
            altered = tuple(replace(a, value=a.value.replace("{here}", named)) for a in altered)
            private_copy = replace(private_copy, altered=altered)
        except ValueError as error:
            line = line_of(read_header(profile.path).text, str(error).partition(" ")[0])
            raise ProfileError(profile.path, str(error), line) from None
    served = tuple((f"{APP}{family}", app) for family, app in profile.apps)
    profile = replace(
        profile,
        options=options,
        digest=digest_of((*options, *served)),
        keepalive=keeps_connections(options),
        private_copy=private_copy,
    )
    return profile, reading


def described(name: str, *, ours: bool = False) -> Profile:
    """
    Return a profile without the options of its ini, which are not resolved.

    Args:
        name: See `with_reading`.
        ours: Whether to treat an ini elsewhere as one of this project, which obeys BIND and PORT
            and runs unchanged, and not as the user's, of which a private copy runs.

    Raises:
        ProfileError: It does not exist, or its header is incomplete.
    """
    source = _located(name)
    if source.command:
        folder = source.start.folder.absolute() if source.start else None
        profile = command.profile_of(source.command, folder)
        is_taken = profile.name in find()
        return replace(profile, name=f"{profile.name}-own") if is_taken else profile
    path, section = source.path, source.section
    server = servers.of_file(path)
    if server and (from_file := server.profile_of_file(path)):
        return from_file
    header = read_header(path)
    _ancestors(path, header)
    if path.suffix == ".toml":
        return read_peer(path, header)
    private_copy = PrivateCopy(path.parent) if not ours and _is_users_own(path) else None
    summary = header.summary or (header.paragraphs[0] if header.paragraphs else path.name)
    return Profile(
        name=f"{path.stem}-{section}" if section else path.stem,
        server="uwsgi",
        path=path,
        summary=summary,
        against=header.against,
        options=(),
        digest="",
        section=section,
        reply=header.reply,
        private_copy=private_copy,
        interfaces=(OWN, *header.interfaces) if private_copy else header.interfaces,
        apps=header.apps,
        version=header.version or (UWSGI, "--version"),
    )


def read_header(path: Path) -> ProfileHeader:
    """
    Read the header of a profile's file.

    Raises:
        ProfileError: The file cannot be read, or a profile of this project has no summary.
    """
    try:
        text = read_bytes(path).decode().replace("\r\n", "\n")
        check_size(text)
    except UnreadableError as error:
        raise ProfileError(path, str(error), error.line) from None
    except UnicodeDecodeError:
        raise ProfileError(path, "is not UTF-8 text") from None
    if path.suffix == ".toml":
        header = parse_toml(text, path)
        wanted = 'a line `summary = "What it does"`'
    else:
        header = parse_ini(text, path)
        wanted = "a section [lab] with `summary = What this step changes`"
    ours = is_ours(path) or header.against or path.suffix == ".toml"
    if ours and header.summary is None:
        raise ProfileError(path, f"has no summary; it needs {wanted}")
    return header


def ladder(name: str = "tuned") -> tuple[str, ...]:
    """
    Return the names of a ladder up to *name*; each has the one before it as `against`.

    Raises:
        ProfileError: A profile does not exist, or the chain is a circle.
    """
    path = _located(name).path
    return (*reversed(_ancestors(path, read_header(path))), path.stem)


def usual() -> tuple[str, ...]:
    """Return the names that are compared by default: the ladder, and the reference lines."""
    return (*ladder(), *(path.stem for path in _our_files() if read_header(path).reply is not None))


BRIEF = ("baseline", "processes-threads", "safety")
"""What a quick run compares by default: the ladder's first step, and all its steps."""


def _our_files() -> list[Path]:
    """Return the files of our profiles without peers; a TOML instead of an ini of its name."""
    folder, suffixes = project.profiles(), ("ini", "toml")
    files = {path.stem: path for suffix in suffixes for path in folder.glob(f"*.{suffix}")}
    return [files[name] for name in sorted(files)]


def is_ours(path: Path) -> bool:
    """Return whether a file is one of this project's profiles, or a link to one."""
    return path.resolve().is_relative_to(project.profiles())


def is_users_own(name: str) -> bool:
    """Return whether *name* is a user's configuration, and not one of our profiles."""
    source = _located(name)
    return bool(source.command) or _is_users_own(source.path)


def _is_users_own(path: Path) -> bool:
    is_peer = path.suffix == ".toml" and servers.of_file(path) is None
    return not is_peer and not is_ours(path)


def _located(name: str) -> Source:
    """Return the source of a profile: one of this project by its name, or a user's file."""
    ours, peers = project.profiles(), project.peers()
    is_path = "/" in name or re.search(r"\.(toml|py|ini(:.*)?)$", name) is not None
    for path in (ours / f"{name}.toml", ours / f"{name}.ini", peers / f"{name}.toml"):
        if not is_path and path.is_file():
            return Source(path)
    try:
        source = reading.of_script(reading.named(name))
    except ProfileError:
        file = name.partition(":")[0]
        if is_path or " " in name.strip() or sources.of_file(file) or os.path.isfile(file):  # noqa: PTH113 - Path raises for over-long names
            raise
        if "," in name:
            spaced = name.replace(",", " ").split()
            raise ProfileError(name, f"separate names by spaces: {' '.join(spaced)}") from None
        close = difflib.get_close_matches(name, find(), n=1, cutoff=0.5)
        files = [f"./{name}{end}" for end in (".ini", ".toml") if Path(name + end).is_file()]
        hint = f"did you mean {(files + close)[0]}? " if files or close else ""
        problem = f"the profile does not exist; {hint}`lab list` shows all"
        raise ProfileError(name, problem) from None
    if source.command:
        return source
    if source.path.suffix not in KINDS or (source.section and source.path.suffix != ".ini"):
        wanted = "an .ini of uWSGI, a gunicorn.conf.py, a hypercorn.toml, or a .toml of a peer"
        raise ProfileError(name, f"a profile is {wanted}")
    # Keep links: in uWSGI, %d and %n are those of the link.
    return replace(source, path=Path(os.path.abspath(source.path)))  # noqa: PTH100 - see above


def _ancestors(path: Path, header: ProfileHeader) -> tuple[str, ...]:
    """
    Return the names of the profiles before *path* in its ladder, the nearest first.

    The last name is that of the first profile, or of one that has a mistake, which is reported
    when that profile is read.

    Raises:
        ProfileError: `against` of *path* names no profile, or leads back to *path*.
    """
    names = [path.stem]
    while header.against is not None:
        if header.against == names[0]:
            circle = " -> ".join((*names, header.against))
            raise ProfileError(path, f"against is a circle: {circle}", header.against_line)
        try:
            path = _located(header.against).path
        except ProfileError as error:
            if len(names) > 1:
                break
            problem = f"against names {header.against}: {str(error).partition(': ')[2]}"
            raise ProfileError(path, problem, header.against_line) from None
        if header.against in names:
            break
        names.append(header.against)
        try:
            header = read_header(path)
        except ProfileError:
            break
    return tuple(names[1:])
