"""
Ctrl-C, SIGTERM and a closed terminal end a run in order: server stopped, finished trials kept.

SIGKILL cannot be caught; then the guard of each server sees its pipe close and kills its tree, and
the sweeper (`lab.system.sweeper`) removes the trial's folder.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from lab.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[None]:
    """
    Raise `Interrupted` in the main thread on the first signal; ignore further ones while cleaning.

    Cleaning up takes a second at most, and a second Ctrl-C in the middle of it would leave behind
    what the first one was about to stop.
    """

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(signal.Signals(number).name)

    # What is ignored from outside stays ignored, as nohup and a shell's background jobs want it.
    heard = [each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, interrupt) for each in heard}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
