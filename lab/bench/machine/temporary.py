"""
Folders that live as long as a trial: for a server's log, sockets and files of its own.

The lab removes them, also when it is interrupted. When it is killed, another process has to
(`lab.bench.machine.sweeper`): a guard could remove its own trial's, but not one whose server has
not been started yet or has been stopped already.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.errors import LabError

PREFIX = "lab-"

_SWEEPER = Path(__file__).with_name("sweeper.py")
_END = 15.0  # seconds for it to end: its own deadline, and some to spare

_told: int | None = None  # the pipe to the sweeper of this process


@contextmanager
def swept() -> Iterator[None]:
    """Let a process of its own remove what `folder` makes, if this one is killed before it can."""
    global _told  # noqa: PLW0603 - one for the process, like the signals that it is for
    if _told is not None:
        yield
        return
    its_input, write_end = os.pipe()
    try:
        sweeper = subprocess.Popen(
            (sys.executable, "-I", "-S", str(_SWEEPER)),
            stdin=its_input,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except BaseException:
        os.close(write_end)
        raise
    finally:
        os.close(its_input)
    _told = write_end
    try:
        yield
    finally:
        _told = None
        os.close(write_end)
        _wait_for(sweeper)


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    # Not process.wait(): below gevent, as in Locust, it notices the end only at the next timer.
    deadline = time.monotonic() + _END
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


@contextmanager
def folder() -> Iterator[Path]:
    """
    Make a folder that only this user can read; it is removed on exit.

    Raises:
        LabError: It cannot be made.
    """
    path = Path(tempfile.gettempdir(), f"{PREFIX}{secrets.token_hex(4)}")
    if _told is not None:
        with suppress(BrokenPipeError):  # somebody has killed it
            os.write(_told, os.fsencode(path) + b"\n")  # before it is made: no moment is between
    try:
        path.mkdir(mode=0o700)
    except OSError as error:
        raise LabError(_problem(path, error)) from error
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write(path: Path, text: str) -> None:
    """
    Write a file of a trial's folder; a path in it that is no UTF-8 as the bytes that it is.

    Raises:
        LabError: It cannot be written, as on a disk that is full.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise LabError(_problem(path, error)) from error


def _problem(path: Path, error: OSError) -> str:
    return (
        f"{path}: cannot be written: {error.strerror}; it is a temporary file, and TMPDIR names "
        "another place for those"
    )
