"""
A profile with options of its server added, for one trial.

Written after the profile's own, because of a repeated option the last one counts. UWSGI_<OPTION> in
the environment would be simpler and does not do: uWSGI reads it first, so a profile that sets
`max-worker-lifetime` itself wins (2.0.31).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lab.bench.machine import temporary
from lab.config import servers
from lab.model.profile import Profile


def can_be_added(profile: Profile) -> bool:
    """Return whether the server of *profile* has a file that options can be added to."""
    server = servers.of(profile)
    words = (word for command in _commands(profile) for word in command)
    return server.includes(profile.path.name) or any(map(server.includes, words))


def overlay(profile: Profile, options: Sequence[tuple[str, str]], folder: Path) -> Profile:
    """
    Return *profile* with *options* after those of each of its server that it runs.

    Args:
        profile: One to which options `can_be_added`.
        options: Names and values; {folder} stands for *folder*.
        folder: The trial's own; the changed files are written there.
    """
    server, placed = servers.of(profile), _placed(options, folder)
    if not options:
        return profile
    if profile.private_copy:  # its copy is written of its options
        return replace(profile, options=(*profile.options, *options))
    if server.includes(profile.path.name):
        written = folder / profile.path.name
        temporary.write(written, server.including(profile.path.resolve(), placed))
        return replace(profile, path=written)

    def changed(index: int, word: str) -> str:
        if not server.includes(word):
            return word
        for name, value in (("{here}", profile.path.parent), ("{folder}", folder)):
            word = word.replace(name, str(value))
        # Of two commands, two files may have the same name; and so has one that `fill` writes.
        written = folder / f"{index}-{Path(word).name}"
        temporary.write(written, server.including(Path(word).resolve(), placed))
        return str(written)

    server_commands = _commands(profile)
    commands = tuple(
        tuple(changed(index, word) for word in words) if words in server_commands else words
        for index, words in enumerate(profile.commands)
    )
    return replace(profile, peer=replace(profile.peer, commands=commands))


def _commands(profile: Profile) -> list[tuple[str, ...]]:
    """Return the commands of a profile that start its server."""
    server = servers.of(profile)
    return [words for words in profile.commands if servers.of_command(words) is server]


def _placed(options: Sequence[tuple[str, str]], folder: Path) -> list[tuple[str, str]]:
    return [(option, value.replace("{folder}", str(folder))) for option, value in options]
