"""
What a server does with the application, told from within: its imports, and its requests at once.

The hook (`lab.bench.servers.hook`) does it, which stands in a folder of the trial's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.bench.probes.processes import PROC
from lab.bench.servers.hooked import hooked
from lab.model.plan import Arm


@dataclass(frozen=True, slots=True)
class Watch:
    """The notes of the hook in one server."""

    folder: Path
    """The hook's own, in that of the trial."""

    @property
    def notes(self) -> Path:
        """What the hook adds a line to."""
        return self.folder / "notes"

    @property
    def gate(self) -> Path:
        """While it is there, each request is held at the application's door."""
        return self.folder / "gate"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold all requests that reach the application meanwhile."""
        self.gate.touch()
        try:
            yield
        finally:
            self.gate.unlink()

    def imports(self) -> list[int]:
        """Return the processes that have imported the application, in order."""
        return [pid for word, pid, _ in self._lines() if word == "import"]

    def inside(self) -> list[tuple[int, int]]:
        """Return process and thread of each request that is held; see `hook.py`."""
        held = []
        for word, *where in self._lines():
            if word == "in":
                held.append((where[0], where[1]))
            elif word == "out":
                held.remove((where[0], where[1]))
        return [(pid, thread) for pid, thread in held if (PROC / str(pid)).exists()]

    def _lines(self) -> Iterator[tuple[str, int, int]]:
        for line in self.notes.read_text().splitlines():
            word, pid, thread = line.split()
            yield word, int(pid), int(thread)


def watched(arm: Arm, application: str, folder: Path) -> tuple[Arm, Watch]:
    """
    Return *arm* with the hook in the environment of its server, and what the hook notes.

    Args:
        arm: The server's profile, and what it is asked.
        application: MODULE:CALLABLE, as others would import it.
        folder: The trial's own.
    """
    watch = Watch(folder / "hook")
    watch.folder.mkdir()
    watch.notes.touch()
    watch.notes.chmod(0o666)  # the server may become another user
    module, _, called = application.partition(":")
    hook_settings = {
        "module": module,
        "callable": called,
        "notes": str(watch.notes),
        "gate": str(watch.gate),
    }
    return hooked(arm, watch.folder, hook_settings), watch
