"""
What a server of the user's application is started with: its programs, and its environment.

The user's environment and the lab's never meet: nothing is installed there, and nothing of the
lab's is found from there.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from lab.bench.machine import project
from lab.bench.machine.programs import binary, environment, output_of, search_path
from lab.config.launch import placed
from lab.config.words import program_at
from lab.errors import MissingError
from lab.model.profile import Profile
from lab.model.runtime import HOME, Runtime

UWSGI = "uwsgi"

OF_THE_LAB = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT")
"""Variables that would lead another environment's Python to the packages of the caller's."""


def python_of(runtime: Runtime) -> str:
    """Return the path of the Python that imports the application."""
    return sys.executable if runtime.python is None else str(interpreter(runtime.python))


def require_python(runtime: Runtime) -> None:
    """
    Refuse an environment without a Python.

    Raises:
        MissingError: It has none.
    """
    if runtime.python is not None and interpreter(runtime.python) is None:
        raise MissingError(f"{runtime.python} has no bin/python; name a virtual environment")


def interpreter(folder: Path) -> Path | None:
    """Return the Python of a virtual environment, or None where *folder* is none."""
    paths = (folder / "bin" / name for name in ("python", "python3"))
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def program(runtime: Runtime, name: str) -> str:
    """
    Return the path of what the command *name* runs: the user's own, where their environment has it.

    The uwsgi may also be the one that they name, or ours, if it has the environment's Python.

    Raises:
        MissingError: There is none, or none that fits; with what installs it.
    """
    if Path(name).name == UWSGI:
        return _uwsgi(runtime)
    path = shutil.which(name, path=_path(runtime))
    if runtime.python is not None and path is not None and _is_elsewhere(path, runtime.python):
        path = None
    if path is None and runtime.python is not None:
        raise MissingError(f"{runtime.python} has no {name}: {pip(runtime.python)} {name}")
    if path is None:
        raise MissingError(f"{name} is not installed")
    return path


def command_of(runtime: Runtime, *words: str) -> tuple[str, ...]:
    """
    Return a command as the user's environment runs it: its own program, serving its own packages.

    Raises:
        MissingError: See `program`.
    """
    at = program_at(words)
    if runtime.python is None and words[at] != UWSGI:
        return words
    path = program(runtime, words[at])
    home: tuple[str, ...] = ()
    if Path(words[at]).name == UWSGI and runtime.python is not None:
        # One that lies in an environment finds that by its own place.
        home = () if _is_in(path, runtime.python) else ("--home", str(runtime.python))
    return (*words[:at], path, *home, *words[at + 1 :])


def with_home(runtime: Runtime, options: Iterable[tuple[str, str]]) -> Runtime:
    """Return *runtime* with the environment of an ini's `home`, where the user names none."""
    homes = [value for option, value in options if option in HOME]
    if runtime.python is not None or not homes:
        return runtime
    return replace(runtime, python=Path(runtime.cwd or "", homes[-1]))


def runtime_of(profile: Profile, runtime: Runtime) -> Runtime:
    """Return what *profile* is started with: in its folder, with the environment that it names."""
    return with_home(runtime.started_in(profile.cwd), placed(profile, project.root()))


def python_serving(runtime: Runtime, program: str) -> str | None:
    """Return the path of the Python whose packages a server's program serves; None: not known."""
    if runtime.python is not None or runtime.uwsgi is None or program != UWSGI:
        return python_of(runtime)
    path = runtime.uwsgi.parent.parent  # a uwsgi finds the environment that it lies in
    return str(interpreter(path)) if (path / "pyvenv.cfg").is_file() else None


def environment_of(runtime: Runtime, **variables: str) -> dict[str, str]:
    """
    Return a server's environment: the caller's, over it the user's variables, over it *variables*.

    What of the caller's would be part of every profile is left out (see `environment`), and with an
    environment of the user's what leads to the lab's packages, too.
    """
    kept = environment()
    if runtime.python is not None:
        kept = {name: value for name, value in kept.items() if name not in OF_THE_LAB}
    return {**kept, "PATH": _path(runtime), **runtime.variables.others, **variables}


def version_of_python(runtime: Runtime) -> str:
    """Return the version of the application's Python, as in "3.12.4"."""
    return platform.python_version() if runtime.python is None else _version(runtime.python)


@cache
def _version(folder: Path) -> str:
    """Return the version of a virtual environment's Python."""
    try:
        text = (folder / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:  # such as one of conda
        text = f"version = {output_of(str(interpreter(folder)), '--version') or ''}"
    version = re.search(r"^version(?:_info)? *=\D*(\d+\.\d+(?:\.\d+)?)", text, re.MULTILINE)
    if version is None:
        raise MissingError(f"{folder}: its Python does not tell its version; make it anew")
    return version[1]


@cache
def version_of_uwsgi(path: str) -> str:
    """Return the version of the Python that a uwsgi has in it; empty if that is unknown."""
    version = re.search(r"^\d+\.\d+\.\d+", output_of(path, "--python-version") or "", re.MULTILINE)
    return version[0] if version else ""


def pip(folder: Path) -> str:
    """Return the command that installs into a virtual environment, without what it installs."""
    return f"{folder}/bin/pip install"


def _uwsgi(runtime: Runtime) -> str:
    folder = runtime.python
    if folder is not None and runtime.uwsgi is None and os.access(folder / "bin/uwsgi", os.X_OK):
        return str(folder / "bin/uwsgi")
    path = str(runtime.uwsgi) if runtime.uwsgi is not None else binary()
    if folder is None:
        return path
    theirs, served = _version(folder), version_of_uwsgi(path)
    if served and _minor(theirs) != _minor(served):
        raise MissingError(
            f"{folder} has Python {_minor(theirs)}, this uwsgi {_minor(served)}: "
            f"{pip(folder)} uwsgi, or --uwsgi PATH"
        )
    return path


def _minor(text: str) -> str:
    return ".".join(text.split(".")[:2])


def _path(runtime: Runtime) -> str:
    """Return where commands are looked up."""
    if runtime.python is None:
        return search_path()
    usual = (os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin")
    return os.pathsep.join((str(runtime.python / "bin"), *usual))


def _is_in(path: str, folder: Path) -> bool:
    return Path(path).parent == folder / "bin"


def _is_elsewhere(path: str, folder: Path) -> bool:
    """Return whether a program is a Python one, and of another environment."""
    with Path(path).open("rb") as file:
        first = file.readline(200)
    return first.startswith(b"#!") and b"python" in first and not _is_in(path, folder)
