"""Virtual environments for what is compared, kept between runs; one where nothing differs."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path

from lab.errors import LabError
from lab.model.runtime import Runtime
from lab.system.runtime import environment_of, interpreter

LISTS = ("uv.lock", "poetry.lock", "requirements.txt", "pyproject.toml", "setup.py", "setup.cfg")
"""Files of a project that say what it needs."""

DONE = "lab-installed.json"
"""The file of an environment that was made to its end: its packages."""

LISTED = (
    "import json; from importlib.metadata import distributions as d; "
    "print(json.dumps({str(e.metadata['Name']): e.version for e in d()}))"
)

MINUTES = 15
"""That an installation may take."""


def cache() -> Path:
    """Return the folder that environments are kept in."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("LAB_CACHE") or usual / "uwsgi-fibonacci-lab")


def usual_installation(folder: Path) -> str | None:
    """Return the command that installs what a project says that it needs; None where none does."""
    if (folder / "requirements.txt").is_file():
        return "pip install -r requirements.txt"
    if any((folder / name).is_file() for name in ("pyproject.toml", "setup.py")):
        return "pip install ."
    return None


def environment_for(
    folder: Path, install: str, tree: str, making: Callable[[], None] = lambda: None
) -> Path:
    """
    Return a virtual environment in which *install* was run in *folder*; an earlier one if it fits.

    Args:
        folder: The project's.
        install: A command of a shell.
        tree: What names the project's files, such as a commit: the command may install them.
        making: Told before one is made, which takes a while.

    Raises:
        LabError: The command failed, with the end of what it printed.
    """
    place = cache() / f"env-{_digest(folder, install, tree)}"
    cache().mkdir(parents=True, exist_ok=True)
    with _locked(place.with_suffix(".lock")):
        if not (place / DONE).is_file():
            making()
            _make(place, folder, install)
    return place


def packages_of(environment: Path) -> Mapping[str, str]:
    """Return name -> version of what is installed in an environment of `environment_for`."""
    with suppress(OSError, ValueError):
        found: dict[str, str] = json.loads((environment / DONE).read_text(encoding="utf-8"))
        return found
    return {}


def differing(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """
    Return what differs between two lists of packages, in words.

    >>> differing({"A": "1", "B": "1"}, {"A": "2", "C": "1"})
    ['A 1 -> 2', 'B removed', 'C added']
    """
    found = []
    for name in sorted(old.keys() | new.keys(), key=str.lower):
        before, after = old.get(name), new.get(name)
        if before != after and before and after:
            found.append(f"{name} {before} -> {after}")
        elif before != after:
            found.append(f"{name} {'added' if after else 'removed'}")
    return found


def _digest(folder: Path, install: str, tree: str) -> str:
    said = [platform.python_version(), platform.platform(), sys.executable, install]
    said += [
        (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in LISTS
        if (folder / name).is_file()
    ]
    if " ." in install:  # the project itself, or a file of it that is not in LISTS
        said.append(tree)
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]


def _make(place: Path, folder: Path, install: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    has_uv = shutil.which("uv") is not None
    program = ("uv", "venv", "--quiet", "--seed") if has_uv else (sys.executable, "-m", "venv")
    _run((*program, str(place)), folder, os.environ, "the environment")
    environ = _environ_of(place)
    _run(("sh", "-c", install), folder, environ, install)
    listed = _run((str(interpreter(place)), "-c", LISTED), folder, environ, "the list")
    (place / DONE).write_text(listed, encoding="utf-8")


def run_setup(command: str, folder: Path, environment: Path | None) -> None:
    """
    Run a command of a shell in *folder*, with the environment's programs before all others.

    Raises:
        LabError: It failed, with the end of what it printed.
    """
    environ = os.environ if environment is None else _environ_of(environment)
    _run(("sh", "-c", command), folder, environ, command)


def _environ_of(environment: Path) -> dict[str, str]:
    """Return what a server of an environment gets, and by which uv finds that."""
    return environment_of(Runtime(python=environment), VIRTUAL_ENV=str(environment))


def _run(words: tuple[str, ...], folder: Path, environ: Mapping[str, str], what: str) -> str:
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=MINUTES * 60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LabError(f"{what}, in {folder}: no end within {MINUTES} minutes") from None
    if done.returncode:
        end = "\n    ".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        raise LabError(f"{what}, in {folder}: it ended with status {done.returncode}\n    {end}")
    return done.stdout


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time make an environment."""
    with path.open("w") as file:
        flock(file, LOCK_EX)
        yield
