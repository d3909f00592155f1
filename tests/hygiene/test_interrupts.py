"""A signal ends the lab also where Python drops what a handler raises."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from lab.cli.interrupts import SIGNALS, interruptible
from lab.errors import Interrupted


@pytest.fixture(autouse=True)
def default_handlers():
    """Take the signals as under a terminal: below nohup, or in the background, they are ignored."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Finalized:
    """Gets a signal within its finalizer, where Python prints an exception and goes on."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        os.kill(os.getpid(), self.number)
        for _ in range(100):  # Python runs the handler here
            pass


def wait(number):
    """Get a signal within a finalizer, and wait, as a run does for its server."""
    Finalized(number)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        time.sleep(1)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_within_a_finalizer_ends_the_lab(number):
    """An import runs such callbacks, so a Ctrl-C at the start met one."""
    with pytest.raises(Interrupted, match=number.name), interruptible():
        wait(number)


def test_another_error_within_a_finalizer_is_still_reported(monkeypatch):
    """The hook that was there before gets it."""

    class Broken:
        def __del__(self):
            raise ValueError("broken")

    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(report.exc_type))
    with interruptible():
        Broken()
    assert reports == [ValueError]


def test_the_handlers_are_those_of_before():
    """Also after a signal was sent twice."""
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(Interrupted), interruptible():
        wait(signal.SIGINT)
    assert [signal.getsignal(number) for number in SIGNALS] == before
