"""
A descriptor that becomes readable at an instant.

epoll waits for whole milliseconds, rounded up: in an open loop that would send each request up to
1 ms late, or burn a CPU to be on time. A timer of the kernel in the same epoll wakes whoever waits
for it, gevent's loop as well, within some 50 µs.

Source: timerfd_create(2).
"""

from __future__ import annotations

import ctypes
import os
import time

_NANOSECONDS = 1_000_000_000
_ABSOLUTE = 1  # TFD_TIMER_ABSTIME

# `os.timerfd_create` came with Python 3.13.
_libc = ctypes.CDLL(None, use_errno=True)


class _Time(ctypes.Structure):
    """A `struct itimerspec`: interval and first expiry."""

    _fields_ = (
        ("interval", ctypes.c_long * 2),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    )


class Alarm:
    """
    One timer, unset at first; register its `fd` edge-triggered, so that it need not be read.

    Raises:
        OSError: The process has no descriptor left.
    """

    def __init__(self) -> None:
        self.fd: int = _libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._time = _Time()
        self._set = _libc.timerfd_settime
        self._arguments = (self.fd, _ABSOLUTE, ctypes.byref(self._time), None)

    def set(self, instant: float) -> None:
        """Go off at *instant*, of `time.perf_counter` (on Linux CLOCK_MONOTONIC), or at once."""
        due = int(instant * _NANOSECONDS) + 1  # never before it
        self._time.seconds, self._time.nanoseconds = divmod(due, _NANOSECONDS)
        self._set(*self._arguments)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.fd)
