"""
A uWSGI profile with options added, for one trial.

Written after the profile's own, because of a repeated option the last one counts. UWSGI_<OPTION> in
the environment would be simpler and does not do: uWSGI reads it first, so a profile that sets
`max-worker-lifetime` itself wins (2.0.31).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lab.bench.machine import temporary
from lab.model.profile import Profile


def program(words: Sequence[str]) -> str:
    """
    Return the name of the program that a command runs.

    >>> program(("env", "SOCKET=/a.sock", "/opt/bin/uwsgi", "production.ini"))
    'uwsgi'
    """
    if Path(words[0]).name == "env":
        words = [word for word in words[1:] if "=" not in word] or words
    return Path(words[0]).name


def problem(profile: Profile) -> str | None:
    """Return why no option can be added to *profile*, or None."""
    if _is_file(profile.path.name):
        return None
    own = [words for words in profile.commands if program(words) == "uwsgi"]
    if not own:
        return "an option of uWSGI, which this profile does not run"
    if not any(_is_file(word) for words in own for word in words):
        return "an option for uWSGI's .ini file, and this profile's uWSGI has none"
    return None


def overlay(profile: Profile, options: Sequence[tuple[str, str]], folder: Path) -> Profile:
    """
    Return *profile* with *options* after those of each uWSGI that it runs.

    Args:
        profile: Without a `problem`.
        options: Names and values; {folder} stands for *folder*.
        folder: The trial's own; the changed files are written there.
    """
    if not options:
        return profile
    if profile.own:  # its copy is written of its options
        return replace(profile, options=(*profile.options, *options))
    if _is_file(profile.path.name):
        written = folder / profile.path.name
        return replace(profile, path=_write(written, profile.path, options))

    def changed(index: int, word: str) -> str:
        if not _is_file(word):
            return word
        for name, value in (("{here}", profile.path.parent), ("{folder}", folder)):
            word = word.replace(name, str(value))
        # Of two commands, two files may have the same name; and so has one that `fill` writes.
        return str(_write(folder / f"{index}-{Path(word).name}", Path(word), options))

    commands = tuple(
        tuple(changed(index, word) for word in words) if program(words) == "uwsgi" else words
        for index, words in enumerate(profile.commands)
    )
    return replace(profile, peer=replace(profile.peer, commands=commands))


def _is_file(word: str) -> bool:
    return word.endswith(".ini") and not word.startswith("-")


def _write(written: Path, path: Path, options: Sequence[tuple[str, str]]) -> Path:
    folder = str(written.parent)
    lines = [f"{key} = {value.replace('{folder}', folder)}" for key, value in options]
    text = "\n".join(("[uwsgi]", f"ini = {path.resolve()}", *lines))
    temporary.write(written, f"{text}\n")
    return written
