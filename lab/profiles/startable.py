"""What of a user's ini would keep uWSGI from starting here, with the line where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lab.errors import MissingError, ProfileError
from lab.model import Profile, Runtime
from lab.profiles.catalogue import FOLDER
from lab.profiles.header import line_of
from lab.settings.moves.listen import somaxconn
from lab.system.programs import ROOT
from lab.system.runtime import HOME, UWSGI, program, with_home

FOLDERS = ("chdir", "cwd", *HOME)
"""Options that name a folder, without which nothing is served."""


def check_startable(profile: Profile, runtime: Runtime) -> None:
    """
    Refuse an ini that uWSGI would not start on this machine.

    Raises:
        ProfileError: With the option, its line, and what to do.
    """
    if profile.path.suffix != ".ini" or profile.path.is_relative_to(FOLDER):
        return
    text = profile.path.read_text(encoding="utf-8", errors="replace")
    for option, value, problem in _problems(profile, runtime):
        line = line_of(text, option, value) or line_of(text, option)
        raise ProfileError(profile.path, f"{option} = {value}: {problem}", line)


def _problems(profile: Profile, runtime: Runtime) -> Iterator[tuple[str, str, str]]:
    most = somaxconn()
    for option, written in profile.options:
        value = written.replace("{here}", str(profile.path.parent)).replace("{root}", str(ROOT))
        if option == "listen" and value.isdecimal() and int(value) > most:
            allow = f"sysctl -w net.core.somaxconn={value}, or a smaller listen in a copy"
            problem = f"net.core.somaxconn is {most} here, and uWSGI would refuse to start: {allow}"
            yield option, value, problem
        elif option in FOLDERS and value.startswith("/") and not Path(value).is_dir():
            yield option, value, "there is no such folder"
        elif option in HOME:
            try:
                program(with_home(runtime, [(option, value)]), UWSGI)
            except MissingError as error:
                yield option, value, str(error)
