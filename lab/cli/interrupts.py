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


class _Interruption:
    """What a signal does while the lab runs."""

    def __init__(self) -> None:
        self._raised = self._dropping = self._ended = False
        self._threads: list[threading.Thread] = []
        self._hook_before = sys.unraisablehook

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Raise `Interrupted`, as a handler of signals."""
        # Python drops what is raised in its hook, too; `_send` sends it again.
        if self._raised or self._dropping:
            return
        if _imports(frame):
            if not any(thread.is_alive() for thread in self._threads):
                self._send_again(number)
            return
        self._raised = True
        raise Interrupted(signal.Signals(number).name)

    def unraisable(self, dropped: sys.UnraisableHookArgs) -> None:
        """Send the signal again whose exception Python dropped."""
        if not isinstance(dropped.exc_value, Interrupted):
            self._hook_before(dropped)
            return
        self._dropping, self._raised = True, False
        self._send_again(signal.Signals[dropped.exc_value.signal_name])
        self._dropping = False

    def end(self) -> None:
        """Send no signal from now on."""
        self._ended = True
        for thread in self._threads:
            thread.join()
        sys.unraisablehook = self._hook_before

    def _send_again(self, number: int) -> None:
        self._threads.append(threading.Thread(target=self._send, args=(number,)))
        self._threads[-1].start()

    def _send(self, number: int) -> None:
        while not (self._raised or self._ended):
            time.sleep(AGAIN)
            os.kill(os.getpid(), number)


@contextmanager
def interruptible() -> Iterator[None]:
    """
    Raise `Interrupted` in the main thread on the first signal; ignore further ones while cleaning.

    Cleaning up takes a second at most, and a second Ctrl-C in the middle of it would leave behind
    what the first one was about to stop.

    Python drops an exception that is raised in a finalizer or in a callback of an import, and gives
    it another type where an import makes a class (3.11). A signal that comes at such a moment, or
    in an import, is sent again.
    """
    interruption = _Interruption()
    # What is ignored from outside stays ignored, as nohup and a shell's background jobs want it.
    replaced = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interruption.interrupt) for number in replaced}
    sys.unraisablehook = interruption.unraisable
    try:
        yield
    finally:
        interruption.end()
        for number, handler in before.items():
            signal.signal(number, handler)


def _imports(frame: FrameType | None) -> bool:
    """Return whether *frame* runs within an import."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
