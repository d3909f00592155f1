"""
What must be right before uWSGI starts, and what uWSGI itself would start without.

A profile runs it before a word is logged; an exit status other than 0 stops the start:

    env = FIB_HOME=%d..
    exec-asap = python3 -I -S "$FIB_HOME/app/preflight.py"

In quotes, the shell takes whatever characters the folder's name has, and does not run them. The
module imports nothing of this project and asks nothing of this machine, so any Python can run it:
isolated (-I), and without installed packages (-S), which halves the time that it takes.

Source: fcntl(2), O_NONBLOCK, which belongs to the open file and so is uWSGI's, too.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Mapping

MOST = 1024
"""Workers of an instance. Each takes megabytes; a digit too many takes all of the memory."""


def check_processes(environ: Mapping[str, str]) -> None:
    """
    Refuse a number of workers that is none.

    uWSGI reads "four" as 0, starts a master without workers, accepts and never answers.

    Raises:
        ValueError: PROCESSES is set, and is not a number from 1 to `MOST`.
    """
    value = environ.get("PROCESSES")
    if value is None:
        return
    number = int(value) if re.fullmatch("[0-9]{1,9}", value) else 0
    if not 1 <= number <= MOST:
        raise ValueError(
            f"PROCESSES={value!r}: expected a number from 1 to {MOST}, or leave it unset"
        )


def never_wait_for_the_log() -> None:
    """
    Let lines be lost where nobody reads them, instead of waiting until somebody does.

    A master that waits in a write neither replaces a dead worker nor obeys SIGTERM. It writes to
    its standard output, and before that to its standard error; containers have a pipe for each. A
    file never makes it wait, and a terminal belongs to others, too.
    """
    for descriptor in (1, 2):
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            os.set_blocking(descriptor, False)


if __name__ == "__main__":
    try:
        check_processes(os.environ)
        never_wait_for_the_log()
    except ValueError as error:
        sys.exit(f"preflight: {error}")
