"""What a server starts with: its program, this project's folder, and a clean environment."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from lab.errors import LabError

ROOT = Path(__file__).resolve().parents[2]
"""This project's folder, where an application is imported unless another folder is named."""


def binary() -> str:
    """
    Return the path of uwsgi: the one beside this Python, else the one on PATH.

    Raises:
        LabError: There is none.
    """
    beside = str(Path(sys.executable).parent)
    path = shutil.which("uwsgi", path=os.pathsep.join((beside, os.environ.get("PATH", ""))))
    if path is None:
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
    beside = str(Path(sys.executable).parent)
    kept["PATH"] = os.pathsep.join((beside, kept.get("PATH", os.defpath)))
    return kept | variables
