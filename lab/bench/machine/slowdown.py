"""
Slow a server down: all CPUs are its own for a share of the time, and the load's for the rest.

To the server that is a slower machine with as many CPUs, whose clients are elsewhere. The method,
and how well it agrees with CPUs of its own, are in docs/explanation/slowed-server.md.
"""

from __future__ import annotations

import json
import math
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.errors import GeneratorError

PROGRAM = Path(__file__).with_name("windows.py")
"""The program that opens and closes the windows."""

USUAL = 0.003
"""Seconds of a window where what a request costs is not known."""

LONGEST = 0.012
"""Seconds of a window: a server whose threads wake each other pays little for so few, and at a
share of 10 % the machine answers a shell each 0.12 s."""

FEWEST = 40
"""Windows of a measurement: of fewer, whether one more falls into it would show in requests/s. With
turns, this times the square root of their number: at the edges of several that is chance."""

SHORTEST = 0.001
"""In windows half as long a request costs uWSGI a tenth more; in these about as much as in longer
ones."""

FILLED = 0.5
"""Requests of a window for each connection: their next ones come after it."""

LEAST = 0.10
"""Smallest share: the kernel keeps 5 % of the time from real-time tasks, and more is theirs
otherwise."""

START = 10.0
"""Seconds that the windows may take to begin."""

TRIED = 0.5
"""Seconds for which `measured_share` tries."""


def obstacle() -> str | None:
    """Return why this process may not slow a server; None where it may."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return (
            "a real-time policy is not permitted: run as root or with CAP_SYS_NICE; in a "
            "container, docker run --cap-add sys_nice"
        )
    except OSError as error:
        return f"a real-time policy cannot be set: {error.strerror}"
    os.sched_setscheduler(0, *before)
    return None


def window_for(
    cost: float | None, connections: int, cpus: int, measured: float, turns: int = 1
) -> float:
    """
    Return the seconds of a window that a load fills.

    Args:
        cost: CPU seconds of a request; None: unknown.
        connections: Requests that wait when a window opens.
        cpus: Those that may serve them.
        measured: Seconds that a measurement gives to the server.
        turns: In how many turns it gives them.

    >>> window_for(80e-6, 64, 2, 0.75)
    0.00128
    """
    if cost is None:
        return USUAL
    filled = FILLED * connections * cost / cpus
    return max(SHORTEST, min(LONGEST, measured / math.sqrt(turns) / FEWEST, filled))


@contextmanager
def slowed(
    share: float,
    load: Sequence[int],
    cpus: Sequence[int],
    seconds: float,
    window: float = USUAL,
) -> Iterator[Sequence[int]]:
    """
    Slow down whatever runs on *cpus* but for the load; yield the processes that do it.

    Args:
        share: Share of the time that is not the load's, from `LEAST` on.
        load: Processes of the load.
        cpus: All CPUs that the server and the load may use.
        seconds: After this time it ends by itself.
        window: Seconds of a window.

    Raises:
        GeneratorError: It could not begin, or has ended by itself.
    """
    order = {"cpus": [*cpus], "window": window, "share": share, "seconds": seconds}
    order["load"] = [*load]
    process = subprocess.Popen(
        (sys.executable, "-I", "-S", str(PROGRAM)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        os.write(process.stdin.fileno(), json.dumps(order).encode() + b"\n")
        ready = select.select([process.stdout], [], [], START)[0]
        if not ready or not os.read(process.stdout.fileno(), 16):
            raise GeneratorError(f"the server cannot be slowed down: {_last_words(process)}")
        yield (process.pid,)
        if process.poll() is not None:
            raise GeneratorError("the server was slowed down no more before the trial's end")
    finally:
        process.stdin.close()
        try:
            process.wait(START)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        assert process.stderr is not None
        process.stderr.close()
        _restore(load)


def measured_share(share: float) -> float:
    """
    Return the share of its CPUs that a busy program gets where a server would have *share*.

    Raises:
        GeneratorError: Nothing can be slowed down.
    """
    cpus = sorted(os.sched_getaffinity(0))
    code = "import os\nos.sched_setaffinity(0, [{}])\nwhile True: pass"
    busy = [subprocess.Popen((sys.executable, "-I", "-S", "-c", code.format(cpu))) for cpu in cpus]
    try:
        with slowed(share, (), cpus, TRIED + START):
            used, began = _cpu(busy), time.monotonic()
            time.sleep(TRIED)
            return (_cpu(busy) - used) / (time.monotonic() - began) / len(cpus)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _cpu(processes: Sequence[subprocess.Popen[bytes]]) -> float:
    """Return the CPU seconds of processes, to the nanosecond."""
    texts = [Path(f"/proc/{process.pid}/schedstat").read_text() for process in processes]
    return sum(int(text.split()[0]) for text in texts) / 1e9


def _last_words(process: subprocess.Popen[bytes]) -> str:
    process.kill()
    _, text = process.communicate()
    return text.decode(errors="replace").strip().rpartition("\n")[2] or "it did not begin"


def _restore(load: Sequence[int]) -> None:
    """Give the load its usual policy, which the program may not have been able to do."""
    for pid in load:
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - numbers
                os.sched_setscheduler(int(thread), os.SCHED_OTHER, os.sched_param(0))
