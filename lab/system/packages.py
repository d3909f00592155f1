"""Virtual environments for what is compared, kept between runs; one where nothing differs."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from lab.errors import LabError
from lab.model.runtime import Runtime
from lab.system import children
from lab.system.programs import output_of
from lab.system.runtime import environment_of, interpreter

LISTED_ALONE = re.compile(r"(?:uv )?pip install(?: (?:-r|-c) ?[\w./-]+)+")
"""A command that installs what lists say, and nothing of the project itself."""

INCLUDED = re.compile(r"(?:-r|--requirement|-c|--constraint)[ =]*(\S+)")
"""How a list, and the command, names another one."""

A_PATH = re.compile(r"^\s*(?:-e|--editable|\.|/|file:|[\w.-]+ *@ *(?:\.|/|file:))", re.MULTILINE)
"""How a line of a list begins that names files, whose content it does not say."""

EDITABLE = re.compile(r"(?:^|\s)(?:-e|--editable)", re.MULTILINE)
"""How a command or a list says that the project's files are used where they lie."""

DONE = "lab-installed.json"
"""The file of an environment that was made to its end: its packages."""

LISTING = (
    "import json; from importlib.metadata import distributions as d; "
    "print(json.dumps({str(e.metadata['Name']): e.version for e in d()}))"
)
TELLING = ("-I", "-W", "ignore", "-c", LISTING)
"""Words by which a Python prints its packages, and no warning, nor what lies beside the caller."""

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
    folder: Path, install: str, tree: str | None, apart: Path, making: Callable[[], None]
) -> Path:
    """
    Return a virtual environment in which *install* was run in *folder*; an earlier one if it fits.

    Args:
        folder: The project's.
        install: A command of a shell.
        tree: What names the project's files as they are, such as a commit: the command may read
            any of them, unless it only installs what lists say. None if nothing does.
        apart: Where one is made that fits nothing else, as what it is made of has no name.
        making: Told before one is made, which takes a while.

    Raises:
        LabError: The command failed, with the end of what it printed.
    """
    said = _made_of(folder, install)
    if said is None and (tree is None or _is_editable(folder, install)):
        making()
        _make(apart, folder, install)
        return apart
    machine = (platform.python_version(), platform.platform(), sys.executable, install)
    text = "\0".join((*machine, *((tree or "",) if said is None else said)))
    place = cache() / f"env-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"
    cache().mkdir(parents=True, exist_ok=True)
    with _locked(_lock_of(place)):
        if not (place / DONE).is_file():
            _remove_torn()
            making()
            _make(place, folder, install)
    return place


def packages_of(environment: Path) -> Mapping[str, str]:
    """Return name -> version of what is installed in a virtual environment; empty if unknown."""
    with suppress(OSError, ValueError):
        noted: dict[str, str] = json.loads((environment / DONE).read_text(encoding="utf-8"))
        return noted
    python = interpreter(environment.absolute())
    with suppress(ValueError):
        told: dict[str, str] = json.loads(output_of(str(python), *TELLING) or "") if python else {}
        return told
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


def _made_of(folder: Path, install: str) -> list[str] | None:
    """Return the lists that say all that a command installs; None if they do not."""
    lists = _lists(folder, install) if LISTED_ALONE.fullmatch(install) else None
    if lists is None or any(A_PATH.search(text) for text in lists.values()):
        return None
    return [text for _, text in sorted(lists.items())]


def _is_editable(folder: Path, install: str) -> bool:
    """Return whether an environment leads to *folder*, which is gone after the run."""
    texts = (install, *(_lists(folder, install) or {}).values())
    return any(EDITABLE.search(text) for text in texts)


def _lists(folder: Path, install: str) -> dict[str, str] | None:
    """Return the lists that a command names, and those that they name; None if one is not there."""
    found: dict[str, str] = {}
    waiting = [folder / name for name in INCLUDED.findall(install)]
    while waiting:
        path = waiting.pop()
        name = os.path.relpath(path, folder)
        if name in found:
            continue
        try:
            found[name] = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # not there, or an address
            return None
        lines = (line.split("#")[0] for line in found[name].splitlines())
        waiting += [path.parent / each for line in lines for each in INCLUDED.findall(line)]
    return found


def _make(place: Path, folder: Path, install: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    try:
        has_uv = shutil.which("uv") is not None
        program = ("uv", "venv", "--quiet", "--seed") if has_uv else (sys.executable, "-m", "venv")
        _run((*program, str(place)), folder, os.environ, "the environment")
        environ = _environ_of(place)
        _run(("sh", "-c", install), folder, environ, install)
        listed = _run((str(interpreter(place)), *TELLING), folder, environ, "the list")
        (place / DONE).write_text(listed, encoding="utf-8")
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)  # half of one fills a disk, too
        raise


def run_setup(command: str, folder: Path, environment: Path | None) -> None:
    """
    Run a command of a shell in *folder*, with the environment's programs before all others.

    What it leaves running is ended.

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
        done = children.ended(words, folder, environ, MINUTES * 60)
    except subprocess.TimeoutExpired:
        raise LabError(f"{what}, in {folder}: no end within {MINUTES} minutes") from None
    if done.returncode:
        end = "\n    ".join(done.stdout.strip().splitlines()[-8:])
        raise LabError(f"{what}, in {folder}: it ended with status {done.returncode}\n    {end}")
    return done.stdout


def _remove_torn() -> None:
    """Remove what a lab has left that was killed while it made an environment."""
    for place in cache().glob("env-*"):
        if place.is_dir() and not (place / DONE).is_file():
            with suppress(BlockingIOError), _locked(_lock_of(place), LOCK_NB):
                shutil.rmtree(place, ignore_errors=True)


def _lock_of(place: Path) -> Path:
    return place.with_suffix(".lock")


@contextmanager
def _locked(path: Path, how: int = 0) -> Iterator[None]:
    """Let one process at a time make an environment."""
    with path.open("w") as file:
        flock(file, LOCK_EX | how)
        yield
