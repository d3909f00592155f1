"""What a server starts with: its program, this project's folder, and a clean environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from lab.bench.machine import project
from lab.errors import MissingError
from lab.model.profile import Profile

TIMEOUT = 20.0
"""Seconds until a tool that is asked for its version is given up. Each takes milliseconds, and on a
machine with ten other programs under way seconds."""


def folders(profile: Profile) -> dict[str, str]:
    """Return what stands in the options of *profile* for folders -> the folders."""
    return {"{here}": str(profile.path.parent), "{root}": str(project.root())}


def search_path(first: str = "") -> str:
    """Return where commands are looked up: *first*, beside this Python, on PATH, where nginx is."""
    beside = str(Path(sys.executable).parent)
    # Distributions put nginx into sbin, and sbin on the PATH of root only.
    usual = (beside, os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin")
    return os.pathsep.join((first, *usual) if first else usual)


def find_command(name: str, first: str = "") -> str | None:
    """Return the path of a command, looked for in the folder *first*, too; or None."""
    return shutil.which(name, path=search_path(first))


def binary() -> str:
    """
    Return the path of uwsgi.

    Raises:
        MissingError: There is none.
    """
    path = find_command("uwsgi")
    if path is None:
        beside = Path(sys.executable).parent
        how = project.how_to_install("service")
        raise MissingError(f"uwsgi is neither in {beside} nor on PATH: {how}")
    return path


@cache
def plugins(program: str) -> frozenset[str]:
    """Return the names of the plug-ins that are part of a uWSGI, by its path."""
    return frozenset(parse_plugins(output_of(program, "--plugin-list") or ""))


@cache
def options(program: str) -> tuple[str, ...]:
    """Return the names of a uWSGI's own options, with those of the plugins that are part of it."""
    help_text = output_of(program, "--help") or ""
    return tuple(re.findall(r"^ +(?:-\S\|)?--(\S+)", help_text, re.MULTILINE))


def parse_plugins(text: str) -> list[str]:
    """Parse the names, sorted, in the output of `uwsgi --plugin-list`."""
    _, *sections = re.split(r"\*\*\* uWSGI loaded \w+ plugins \*\*\*", text)
    names = re.findall(r"^(?:\d+: )?(\w+)$", "\n".join(sections), re.MULTILINE)
    return sorted(set(names))


def tried(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Return how a command ended in the project's folder, with both streams; None if it cannot."""
    path = find_command(command[0])
    if path is None:
        return None
    try:
        return subprocess.run(
            [path, *command[1:]],
            cwd=project.root(),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None


def output_of(*command: str) -> str | None:
    """Return what a command prints on both streams, in the project's folder; None if it cannot."""
    done = tried(*command)
    return None if done is None else done.stdout


def runs_on(version: str, pythons: str) -> bool:
    """
    Return whether a version of Python is among *pythons*, such as ">=3.9,<3.12".

    Raises:
        ValueError: It is no list of versions.

    >>> runs_on("3.11.7", ">=3.11"), runs_on("3.11", ">=3.9,<3.10")
    (True, False)
    """
    fits, (major, minor) = True, version.split(".")[:2]
    for part in pythons.split(","):
        bound = re.fullmatch(r"\s*(<|<=|>|>=)\s*(\d+)\.(\d+)\s*", part)
        if bound is None:
            raise ValueError(f'{part!r} is no bound of versions, as in "<3.12"')
        least, here = (int(bound[2]), int(bound[3])), (int(major), int(minor))
        beside = here < least if "<" in bound[1] else here > least
        fits &= beside or ("=" in bound[1] and here == least)
    return fits


def environment(**variables: str) -> dict[str, str]:
    """
    Return the environment in which a profile alone decides, with *variables* added.

    uWSGI takes every UWSGI_<OPTION> for an option, and the profiles obey BIND, PORT, WSGI_APP and
    WSGI_CHDIR: what the caller's shell has of these would silently be part of every profile. To
    NOTIFY_SOCKET it tells systemd how the service is that the lab may be part of.
    """
    names = ("BIND", "PORT", "WSGI_APP", "WSGI_CHDIR", "NOTIFY_SOCKET")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in names and not name.startswith("UWSGI_")
    }
    return kept | {"PATH": search_path()} | variables
