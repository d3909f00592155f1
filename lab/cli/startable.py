"""A configuration that was made for another server, as `lab run` takes it; and where it starts."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

from lab.dialects.command import is_command
from lab.errors import ProfileError
from lab.migrate.migrated import Migrated
from lab.options import Asked, application
from lab.system import temporary


def startable(found: Migrated, name: str, asked: Asked, folder: Path) -> str:
    """
    Return what a configuration became as the name of a profile: a file in *folder*, or a command.

    Args:
        found: What it became.
        name: The one that it was made of, as it was typed.
        asked: With which variables it is started.
        folder: Where its file is written.

    Raises:
        ProfileError: No command follows from it here.
    """
    if not found.script:
        path = folder / found.file
        temporary.write(path, found.text)
        return str(path)
    started = application(replace(asked, profiles=(name,))).runtime
    done = subprocess.run(
        ("sh", "-c", found.script),
        env={**os.environ, **started.variables.reveal()},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:  # such as a variable that is no number
        raise ProfileError(name, f"no command follows: {done.stderr.strip()}")
    words = done.stdout.split("\0")[:-1]
    return shlex.join([*words[:-1], "{app}"] if asked.app else words)


def folder_of(name: str, asked: Asked) -> Path:
    """Return the folder that a configuration and what it becomes are started in."""
    if asked.cwd is not None:
        return asked.cwd
    return Path.cwd() if is_command(name) else Path(name).absolute().parent
