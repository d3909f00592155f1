"""
Files of somebody else's, read within bounds: as bytes, and never as anything else.

Only a regular file is opened. To open a pipe may wait for ever, or wake who waits at its other end;
to open a device may do what the device does.
"""

from __future__ import annotations

import os
import stat
from itertools import islice
from pathlib import Path

LARGEST = 8 << 20
"""Bytes of the largest file that is read; a configuration has some hundred lines."""


class UnreadableError(Exception):
    """A file is none that is read; the message says why, as in "permission denied"."""


def read_bytes(path: Path, most: int = LARGEST) -> bytes:
    """
    Return what stands in a regular file.

    Args:
        path: The file, or a link to one.
        most: Bytes that it may have.

    Raises:
        UnreadableError: It is none, is larger, or cannot be read.
    """
    try:
        if os.path.realpath(path).startswith(("/proc/", "/sys/")):
            raise UnreadableError("is the kernel's, and to read it may do something")
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):
            what = "a folder" if stat.S_ISDIR(kind) else "no file but a pipe, a socket or a device"
            raise UnreadableError(f"is {what}")
        # It may have become a pipe meanwhile, and files of /proc can wait as pipes do.
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(opened, "rb") as file:  # noqa: PTH123 - of a number there is no path
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise UnreadableError("is no file any more")
            # By pieces: of /proc the kernel keeps as much memory as it is asked for.
            pieces = iter(lambda: file.read(1 << 16) or b"", b"")
            content = b"".join(islice(pieces, most // (1 << 16) + 1))
    except (OSError, ValueError) as error:  # the latter of a name with a byte of value 0
        said = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"cannot be read: {said[:1].lower()}{said[1:]}") from error
    if len(content) > most:
        raise UnreadableError(f"is larger than {most >> 10:,} KiB, so it is not read")
    return content
