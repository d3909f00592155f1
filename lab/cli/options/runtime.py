"""The options that say how the user's application runs: --python, --uwsgi, --cwd, --env."""

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
"""Variables that the lab sets in each trial: the address, and the application."""


def runtime(
    python: Path | None = None,
    uwsgi: Path | None = None,
    cwd: Path | None = None,
    env: Sequence[str] = (),
    env_file: Path | None = None,
    *,
    users_config: bool = False,
) -> Runtime:
    """
    Return the environment in which a user's application runs.

    Args:
        python: A virtual environment, or its python.
        uwsgi: The uwsgi program.
        cwd: The folder to start servers in.
        env: NAME=VALUE, or NAME to pass the caller's value on.
        env_file: A file of lines NAME=VALUE.
        users_config: Whether the server has a configuration of the user's. Only then may UWSGI_
            variables, which uWSGI reads as options, be set.

    Raises:
        UsageError: A file does not exist or is of the wrong kind, or a variable is not allowed. The
            message contains no value of a variable.
    """
    python, uwsgi, cwd, env_file = map(_expanded, (python, uwsgi, cwd, env_file))
    values = _from_file(env_file, users_config=users_config) if env_file else {}
    values |= dict(_variable(given, users_config=users_config) for given in env)
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


def with_private_copy(
    started: Runtime, keep: Sequence[str], drop: Sequence[str] = (), chdir: Path | None = None
) -> Runtime:
    """
    Return *started* with the options for the private copy of a configuration.

    Args:
        started: The runtime without them.
        keep: Options that stay unchanged in the copy.
        drop: Options that the copy leaves out.
        chdir: Replaces the `chdir` of the configuration; None: unchanged.

    Raises:
        UsageError: *chdir* does not exist.
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
    if path.is_file() and not any(path.samefile(python) for python in paths):
        raise UsageError(f"{given}: {paths[0]} is another one; name a virtual environment's python")
    return folder


def _variable(given: str, *, users_config: bool) -> tuple[str, str]:
    """Parse the value of --env: return the name and the value of the variable."""
    name, stands, value = given.partition("=")
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        shown = name if stands else "..."  # it may be a value without its name
        raise UsageError(f"--env {shown}: expected NAME=VALUE, or NAME for the value that it has")
    if re.fullmatch(SET_BY_THE_LAB, name):
        raise UsageError(f"--env {name}: the lab sets it, for each trial anew; leave it out")
    if name.startswith(OF_UWSGI) and not users_config:
        problem = "uWSGI takes it for an option: it goes with an ini of yours, as in lab run my.ini"
        raise UsageError(f"--env {name}: {problem}")
    if not stands and name not in os.environ:
        raise UsageError(f"--env {name}: it has no value here; export it, or say {name}=VALUE")
    return name, value if stands else os.environ[name]


def _from_file(path: Path, *, users_config: bool) -> dict[str, str]:
    """Read an environment file, without the variables that the lab or our profiles use."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--env-file {path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--env-file {path}: is not UTF-8 text") from None
    left_out = SET_BY_THE_LAB if users_config else rf"{SET_BY_THE_LAB}|{OF_UWSGI}\w*"
    return {n: v for n, v in _lines(text, path) if not re.fullmatch(left_out, n)}


def _lines(text: str, path: Path) -> Iterator[tuple[str, str]]:
    """
    Yield name and value of each line, as docker reads them; also take quotes and `export`.

    A name alone gets the caller's value, if it is set. Variables in a value are not expanded.
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
