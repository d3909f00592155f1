"""The `lab` command: a module or a folder for each subcommand."""

from __future__ import annotations

import os
import signal

from lab.errors import Interrupted


def main() -> None:
    """
    Run the command line.

    All that it needs takes half a second to import. A Ctrl-C in that time ends the process at once
    and without a word, because nothing has been started yet.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(Interrupted.exit_code))
    try:
        from lab.cli.commands import run_command_line  # noqa: PLC0415 - see above

        run_command_line()
    finally:
        signal.signal(signal.SIGINT, before)
