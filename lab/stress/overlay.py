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

from lab.model import Profile


def program(words: Sequence[str]) -> str:
    """
    Return the name of the program that a command runs.

    >>> program(("env", "SOCKET=/a.sock", "/opt/bin/uwsgi", "production.ini"))
    'uwsgi'
    """
    if Path(words[0]).name == "env":
        words = [word for word in words[1:] if "=" not in word] or words
    return Path(words[0]).name


def runs_uwsgi(profile: Profile) -> bool:
    """Return whether uWSGI is, or is among, what the profile runs."""
    return profile.server == "uwsgi" or any(program(each) == "uwsgi" for each in profile.commands)


def overlay(profile: Profile, options: Sequence[tuple[str, str]], folder: Path) -> Profile:
    """
    Return *profile* with *options* after those of each uWSGI that it runs.

    Args:
        profile: Runs uWSGI.
        options: Names and values; {folder} stands for *folder*.
        folder: The changed files are written there.
    """
    if not options:
        return profile
    if profile.server == "uwsgi":
        return replace(profile, path=_write(profile.path, options, folder))

    def changed(word: str) -> str:
        if not word.endswith(".ini"):
            return word
        path = Path(word.replace("{here}", str(profile.path.parent)))
        return str(_write(path, options, folder))

    commands = tuple(
        tuple(map(changed, words)) if program(words) == "uwsgi" else words
        for words in profile.commands
    )
    return replace(profile, commands=commands)


def _write(path: Path, options: Sequence[tuple[str, str]], folder: Path) -> Path:
    lines = [f"{key} = {value.replace('{folder}', str(folder))}" for key, value in options]
    written = folder / path.name
    text = "\n".join(("[uwsgi]", f"ini = {path.resolve()}", *lines))
    written.write_text(f"{text}\n", encoding="utf-8")
    return written
