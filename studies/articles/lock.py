"""A folder of runs that one call has for itself, as what it makes depends on what is there."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.errors import UsageError


@contextmanager
def locked(results: Path) -> Iterator[None]:
    """
    Keep a folder from other calls until the block ends; it is made if it is not there.

    The folder itself is locked, so no file is left behind, and a process that is killed holds it
    no longer.

    Raises:
        UsageError: It is no folder, nothing can be written into it, or another call has it.
    """
    if results.exists() and not results.is_dir():
        raise UsageError(f"--results {results}: is a file, not a folder")
    try:
        results.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=results):
            pass
        handle = os.open(results, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"--results {results}: cannot be written: {error.strerror}") from error
    try:
        _lock(handle, results)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # a child that was forked may have it open still
        os.close(handle)


def _lock(handle: int, results: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"--results {results}: another lab claims --run makes runs there; wait for its end, or "
            "name another folder"
        ) from None
