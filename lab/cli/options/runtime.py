"""What runs an application of the user's: their environment, their uWSGI, their variables."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lab.bench.workloads.question import salted
from lab.errors import UsageError
from lab.model.runtime import OF_UWSGI, Runtime, Variables

SET_BY_THE_LAB = r"BIND|PORT|WSGI_APP|WSGI_CHDIR"
"""Variables by which a trial is told where to answer, and what to serve."""


def runtime(
    python: Path | None = None,
    uwsgi: Path | None = None,
    cwd: Path | None = None,
    env: Sequence[str] = (),
    env_file: Path | None = None,
    *,
    own: bool = False,
) -> Runtime:
    """
    Return what a server of the user's is started with.

    Args:
        python: A virtual environment, or its python.
        uwsgi: A program.
        cwd: A folder.
        env: NAME=VALUE, or NAME for the caller's own value.
        env_file: Lines NAME=VALUE.
        own: Whether a configuration of theirs is started, of which UWSGI_ variables are options.

    Raises:
        UsageError: One of them is not there, or is no such thing. No value is in its message.
    """
    python, uwsgi, cwd, env_file = map(_expanded, (python, uwsgi, cwd, env_file))
    values = _from_file(env_file, own=own) if env_file else {}
    values |= dict(_variable(each, own=own) for each in env)
    if uwsgi is not None and not (uwsgi.is_file() and os.access(uwsgi, os.X_OK)):
        raise UsageError(f"--uwsgi {uwsgi}: there is no such program")
    if cwd is not None and not cwd.is_dir():
        raise UsageError(f"--cwd {cwd}: no such folder")
    return Runtime(
        python=None if python is None else _environment(python),
        uwsgi=None if uwsgi is None else uwsgi.absolute(),
        cwd=None if cwd is None else cwd.resolve(),
        variables=Variables.of(values, salted(json.dumps(sorted(values.items()))))
        if values
        else Variables(),
    )


def with_copy(
    started: Runtime, keep: Sequence[str], drop: Sequence[str] = (), chdir: Path | None = None
) -> Runtime:
    """
    Return *started* with what is told of the private copy of a configuration.

    Args:
        started: What its server is started with.
        keep: Options that stay as they are.
        drop: Options that are left out.
        chdir: Folder that stands for its `chdir`.

    Raises:
        UsageError: There is no such folder.
    """
    chdir = _expanded(chdir)
    if chdir is not None and not chdir.is_dir():
        raise UsageError(f"--chdir {chdir}: no such folder")
    folder = None if chdir is None else chdir.resolve()
    return replace(started, keep=frozenset(keep), drop=frozenset(drop), chdir=folder)


def _expanded(path: Path | None) -> Path | None:
    return None if path is None else path.expanduser()


def _environment(path: Path) -> Path:
    """Return the folder of a virtual environment, given it or its python."""
    given = f"--python {path}"
    if not path.exists():
        raise UsageError(f"{given}: it is not there; name your virtual environment, as in ~/venv")
    folder = path.absolute() if path.is_dir() else path.absolute().parent.parent
    pythons = [folder / "bin" / name for name in ("python", "python3")]
    paths = [python for python in pythons if os.access(python, os.X_OK)]
    if not paths:
        problem = "it has no bin/python: name a virtual environment's folder, or its python"
        raise UsageError(f"{given}: {problem}")
    if path.is_file() and not any(path.samefile(each) for each in paths):
        raise UsageError(f"{given}: {paths[0]} is another one; name a virtual environment's python")
    return folder


def _variable(given: str, *, own: bool) -> tuple[str, str]:
    """Return name and value of what stands after --env."""
    name, stands, value = given.partition("=")
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        shown = name if stands else "..."  # it may be a value without its name
        raise UsageError(f"--env {shown}: expected NAME=VALUE, or NAME for the value that it has")
    if re.fullmatch(SET_BY_THE_LAB, name):
        raise UsageError(f"--env {name}: the lab sets it, for each trial anew; leave it out")
    if name.startswith(OF_UWSGI) and not own:
        problem = "uWSGI takes it for an option: it goes with an ini of yours, as in lab run my.ini"
        raise UsageError(f"--env {name}: {problem}")
    if not stands and name not in os.environ:
        raise UsageError(f"--env {name}: it has no value here; export it, or say {name}=VALUE")
    return name, value if stands else os.environ[name]


def _from_file(path: Path, *, own: bool) -> dict[str, str]:
    """Return what an environment file says, but for what the lab sets, or our profiles obey."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--env-file {path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--env-file {path}: is not UTF-8 text") from None
    left_out = SET_BY_THE_LAB if own else rf"{SET_BY_THE_LAB}|{OF_UWSGI}\w*"
    return {n: v for n, v in _lines(text, path) if not re.fullmatch(left_out, n)}


def _lines(text: str, path: Path) -> Iterator[tuple[str, str]]:
    """
    Yield name and value of each line, as docker reads them, and as a shell does quotes and export.

    A name alone has the caller's value, if there is one. Nothing in a value is expanded.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        match = re.fullmatch(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*(?:(=)\s*(.*?))?\s*", line)
        if match is not None and match[2]:
            quoted = re.fullmatch(r"""(["'])(.*)\1""", match[3])
            yield match[1], quoted[2] if quoted else match[3]
        elif match is not None and match[1] in os.environ:
            yield match[1], os.environ[match[1]]
        elif match is None and line.strip() and not line.lstrip().startswith("#"):
            raise UsageError(f"--env-file {path}:{number}: expected NAME=VALUE")
