"""
Remove the lab's temporary folders when the lab has ended, however it ended.

Run as `python -I -S sweeper.py`. Each line of standard input is the path of a folder that is about
to be made; only the lab holds the other end of that pipe, so its end of file means that the lab is
gone, and SIGKILL is no exception. Whatever of the folders is there then is removed; what has gone
in the usual way is not missed. A server may still write while its guard kills it, so a folder is
removed until it is gone. Most often there is nothing to remove, so shutil, whose import takes
longer than all the rest, is imported at the end.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found, unused-ignore]  # without enum
import os
import sys
import time

DEADLINE = 10.0
"""Seconds; a guard needs a few milliseconds to kill its server."""

AGAIN = 0.02
"""Seconds between two attempts."""


def main() -> None:
    """Wait for the lab's end, then remove its folders."""
    # They reach the lab as well, whose end is what counts.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # One that was torn by the lab's end was not made: its line comes first.
    *folders, _torn = sys.stdin.buffer.read().split(b"\n")
    deadline = time.monotonic() + DEADLINE
    while (left := [folder for folder in folders if os.path.lexists(folder)]) and (
        time.monotonic() < deadline
    ):
        import shutil  # noqa: PLC0415 - as above

        for folder in left:
            shutil.rmtree(folder, ignore_errors=True)
        time.sleep(AGAIN)


if __name__ == "__main__":
    main()
