"""What a server starts with: its program, this project's folder, and a clean environment."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from lab.errors import LabError

ROOT = Path(__file__).resolve().parents[2]
"""This project's folder, where an application is imported unless another folder is named."""


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
        LabError: There is none.
    """
    path = find_command("uwsgi")
    if path is None:
        beside = Path(sys.executable).parent
        raise LabError(f"uwsgi is neither in {beside} nor on PATH: pip install uwsgi")
    return path


def environment(**variables: str) -> dict[str, str]:
    """
    Return the environment in which a profile alone decides, with *variables* added.

    uWSGI takes every UWSGI_<OPTION> for an option, and the profiles obey BIND, PORT, WSGI_APP and
    WSGI_CHDIR: what the caller's shell has of these would silently be part of every profile.
    """
    names = ("BIND", "PORT", "WSGI_APP", "WSGI_CHDIR")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in names and not name.startswith("UWSGI_")
    }
    return kept | {"PATH": search_path()} | variables
