"""
Whether a profile names what a server on this machine is using now.

uWSGI unlinks a UNIX socket or FIFO and binds its own, and overwrites a pidfile, without asking
whose they are (2.0.31, core/socket.c, core/fifo.c): a trial of the ini that is in production would
cut its server off.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import psutil

from lab.errors import ProfileError
from lab.model import Profile
from lab.servers.ports import accepts, listens
from lab.settings.uwsgi import BINDS, PIDFILES
from lab.system.programs import ROOT

JITTER = 60.0
"""Seconds: the start of a process is told against a clock that may have been set since."""


def check_unused(profile: Profile) -> None:
    """
    Make sure that starting *profile* takes nothing from a server that runs now.

    What a server left behind, a socket that nobody answers or the pidfile of a dead process, is no
    reason to refuse.

    Raises:
        ProfileError: It would; with the option, its value, and what to do.
    """
    here = str(profile.path.resolve().parent)
    options = [
        (option, value.replace("{here}", here).replace("{root}", str(ROOT)))
        for option, value in profile.options
    ]
    folder = dict(options).get("chdir", "")
    for option, value in options:
        if (use := _use(option, value, folder)) is not None:
            raise ProfileError(
                profile.path,
                f"{option} = {value}: {use}, and a trial would take its place; stop that server, "
                "or test a copy of the file without this option",
            )


def _use(option: str, value: str, folder: str) -> str | None:
    """Return who uses what *option* names, or None."""
    # Routers take more after a comma, or keys and values.
    address = value.partition(",")[0].removeprefix("addr=")
    # uWSGI opens some before and some after it changes the folder.
    paths = {Path(address), Path(folder, address)}
    if option in PIDFILES:
        return "its process runs" if any(map(_is_current, paths)) else None
    if option == "master-fifo":
        return "a server reads it" if any(map(_is_read, paths)) else None
    if not BINDS.fullmatch(option):
        return None
    if port := re.search(r":(\d+)$", address):
        return "a server listens there" if listens(int(port[1])) else None
    names = {f"\0{address[1:]}"} if address.startswith("@") else {str(path) for path in paths}
    return "a server accepts connections there" if any(map(accepts, names)) else None


def _is_read(path: Path) -> bool:
    try:
        if not stat.S_ISFIFO(path.stat().st_mode):
            return False
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def _is_current(pidfile: Path) -> bool:
    """Return whether a pidfile's process runs, and is not a later one of the same number."""
    try:
        pid, written = int(pidfile.read_text(encoding="ascii")), pidfile.stat().st_mtime
        process = psutil.Process(pid)
        ended = process.status() == psutil.STATUS_ZOMBIE
        return not ended and process.create_time() <= written + JITTER
    except (OSError, ValueError, OverflowError, psutil.Error):
        return False
