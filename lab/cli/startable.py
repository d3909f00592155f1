"""A configuration that was made for another server, as `lab run` takes it beside the old one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lab.bench.machine import temporary
from lab.bench.machine.runtime import runtime_of
from lab.bench.trials.available import look
from lab.cli.migrate.migration import Migration
from lab.cli.options.execution import application
from lab.cli.options.runtime import SET_BY_THE_LAB
from lab.cli.options.table import Job
from lab.config.command import is_command
from lab.errors import ProfileError


def startable(migration: Migration, name: str, job: Job, folder: Path) -> Job:
    """
    Return what is asked of the new configuration alone, which is its profile.

    That is a file in *folder*, or a command. It runs where the old one does, with the environment
    and the variables that the old one names.

    Args:
        migration: What it became.
        name: The one that it was made of, as it was typed.
        job: What is asked of that one.
        folder: Where its file is written.

    Raises:
        ProfileError: No command follows from it here, or the environment that it names is not here.
    """
    started = application(replace(job, profiles=(name,))).runtime
    python = runtime_of(look(name, started).profile, started).python
    if python is not None and not python.is_dir():
        problem = f"it names the environment {python}, which is not here: --python PATH"
        raise ProfileError(name, problem)
    new, variables = str(folder / migration.file), tuple[str, ...]()
    if migration.script:
        variables, new = _command(migration.script, name, job, started.variables.reveal())
    else:
        temporary.write(Path(new), migration.text)
    env, cwd = (*job.env, *variables), folder_of(name, job)
    return replace(job, profiles=(new,), python=python, env=env, cwd=cwd)


def _command(
    script: str, name: str, job: Job, variables: Mapping[str, str]
) -> tuple[tuple[str, ...], str]:
    """Return the variables and the command that a script prints."""
    done = subprocess.run(
        ("sh", "-c", script),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    if done.returncode:  # such as a variable that is no number
        raise ProfileError(name, f"no command follows: {done.stderr.strip()}")
    words = done.stdout.split("\0")[:-1]
    at = words.index("")
    command = words[at + 1 :]
    assignments = (word for word in words[:at] if not re.match(f"(?:{SET_BY_THE_LAB})=", word))
    return tuple(assignments), shlex.join([*command[:-1], "{app}"] if job.app else command)


def folder_of(name: str, job: Job) -> Path:
    """Return the folder that a configuration and what it becomes are started in."""
    if job.cwd is not None:
        return job.cwd
    return Path.cwd() if is_command(name) else Path(name).absolute().parent
