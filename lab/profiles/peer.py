"""The TOML of a peer: the commands that start a server, and the files that it needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard

from lab.errors import ProfileError
from lab.model import Profile
from lab.profiles.digest import digest_of, told
from lab.profiles.header import ProfileHeader, line_of

Options = Sequence[tuple[str, str]]


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
    commands = table.get("run")
    if not _is_commands(commands):
        raise ProfileError(
            path,
            'run must be a list of commands, each a list of words: run = [["server", "{port}"]]',
            line_of(header.text, "run"),
        )
    options = [("app", str(table.get("app", "app.wsgi:app")))]
    options += [("run", json.dumps(command)) for command in commands]
    # Its native configuration is named after it, so that one folder holds many peers.
    for native in sorted(path.parent.glob(f"{path.stem}.*")):
        if native != path and native.is_file():
            options.append((native.name, native.read_text(encoding="utf-8")))
    filled = _filled(path, header, options)
    replaced = _replaced(path, header, [text for name, text in options if name in filled])
    needs = table.get("needs")
    return Profile(
        name=path.stem,
        server="command",
        path=path,
        summary=header.summary or path.name,
        against=header.against,
        options=tuple(options),
        digest=digest_of((*_told(options), *replaced)),
        commands=tuple(tuple(command) for command in commands),
        fill=filled,
        replace=replaced,
        keepalive=table.get("keepalive") is True,
        reply=header.reply,
        needs=str(needs) if needs is not None else None,
    )


def _told(options: Options) -> Options:
    """Return *options* with what each native file tells its server, in place of its text."""
    return [(name, text if name in {"app", "run"} else told(name, text)) for name, text in options]


def _filled(path: Path, header: ProfileHeader, options: Options) -> tuple[str, ...]:
    names = header.table.get("fill", [])
    known = [name for name, _ in options if name not in {"app", "run"}]
    if not isinstance(names, list) or not all(name in known for name in names):
        problem = f"fill must be a list of files beside it that begin with its name: {known}"
        raise ProfileError(path, problem, line_of(header.text, "fill"))
    return tuple(names)


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
