"""The processes of a running server that have its connections; they come and go."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from lab.bench.probes.holders import Owners, holders, read_sockets
from lab.bench.probes.processes import ProcessState, read_process, read_snapshot

SEARCH = 1.0
"""Seconds between two searches for new workers, at the least."""

IDLE = 10.0
"""Seconds after which new workers are looked for that have no connection yet."""

Key = tuple[int, int]
"""Process and its start."""


@dataclass(slots=True)
class Workers:
    """The processes below a server's first that hold its listening sockets."""

    root: int | None
    """The server's first process; None: this user may not see who listens."""

    inodes: frozenset[int]
    """Of the listening sockets."""

    refused: bool = False
    """Whether this user may not see which worker has which connection."""

    states: dict[int, ProcessState] = field(default_factory=dict)
    """Process -> its state when it was first seen; without those that have ended."""

    started: int = 0
    """Workers that were seen first after the first search."""

    _parents: frozenset[int] = frozenset()
    """Those that have other workers below them."""

    _owners: Owners = field(default_factory=Owners)
    _searched: float | None = None

    def owners(self, inodes: Collection[int]) -> dict[int, int]:
        """Return inode -> worker for accepted connections, as far as it can be seen."""
        if self.refused:
            return {}
        try:
            owners = self._owners.of(inodes, self.states)
        except PermissionError:
            self.refused = True
            return {}
        if len(owners) < len(inodes):
            self.search_again()
        return owners

    def search_again(self) -> None:
        """Find new workers, and forget those that have ended; once a second at the most."""
        if self._searched is None or time.monotonic() - self._searched > SEARCH:
            self.search()

    def check(self) -> None:
        """Search if a worker has ended, and now and then for those that have started."""
        is_old = self._searched is not None and time.monotonic() - self._searched > IDLE
        if is_old or any(self.cpu(pid) is None for pid in self.states):
            self.search_again()

    def search(self) -> None:
        """Find new workers, and forget those that have ended."""
        is_first, self._searched = self._searched is None, time.monotonic()
        if self.root is None:
            self.refused = True
            return
        snapshot = read_snapshot()
        if self.root in snapshot.processes:
            tree = snapshot.tree(self.root)
        else:  # a master that handed its sockets over to its successor
            held = holders(self.inodes).pids & snapshot.processes.keys()
            tree = [snapshot.processes[pid] for pid in held]
        live = {process.pid: process for process in tree if not process.zombie}
        known = {pid: state for pid, state in self.states.items() if _is(live, pid, state.key)}
        new = {pid: state for pid, state in live.items() if pid not in known and self._listens(pid)}
        self.states = known | new
        self.started += 0 if is_first else len(new)
        self._parents = frozenset(live[pid].parent for pid in self.states)

    def shown(self, seen: Iterable[int]) -> list[int]:
        """Return the workers: those that were *seen* with connections, and without the master."""
        seen = set(seen)
        return sorted(pid for pid in self.states if pid in seen or pid not in self._parents)

    def cpu(self, pid: int) -> float | None:
        """Return the CPU seconds of a worker since it was first seen; None: it has ended."""
        first, now = self.states.get(pid), read_process(pid)
        if first is None or now is None or first.key != now.key:
            return None
        return now.user + now.system - first.user - first.system

    def _listens(self, pid: int) -> bool:
        try:
            return not self.inodes.isdisjoint(read_sockets(pid).values())
        except PermissionError:
            self.refused = True
            return False


def _is(live: dict[int, ProcessState], pid: int, key: Key) -> bool:
    return pid in live and live[pid].key == key
