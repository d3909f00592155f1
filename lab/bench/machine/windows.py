"""
Give the CPUs to everybody in windows, and in between to a load alone.

Run as `python -I -S windows.py`. In each period the windows open on all CPUs at the same moment, so
that what runs in them has that many CPUs, and runs on them as if they were slower. Between the
windows a spinner at a real-time priority keeps each CPU from everything but the load, which has a
higher one then; within them the load runs where a CPU is idle only. A server is not touched.

Standard input is a line of JSON, {"cpus": [cpu, ...], "window": seconds, "share": share,
"seconds": seconds, "load": [pid, ...]}. Output is a line when the windows have begun. It ends at
the end of its input, after so many seconds, or at SIGTERM; the load then has its usual policy
again. The spinners end with it, after those seconds, or when the kernel sees that one of them has
not slept for `LONGEST`.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

PR_SET_PDEATHSIG = 1  # linux/prctl.h
SPINNER, LOAD, CONDUCTOR = 1, 2, 3  # priorities of SCHED_FIFO
LONGEST = 500_000
"""Microseconds that a spinner may run without a sleep: a period is 0.12 s at the most."""


def main() -> None:
    """Open and close the windows until it is time to end."""
    order = json.loads(sys.stdin.readline())
    window = round(order["window"] * 1e9)
    period = round(window / order["share"])
    end = time.monotonic_ns() + round(order["seconds"] * 1e9)
    begin = time.monotonic_ns() + period
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    spinners = [_spin(cpu, begin, window, period, end) for cpu in order["cpus"]]
    load = [thread for pid in order["load"] for thread in _threads(pid)]
    try:
        _schedule(0, os.SCHED_FIFO, CONDUCTOR)
        _schedule_load(load, os.SCHED_FIFO, LOAD)
        os.write(1, b"{}\n")
        _conduct(load, begin, window, period, end)
    finally:
        for spinner in spinners:
            os.kill(spinner, signal.SIGKILL)
        _schedule_load(load, os.SCHED_OTHER, 0)


def _conduct(load: list[int], begin: int, window: int, period: int, end: int) -> None:
    """Let the load run before everything else between the windows, and after it within them."""
    while begin < end and not select.select([0], [], [], 0)[0]:
        _sleep_until(begin)
        _schedule_load(load, os.SCHED_IDLE, 0)
        _sleep_until(begin + window)
        _schedule_load(load, os.SCHED_FIFO, LOAD)
        # Where it was kept from its CPU for a period, it leaves that one out.
        begin += period * max(1, -((begin - time.monotonic_ns()) // period))


def _spin(cpu: int, begin: int, window: int, period: int, end: int) -> int:
    """Start a process that keeps *cpu* busy between the windows; return its number."""
    parent = os.getpid()
    if pid := os.fork():
        return pid
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it has ended before the line above
            return 0
        resource.setrlimit(resource.RLIMIT_RTTIME, (LONGEST, LONGEST))
        os.sched_setaffinity(0, (cpu,))
        _schedule(0, os.SCHED_FIFO, SPINNER)
        clock = time.monotonic_ns
        while begin < end:
            while clock() < begin:
                pass
            _sleep_until(begin + window)
            begin += period
    finally:
        os._exit(0)


def _threads(pid: int) -> list[int]:
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - numbers


def _schedule(thread: int, policy: int, priority: int) -> None:
    """Set the policy of *thread*, which what it starts does not inherit."""
    if policy != os.SCHED_OTHER:
        policy |= os.SCHED_RESET_ON_FORK
    os.sched_setscheduler(thread, policy, os.sched_param(priority))


def _schedule_load(load: list[int], policy: int, priority: int) -> None:
    """Set the policy of the load's threads; those that have ended need none."""
    for thread in load:
        with suppress(ProcessLookupError):
            _schedule(thread, policy, priority)


def _sleep_until(instant: int) -> None:
    if (left := instant - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9)


if __name__ == "__main__":
    main()
