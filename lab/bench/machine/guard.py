"""
Stand between the lab and a server: nothing of the server outlives the lab.

Run as `python -I -S guard.py`. Standard input is a pipe whose write end only the lab holds, so its
end of file means that the lab has ended, however it ended, SIGKILL included. As a subreaper
(prctl(2)) the guard becomes the parent of every orphan below it; it kills until it has no child
left, and what it has reaped counts in its own cutime, so the CPU time of the tree is never lost.

The first line of input is JSON, {"commands": [[word, ...], ...], "environment": {...},
"cwd": path, "cores": [cpu, ...] or null}. Later lines are numbers of signals for the commands, or
"again" and the index of a command that has ended, which is then started once more.

Output is a line of JSON for each event: {"started": [pid, ...]}, {"failed": text}, and
{"ended": index of the command, "status": exit status or -signal}. Standard error is the log.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def main() -> None:
    """Start the commands, report how they end, and leave nothing behind."""
    if os.getsid(0) != os.getpid():
        os.setsid()
    _close_inherited()
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Handlers that do nothing instead of SIG_IGN, which the commands would inherit.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, _nothing)
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)

    commands: list[subprocess.Popen[bytes]] = []
    order: dict[str, Any] = {}
    pending = b""
    while True:
        ready, _, _ = select.select([0, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _reap(commands)
        if 0 in ready:
            read = os.read(0, 65536)
            if not read:
                break
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                if not commands:
                    order = json.loads(line)
                    _start(order, commands)
                elif line.startswith(b"again "):
                    _again(int(line.split()[1]), order, commands)
                else:
                    _send(int(line), commands)
    _kill_subtree()


def _close_inherited() -> None:
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - numbers, not paths
        if number > 2:
            with suppress(OSError):  # the listing's own is closed already
                os.close(number)


def _start(order: dict[str, Any], commands: list[subprocess.Popen[bytes]]) -> None:
    try:
        if order["cores"] is not None:
            os.sched_setaffinity(0, order["cores"])  # the commands inherit it
        commands.extend(_begin(command, order) for command in order["commands"])
    except OSError as error:
        _report({"failed": str(error)})
    else:
        _report({"started": [process.pid for process in commands]})


def _again(index: int, order: dict[str, Any], commands: list[subprocess.Popen[bytes]]) -> None:
    try:
        commands[index] = _begin(order["commands"][index], order)
    except OSError as error:
        _report({"failed": str(error)})
    else:
        _report({"started": [process.pid for process in commands]})


def _begin(command: list[str], order: dict[str, Any]) -> subprocess.Popen[bytes]:
    # A session of its own, so that a server's kill(0, ...) does not reach the guard.
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=2,
        cwd=order["cwd"],
        env=order["environment"],
        start_new_session=True,
    )


def _send(number: int, commands: list[subprocess.Popen[bytes]]) -> None:
    # Only to commands that are not reaped: their numbers cannot have been given to others.
    for process in reversed(commands):
        if process.returncode is None:
            os.kill(process.pid, number)


def _reap(commands: list[subprocess.Popen[bytes]]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        for index, process in enumerate(commands):
            if process.pid == pid and process.returncode is None:
                process.returncode = os.waitstatus_to_exitcode(status)
                _report({"ended": index, "status": process.returncode})


def _report(event: dict[str, object]) -> None:
    with suppress(BrokenPipeError):  # the lab has ended; standard input says so too
        os.write(1, json.dumps(event).encode() + b"\n")


def _kill_subtree() -> None:
    """Kill every descendant until there is none; a process that forks meanwhile only delays it."""
    while True:
        for pid in _descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        select.select([], [], [], 0.002)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_bytes()
            except OSError:  # it has ended meanwhile
                continue
            # The name in parentheses may hold anything; the parent is the second field after it.
            parent = int(stat.rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    descendants: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        descendants += below
        waiting += below
    return descendants


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Let a signal pass; its only use is to wake select()."""


if __name__ == "__main__":
    main()
    # Without the interpreter's own end, which would complain of commands that are still running.
    os._exit(0)
