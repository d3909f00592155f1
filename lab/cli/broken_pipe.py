"""An output whose reader has gone, as of `lab list | head -1`, does not change how it ends."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class _Unread(io.FileIO):
    """A pipe that forgets what nobody reads any more."""

    def write(self, data: Any, /) -> int:
        """Write *data*, or nothing where the reader has gone, from then on."""
        try:
            return super().write(data)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return len(data)


def forget_what_nobody_reads() -> None:
    """
    Let standard output lose its reader without an error.

    So the exit status stays the command's: a script that reads the first lines of a report, and
    stops, is still told of a limit that was crossed.
    """
    usual = sys.stdout
    if usual is not sys.__stdout__ or not isinstance(usual, io.TextIOWrapper) or usual.isatty():
        return  # what a caller put in its place, or a terminal
    usual.flush()
    pipe = _Unread(usual.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        pipe if usual.write_through else io.BufferedWriter(pipe),
        encoding=usual.encoding,
        errors=usual.errors,
        newline="\n",
        write_through=usual.write_through,
    )
