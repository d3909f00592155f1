"""
Memory of the server's tree as proportional set size.

A page that five workers share counts a fifth in each, so the sum is what the tree really takes;
the resident size counts it five times. The kernel walks every mapping for it, which takes
milliseconds a process and holds a lock of it: after the window only.

Source: proc_pid_smaps(5).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from lab.bench.probes.processes import PROC, read_snapshot
from lab.model.protocols import Stop, Subject


class MemoryProbe:
    """PSS of the tree without its root."""

    def start(self, subject: Subject) -> Stop:
        """
        Read nothing yet, see above; `stop` returns `server.pss` in bytes.

        It is absent if one live process of the tree cannot be read.
        """
        return partial(_readings, subject.server)


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


def _readings(root: int) -> Mapping[str, float]:
    total = 0
    members = 0
    for process in read_snapshot(root).tree(root):
        if process.pid == root or process.zombie:
            continue
        try:
            total += parse_pss((PROC / str(process.pid) / "smaps_rollup").read_text())
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile, and gave its memory back
        except (OSError, ValueError):
            return {}  # another user's: a sum without it would be a lie
        members += 1
    return {"server.pss": float(total)} if members else {}
