"""
Where the threads of a server wait: the system call of each, and the peer of its socket.

It reads /proc and the socket diagnosis, and stops no thread. Root may read it, and the user of the
server where the system allows that user to attach a debugger (kernel.yama.ptrace_scope). What a
call of poll(2) or a lock waits for is in the memory of the process, which is not read.

Sources: proc_pid_syscall(5), arch/x86/entry/syscalls/syscall_64.tbl,
include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lab.bench.probes.holders import PREFIX
from lab.bench.probes.processes import PROC
from lab.bench.probes.sock_diag import SocketDiagnosis

RECEIVE, SEND, CONNECT = "recv from", "send to", "connect to"

EPOLL, LOCK = "epoll", "a lock, or idle"

POLL = "poll"
"""What a thread waits for that polls is unknown."""

X86 = {
    0: RECEIVE, 19: RECEIVE, 45: RECEIVE, 47: RECEIVE, 1: SEND, 20: SEND, 44: SEND, 46: SEND,
    42: CONNECT, 43: "accept", 288: "accept", 7: POLL, 271: POLL, 23: POLL, 270: POLL,
    232: EPOLL, 281: EPOLL, 202: LOCK, 35: "sleep", 230: "sleep",
    61: "wait for a process", 73: "a file lock", 72: "a file lock", 74: "fsync", 75: "fsync",
}  # fmt: skip

ARM = {
    63: RECEIVE, 65: RECEIVE, 207: RECEIVE, 212: RECEIVE, 64: SEND, 66: SEND, 206: SEND, 211: SEND,
    203: CONNECT, 202: "accept", 242: "accept", 73: POLL, 72: POLL, 22: EPOLL,
    98: LOCK, 101: "sleep", 115: "sleep", 260: "wait for a process",
    32: "a file lock", 25: "a file lock", 82: "fsync", 83: "fsync",
}  # fmt: skip

CALLS: Mapping[int, str] = {"x86_64": X86, "aarch64": ARM}.get(platform.machine(), {})
"""Number of a system call -> where a thread in it is."""

RUNNING = "running"
"""On a CPU, or ready to run."""


def waits_elsewhere(pid: int) -> bool | None:
    """
    Return whether the main thread of a process waits, and not for its sockets in epoll.

    None: it runs, it has ended, or this user may not see it.
    """
    try:
        call = _call(Path(f"{PROC}/{pid}/syscall").read_text())
    except OSError:
        return None
    return None if call == RUNNING or not CALLS else call != EPOLL


def waiting_threads(pid: int) -> int:
    """Return how many threads beside the main one wait within a call, such as recv or sleep."""
    with suppress(PermissionError):
        others = (text for name, text in _threads(pid) if name != str(pid))
        return sum(_call(text) not in {RUNNING, EPOLL, LOCK} for text in others)
    return 0


def _threads(pid: int) -> Iterator[tuple[str, str]]:
    """
    Yield the name of each thread of a process, and its /proc/PID/task/TID/syscall.

    Raises:
        PermissionError: This user may not see it.
    """
    try:
        names = os.listdir(f"{PROC}/{pid}/task")  # noqa: PTH208 - names are enough
    except OSError:
        return
    for name in names:
        try:
            text = Path(f"{PROC}/{pid}/task/{name}/syscall").read_text()
        except PermissionError:
            raise
        except OSError:
            continue
        yield name, text


def _call(text: str) -> str:
    """Return the call in which a thread waits, from its /proc/PID/task/TID/syscall; or RUNNING."""
    number, *arguments = text.split()
    if number in {RUNNING, "-1"} or not arguments:
        return RUNNING
    return CALLS.get(int(number), f"system call {number}")


@dataclass(slots=True)
class ThreadWaits:
    """Where the threads of workers were, over several samples."""

    port: int
    """Of the server: who connects there is a client, and is not named. 0 of a UNIX socket."""

    diagnosis: SocketDiagnosis
    """Of their network namespace."""

    samples: int = 0
    refused: bool = False
    """Whether this user may not see it, or the kernel does not tell."""

    _seen: dict[int, Counter[str]] = field(default_factory=dict)
    _peers: dict[int, str] = field(default_factory=dict)
    """Inode -> peer of the socket."""

    def sample(self, pids: Collection[int]) -> None:
        """Look at the threads of workers once."""
        if self.refused or not CALLS:
            self.refused = True
            return
        try:
            for pid in pids:
                places = (self._place(pid, text) for _, text in _threads(pid))
                self._seen.setdefault(pid, Counter()).update(places)
        except PermissionError:
            self.refused = True
            return
        self.samples += 1

    def of(self, pid: int) -> list[tuple[str, float]]:
        """Return where the threads of a worker were, and how many there on average; most first."""
        counts = self._seen.get(pid, Counter())
        return [(place, count / self.samples) for place, count in counts.most_common()]

    def awaited(self, least: float) -> str:
        """Return the server that at least so many threads wait for on average; empty: none."""
        counts: Counter[str] = Counter()
        for places in self._seen.values():
            counts.update(places)
        peers = {
            place.removeprefix(RECEIVE).strip(): count / self.samples
            for place, count in counts.items()
            if place.startswith(RECEIVE) and ":" in place
        }
        peer = max(peers, key=lambda name: peers[name], default="")
        return peer if peer and peers[peer] >= least else ""

    @property
    def polled(self) -> bool:
        """Whether a thread polled."""
        return any(counts[POLL] for counts in self._seen.values())

    def _place(self, pid: int, text: str) -> str:
        """Return where a thread is, from its /proc/PID/task/TID/syscall."""
        call = _call(text)
        if call not in {RECEIVE, SEND, CONNECT}:
            return call
        return f"{call} {self._peer(pid, int(text.split()[1], 16))}"

    def _peer(self, pid: int, descriptor: int) -> str:
        """Return what is at the other end of a descriptor."""
        try:
            target = (PROC / str(pid) / "fd" / str(descriptor)).readlink()
        except PermissionError:
            raise
        except OSError:
            return "a closed file"
        text = str(target)
        if not text.startswith(PREFIX):
            return "a pipe" if text.startswith("pipe:") else "a file"
        inode = int(text[len(PREFIX) : -1])
        if inode not in self._peers:
            local, peer = self.diagnosis.peer(inode) or (None, "a UNIX socket")
            self._peers[inode] = "a client" if self.port and local == self.port else peer
        return self._peers[inode]
