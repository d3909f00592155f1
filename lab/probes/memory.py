"""
Memory of the server's tree as proportional set size.

A page that five workers share counts a fifth in each, so the sum is what the tree really takes;
the resident size counts it five times. The kernel walks every mapping for it, which takes
milliseconds a process and holds a lock of it: after the window only.

Source: proc_pid_smaps(5).
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.model import Subject
from lab.probes.processes import PROC, read_snapshot


class MemoryProbe:
    """PSS of the tree without its root."""

    def start(self, subject: Subject) -> object:
        """Read nothing: see above."""

    def stop(self, subject: Subject, before: object) -> Mapping[str, float]:  # noqa: ARG002 - the protocol's
        """Return `server.pss` in bytes; absent if one live process of the tree cannot be read."""
        total = 0
        members = 0
        for process in read_snapshot(subject.server).tree(subject.server):
            if process.pid == subject.server or process.zombie:
                continue
            try:
                total += parse_pss((PROC / str(process.pid) / "smaps_rollup").read_text())
            except (FileNotFoundError, ProcessLookupError):
                continue  # ended meanwhile, and gave its memory back
            except (OSError, ValueError):
                return {}  # another user's: a sum without it would be a lie
            members += 1
        return {"server.pss": float(total)} if members else {}


def parse_pss(rollup: str) -> int:
    """
    Parse the proportional set size, in bytes, from a /proc/PID/smaps_rollup.

    Raises:
        ValueError: There is no such line.
    """
    for line in rollup.splitlines():
        key, _, value = line.partition(":")
        if key == "Pss":
            number, unit = value.split()
            if unit == "kB":  # by which the kernel means 1,024 bytes
                return int(number) * 1024
    raise ValueError("no Pss line in kB")
