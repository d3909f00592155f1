"""
Ctrl-C, SIGTERM and a closed terminal end a run in order: server stopped, finished trials kept.

SIGKILL cannot be caught; then the guard of each server sees its pipe close and kills its tree, and
the sweeper (`lab.bench.machine.sweeper`) removes the trial's folder.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from lab.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

AGAIN = 0.01
"""Seconds until a signal whose exception Python dropped is sent again."""


@contextmanager
def interruptible() -> Iterator[None]:
    """
    Raise `Interrupted` in the main thread on the first signal; ignore further ones while cleaning.

    Cleaning up takes a second at most, and a second Ctrl-C in the middle of it would leave behind
    what the first one was about to stop.

    Python drops an exception that is raised in a finalizer or in a callback of an import. A signal
    that comes at such a moment is sent again.
    """
    raised = dropping = ended = False
    threads: list[threading.Thread] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        nonlocal raised
        # Python drops what is raised in its hook, too; `send` sends it again.
        if not (raised or dropping):
            raised = True
            raise Interrupted(signal.Signals(number).name)

    def send(number: int) -> None:
        while not (raised or ended):
            time.sleep(AGAIN)
            os.kill(os.getpid(), number)

    def unraisable(dropped: sys.UnraisableHookArgs) -> None:
        nonlocal raised, dropping
        if not isinstance(dropped.exc_value, Interrupted):
            hook_before(dropped)
            return
        dropping, raised = True, False
        number = signal.Signals[dropped.exc_value.signal_name]
        threads.append(threading.Thread(target=send, args=(number,)))
        threads[-1].start()
        dropping = False

    # What is ignored from outside stays ignored, as nohup and a shell's background jobs want it.
    replaced = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in replaced}
    hook_before, sys.unraisablehook = sys.unraisablehook, unraisable
    try:
        yield
    finally:
        ended = True
        for thread in threads:
            thread.join()
        sys.unraisablehook = hook_before
        for number, handler in before.items():
            signal.signal(number, handler)
