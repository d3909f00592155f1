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
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from lab.bench.machine import children
from lab.bench.machine.programs import find_command, output_of
from lab.bench.machine.runtime import environment_of, interpreter
from lab.errors import LabError, ResultsError, UsageError
from lab.model.runtime import Runtime, without_secrets

LISTED_ALONE = re.compile(r"(?:uv )?pip install(?: (?:-r|-c) ?[\w./-]+)+")
"""A command that installs what lists say, and nothing of the project itself."""

INCLUDED = re.compile(r"(?:^|\s)(?:-r|--requirement|-c|--constraint)(?:[ =]\s*|(?=[\w./]))(\S+)")
"""How a command names a list, and a line of a list another one."""

PLAIN = re.compile(
    r"""
    (?: (?: --index-url | --extra-index-url | --trusted-host | --require-hashes | --pre
          | --prefer-binary | --no-binary | --only-binary | --no-index
          | --requirement | --constraint ) \b (?! .* file:) .*  # an option that names no files,
      | -[irc] (?! .* file:) .*                                # or a list, which is read itself
      | (?! \S+ \.(?:whl|zip|tar(?:\.\w+)?|t[gbx]z|tlz)(?![\w.]) )
        [A-Za-z0-9][\w.-]* \s* (?: \[ [\w\s,.-]* \] \s* )?     # a package, and its extras
        (?: @ \s* (?!file:) [a-z+]+://\S+ | [(\s]* (?: [=~!<>]=?=? \s* [\w.*+!-]+ [\s,)]* )* )
        (?: ; .* )? )?
    """,
    re.VERBOSE,
)
"""A line of a list that says all that it installs; any other names files, whose content it does
not say."""

LOCKS = {
    "uv.lock": "uv sync --frozen --active",
    "poetry.lock": "poetry install",
    "Pipfile.lock": "pipenv sync",
    "pdm.lock": "pdm sync",
}
"""What says which versions are installed -> the command that installs them."""

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

OF_LISTS, OF_A_DAY = "env-", "env-day-"
"""How environments are called that lists say whole, and those that fit on one day alone."""

KEPT = {OF_LISTS: 30, OF_A_DAY: 2}
"""Days that one is kept which nobody uses."""


def cache() -> Path:
    """Return the folder that environments are kept in."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("LAB_CACHE") or usual / "uwsgi-fibonacci-lab")


def usual_installation(folder: Path) -> str | None:
    """
    Return the command that installs what a project says that it needs; None where nothing says it.

    Raises:
        UsageError: Something says it that is not read here.
    """
    if (folder / "requirements.txt").is_file():
        return "pip install -r requirements.txt"
    for lock, command in LOCKS.items():
        if (folder / lock).is_file():
            program = command.split()[0]
            if find_command(program):
                return command
            raise UsageError(
                f"{lock} says what is installed, and {program} is not here: pip install {program}, "
                "or say --install COMMAND, or --python PATH"
            )
    if any((folder / name).is_file() for name in ("pyproject.toml", "setup.py")):
        return "pip install ."
    lists = sorted(f"{path.parent.name}/{path.name}" for path in folder.glob("requirements/*.txt"))
    if lists or (folder / "Pipfile").is_file():
        instead = f"pip install -r {lists[0]}" if lists else "pipenv install --skip-lock"
        raise UsageError(
            f"what is to be installed? --install '{instead}', or --python PATH for an environment "
            "that is there"
        )
    return None


def environment_for(
    folder: Path, install: str, apart: Path, making: Callable[[], None], *, alone: bool = False
) -> Path:
    """
    Return a virtual environment in which *install* was run in *folder*.

    It is kept, and an earlier one is returned, where all that is installed stands in lists. Where
    these leave versions open it is of the same day: else two versions of an application would get
    what was the newest at different times.

    Args:
        folder: The project's.
        install: A command of a shell.
        apart: Where one is made that is not kept.
        making: Told before one is made, which takes a while.
        alone: Whether it is changed afterwards, and so must be no other version's.

    Raises:
        LabError: The command failed, with the end of what it printed.
    """
    lists = None if alone else _made_of(folder, install)
    if lists is None:
        making()
        _make(apart, folder, install)
        return apart
    machine = (platform.python_version(), platform.platform(), sys.executable, install)
    day = () if all(map(_is_whole, lists)) else (time.strftime("%Y-%m-%d"),)
    text = "\0".join((*machine, *day, *lists))
    key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    place = cache() / f"{OF_A_DAY if day else OF_LISTS}{key}"
    try:
        cache().mkdir(parents=True, exist_ok=True)
        _lock_of(place).touch()  # it is in use
    except OSError as error:
        problem = f"environments cannot be kept there: {error.strerror}; LAB_CACHE names another"
        raise ResultsError(cache(), problem) from error
    with _locked(_lock_of(place)):
        if not (place / DONE).is_file():
            _clear()
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
        versions: dict[str, str] = (
            json.loads(output_of(str(python), *TELLING) or "") if python else {}
        )
        return versions
    return {}


def differing(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """
    Return what differs between two lists of packages, in words.

    >>> differing({"A": "1", "B": "1"}, {"A": "2", "C": "1"})
    ['A 1 -> 2', 'B removed', 'C added']
    """
    differences = []
    for name in sorted(old.keys() | new.keys(), key=str.lower):
        before, after = old.get(name), new.get(name)
        if before != after and before and after:
            differences.append(f"{name} {before} -> {after}")
        elif before != after:
            differences.append(f"{name} {'added' if after else 'removed'}")
    return differences


def _made_of(folder: Path, install: str) -> list[str] | None:
    """Return the lists that say all that a command installs; None if they do not."""
    lists = _lists(folder, install) if LISTED_ALONE.fullmatch(install) else None
    if lists is None:
        return None
    lines = (line for text in lists.values() for line in _lines(text))
    if not all(map(PLAIN.fullmatch, lines)):
        return None
    return [text for _, text in sorted(lists.items())]


def _joined(text: str) -> list[str]:
    """Return the lines of a list, each with those that go on with it."""
    return text.replace("\\\n", " ").splitlines()


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a list, without comments and hashes."""
    for line in _joined(text):
        yield re.sub(r"\s+--hash[ =]\S+", "", re.sub(r"(?:^|\s)#.*", "", line)).strip()


def _is_whole(text: str) -> bool:
    """Return whether a list leaves no version open: with hashes pip takes nothing beside it."""
    packages = (line for line in _joined(text) if re.match(r"\s*[A-Za-z0-9]", line))
    return all("--hash" in line for line in packages)


def _lists(folder: Path, install: str) -> dict[str, str] | None:
    """Return the lists that a command names, and those that they name; None if one is not there."""
    texts: dict[str, str] = {}
    waiting = [folder / name for name in INCLUDED.findall(install)]
    while waiting:
        path = waiting.pop()
        name = os.path.relpath(path, folder)
        if name in texts:
            continue
        try:
            if not path.is_file():  # not there, an address, or a device that has no end
                return None
            texts[name] = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        lines = (line for line in _lines(texts[name]) if line.startswith("-"))
        waiting += [path.parent / included for line in lines for included in INCLUDED.findall(line)]
    return texts


def _make(place: Path, folder: Path, install: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    try:
        has_uv = shutil.which("uv") is not None
        program = ("uv", "venv", "--quiet", "--seed") if has_uv else (sys.executable, "-m", "venv")
        _run((*program, str(place)), folder, os.environ, "the environment")
        environ = _environ_of(place)
        variables = {"PATH": f"{environ['PATH']}{os.pathsep}{Path(sys.executable).parent}"}
        _run(("sh", "-c", install), folder, environ | variables, install)
        note(place)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)  # half of one fills a disk, too
        raise


def note(environment: Path) -> None:
    """Write down what is installed in an environment that was made here."""
    words, environ = (str(interpreter(environment)), *TELLING), _environ_of(environment)
    listed = _run(words, environment, environ, "the list of packages")
    (environment / DONE).write_text(listed, encoding="utf-8")


def run_setup(command: str, folder: Path, runtime: Runtime) -> None:
    """
    Run a command of a shell in *folder*, with what a version's server is started with.

    What it leaves running is ended.

    Raises:
        LabError: It failed, with the end of what it printed.
    """
    _run(("sh", "-c", command), folder, _environ(runtime), command)


def _environ_of(environment: Path) -> dict[str, str]:
    return _environ(Runtime(python=environment))


def _environ(runtime: Runtime) -> dict[str, str]:
    """Return what a server gets, and by which uv finds its environment."""
    variables = {} if runtime.python is None else {"VIRTUAL_ENV": str(runtime.python)}
    return environment_of(runtime, **variables)


def _run(words: tuple[str, ...], folder: Path, environ: Mapping[str, str], what: str) -> str:
    what = without_secrets(what)
    try:
        done = children.ended(words, folder, environ, MINUTES * 60)
    except subprocess.TimeoutExpired:
        raise LabError(f"{what}, in {folder}: no end within {MINUTES} minutes") from None
    if done.returncode:
        end = "\n    ".join(done.stdout.strip().splitlines()[-8:])
        raise LabError(f"{what}, in {folder}: it ended with status {done.returncode}\n    {end}")
    return done.stdout


def _clear() -> None:
    """Remove what a lab has left that was killed while it made an environment, and what is old."""
    for place in cache().glob(f"{OF_LISTS}*"):
        lock, kind = _lock_of(place), OF_A_DAY if place.name.startswith(OF_A_DAY) else OF_LISTS
        used = lock.stat().st_mtime if lock.is_file() else 0.0
        old = used < time.time() - KEPT[kind] * 86_400
        if place.is_dir() and (old or not (place / DONE).is_file()):
            with suppress(BlockingIOError), _locked(lock, LOCK_NB):
                shutil.rmtree(place, ignore_errors=True)


def _lock_of(place: Path) -> Path:
    return place.with_suffix(".lock")


@contextmanager
def _locked(path: Path, how: int = 0) -> Iterator[None]:
    """Let one process at a time make an environment."""
    with path.open("w") as file:
        flock(file, LOCK_EX | how)
        yield
