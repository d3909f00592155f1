"""
Stand between the lab and a server: nothing of the server outlives the lab.

Run as `python -I -S guard.py`. Standard input is a pipe whose write end only the lab holds, so its
end of file means that the lab has ended, however it ended, SIGKILL included. As a subreaper
(prctl(2)) the guard becomes the parent of every orphan below it; it kills until it has no child
left, and what it has reaped counts in its own cutime, so the CPU time of the tree is never lost.

The first line of input is the order: {"commands": [[word, ...], ...], "environment": {...},
"cwd": path, "cores": [cpu, ...] or None}. Later lines are numbers of signals for the commands, or
"again" and the index of a command that has ended, which is then started once more.

Output is a line for each event: {"started": [pid, ...]}, {"failed": text}, and
{"ended": index of the command, "status": exit status or -signal}. Standard error is the log.

The order and the events are marshalled, in hexadecimal digits. A guard starts with each server, and
needs 15 ms of CPU: json, pathlib, signal, subprocess and typing would take 25 ms more.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found, unused-ignore]  # without enum
import ctypes
import marshal
import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class _Subprocess:
    """A command that was started; its process id is its own until it has *ended*."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ended = False


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

    commands: list[_Subprocess] = []
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
                    order = marshal.loads(bytes.fromhex(line.decode()))  # noqa: S302 - the lab's
                    _start(order, commands)
                elif line.startswith(b"again "):
                    _again(int(line.split()[1]), order, commands)
                else:
                    _send(int(line), commands)
    _kill_subtree()


def _close_inherited() -> None:
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - numbers, not paths
        if number > 2:
            try:
                os.close(number)
            except OSError:  # the listing's own is closed already
                continue


def _start(order: dict[str, Any], commands: list[_Subprocess]) -> None:
    try:
        if order["cores"] is not None:
            os.sched_setaffinity(0, order["cores"])  # the commands inherit it
        commands.extend(_begin(command, order) for command in order["commands"])
    except OSError as error:
        _report({"failed": str(error)})
    else:
        _report({"started": [command.pid for command in commands]})


def _again(index: int, order: dict[str, Any], commands: list[_Subprocess]) -> None:
    try:
        commands[index] = _begin(order["commands"][index], order)
    except OSError as error:
        _report({"failed": str(error)})
    else:
        _report({"started": [command.pid for command in commands]})


def _begin(words: list[str], order: dict[str, Any]) -> _Subprocess:
    """Start a command; raise OSError if it cannot be executed."""
    failure, failed = os.pipe()
    if (pid := os.fork()) == 0:
        _become(words, order, failed)
    os.close(failed)
    number, _, name = os.read(failure, 65536).partition(b" ")  # nothing: its end is closed by exec
    os.close(failure)
    if number:
        os.waitpid(pid, 0)
        raise OSError(int(number), os.strerror(int(number)), os.fsdecode(name))
    return _Subprocess(pid)


def _become(words: list[str], order: dict[str, Any], failed: int) -> None:
    """Become a command, in the child of a fork; do not return."""
    name = order["cwd"]
    try:
        # A session of its own, so that a server's kill(0, ...) does not reach the guard.
        os.setsid()
        os.chdir(name)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        name = words[0]
        os.execvpe(name, words, order["environment"])  # noqa: S606 - there is no shell
    except OSError as error:
        os.write(failed, b"%d %s" % (error.errno or 0, os.fsencode(name)))
    finally:
        os._exit(127)


def _send(number: int, commands: list[_Subprocess]) -> None:
    # Only to commands that are not reaped: their numbers cannot have been given to others.
    for command in reversed(commands):
        if not command.ended:
            os.kill(command.pid, number)


def _reap(commands: list[_Subprocess]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        for index, command in enumerate(commands):
            if command.pid == pid and not command.ended:
                command.ended = True
                _report({"ended": index, "status": os.waitstatus_to_exitcode(status)})


def _report(event: dict[str, object]) -> None:
    try:
        os.write(1, marshal.dumps(event).hex().encode() + b"\n")
    except BrokenPipeError:  # the lab has ended; standard input says so too
        return


def _kill_subtree() -> None:
    """Kill every descendant until there is none; a process that forks meanwhile only delays it."""
    while True:
        for pid in _descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        select.select([], [], [], 0.002)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - numbers, not paths
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - without pathlib
                    stat = file.read()
            except OSError:  # it has ended meanwhile
                continue
            # The name in parentheses may hold anything; the parent is the second field after it.
            parent = int(stat.rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
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
