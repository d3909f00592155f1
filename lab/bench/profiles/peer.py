"""The TOML of a peer: the commands that start a server, and the files that it needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeGuard

from lab.bench.machine.programs import runs_on
from lab.bench.profiles.header import TEXTS, ProfileHeader, line_of, words
from lab.errors import ProfileError
from lab.model.digest import digest_of, without_comments
from lab.model.profile import Peer, Profile

Options = Sequence[tuple[str, str]]

KEYS = (*TEXTS, "app", "articles", "backing", "build", "counter", "deviations", "factory", "fill",
        "interface", "keepalive", "packages", "replace", "run", "version")  # fmt: skip
"""Keys of a peer. docs/explanation/articles.md shows *articles*, *packages* and *system*."""

SERVICE = "app.wsgi:app"
"""What it serves where nothing else is said."""

APP = "[app] "
"""Begins the option that says what it serves for a family of workloads."""

HERE = "{here}/"
"""Begins the name of a file that lies beside it."""


def read_peer(path: Path, header: ProfileHeader) -> Profile:
    """
    Return the profile of a TOML.

    Args:
        path: The file.
        header: What it says, with its table.

    Raises:
        ProfileError: A key has another value than it may have; with its line.
    """
    table = header.table
    for key in table:
        if key not in KEYS:
            problem = f"a peer knows {', '.join(sorted(KEYS))}, not {key!r}"
            raise ProfileError(path, problem, line_of(header.text, key))
    commands = table.get("run")
    if not _is_commands(commands):
        raise ProfileError(
            path,
            'run must be a list of commands, each a list of words: run = [["server", "{port}"]]',
            line_of(header.text, "run"),
        )
    build = words(table, "build", header.text, path)
    default_app = table.get("app", SERVICE)
    options = [("app", default_app if isinstance(default_app, str) else SERVICE)]
    options += [(f"{APP}{family}", app) for family, app in header.apps]
    options += [("run", json.dumps(command)) for command in commands]
    options += [("build", json.dumps(build))] if build else []
    filled = _filled(path, header)
    file_words = [
        word for command in (*commands, build) for word in command if word.startswith(HERE)
    ]
    modules = (f"{app.partition(':')[0]}.py" for _, app in header.apps)
    options += _sources(
        path, (*(word.removeprefix(HERE) for word in file_words), *filled, *modules)
    )
    replaced = _replaced(path, header, [text for name, text in options if name in filled])
    return Profile(
        name=path.stem,
        server="command",
        path=path,
        summary=header.summary or path.name,
        against=header.against,
        options=tuple(options),
        digest=digest_of_peer(options, replaced),
        keepalive=table.get("keepalive") is True,
        interfaces=header.interfaces,
        apps=header.apps,
        version=words(table, "version", header.text, path),
        reply=header.reply,
        peer=Peer(
            commands=tuple(tuple(command) for command in commands),
            fill=filled,
            replace=replaced,
            needs=_text(table, "needs") or None,
            backing=words(table, "backing", header.text, path),
            factory=words(table, "factory", header.text, path),
            python=_pythons(path, header),
            ended=_text(table, "ended"),
            successor=_text(table, "successor"),
            venv=_text(table, "venv"),
            build=build,
            counters=_counters(path, header),
        ),
    )


def _sources(path: Path, shared: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file beside *path* that is named after it, or in *shared*."""
    names = (
        sibling.name for sibling in sorted(path.parent.glob(f"{path.stem}.*")) if sibling != path
    )
    # What several peers share has a name of its own, so that one folder holds them all.
    for name in dict.fromkeys((*names, *shared)):
        if (path.parent / name).is_file():
            yield name, (path.parent / name).read_text(encoding="utf-8")


def _text(table: Mapping[str, object], key: str) -> str:
    return str(table.get(key, ""))


def _pythons(path: Path, header: ProfileHeader) -> str:
    """Return on which Pythons it runs; raises ProfileError where that is none."""
    pythons = _text(header.table, "python")
    try:
        _ = pythons and runs_on("3.11", pythons)
    except ValueError as error:
        problem = f'python must be as in "<3.12" or ">=3.9,<3.13": {error}'
        raise ProfileError(path, problem, line_of(header.text, "python")) from None
    return pythons


def _counters(path: Path, header: ProfileHeader) -> tuple[tuple[str, str], ...]:
    table = header.table.get("counter", {})
    if not isinstance(table, dict) or not all(isinstance(name, str) for name in table.values()):
        problem = '[counter] must have lines `cause = "profile"`, as in backend = "tornado-pool"'
        raise ProfileError(path, problem, line_of(header.text, "counter"))
    return tuple(table.items())


def digest_of_peer(options: Options, replaced: Options) -> str:
    """Return the digest of what each command and native file tells its server."""
    uncommented_options = [
        (name, without_comments(name, text) if _is_file(name) else text) for name, text in options
    ]
    return digest_of((*uncommented_options, *replaced))


def _is_file(name: str) -> bool:
    return name not in {"app", "build", "run"} and not name.startswith(APP)


def _filled(path: Path, header: ProfileHeader) -> tuple[str, ...]:
    names = words(header.table, "fill", header.text, path)
    for name in names:
        if not (path.parent / name).is_file():
            problem = f"fill names {name}, which is no file beside it"
            raise ProfileError(path, problem, line_of(header.text, "fill"))
    return names


def _replaced(
    path: Path, header: ProfileHeader, contents: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    table = header.table.get("replace", {})
    if not isinstance(table, dict) or not all(isinstance(new, str) for new in table.values()):
        problem = '[replace] must have lines `"text in the file" = "other text"`'
        raise ProfileError(path, problem, line_of(header.text, "replace"))
    for old in table:
        if not any(old in content for content in contents):
            problem = f"[replace] has {old!r}, which no file of fill has"
            raise ProfileError(path, problem, line_of(header.text, json.dumps(old)))
    return tuple(table.items())


def _is_commands(value: object) -> TypeGuard[list[list[str]]]:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(command, list) and command and all(isinstance(word, str) for word in command)
            for command in value
        )
    )
