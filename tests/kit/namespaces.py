"""
Hosts on one machine: network namespaces without a name.

Each is held by a process that does nothing, and vanishes with it, its interfaces included. The
kernel ends the holder when the process that made it ends, however it does.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.lab_process import until

CLONE_NEWNET = 0x40000000

BOUND = ("setpriv", "--pdeathsig", "KILL")
"""Words before a command that is to end with this process."""


def why_none() -> str | None:
    """Return why there can be no hosts here; None where there can."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    if missing := [
        program for program in ("ip", "nsenter", "setpriv") if shutil.which(program) is None
    ]:
        return f"needs {', '.join(missing)}: apt-get install iproute2 util-linux"
    tried = subprocess.run(
        ["unshare", "--net", "ip", "link", "add", "name", "a", "type", "veth"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return f"no network namespaces here: {tried.stderr.strip()}" if tried.returncode else None


class Host:
    """A network namespace, and its address there."""

    def __init__(self, pid: int, address: str) -> None:
        self.pid = pid
        """Of its holder."""
        self.address = address
        self.inside = (shutil.which("nsenter") or "nsenter", f"--net=/proc/{pid}/ns/net")
        """Words before a command that is to run on it."""

    def ip(self, command: str) -> None:
        """Carry out there what follows the word ip in a command."""
        words = [*self.inside, "ip", *command.split()]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"

    def read(self, name: str) -> str:
        """Return a file of its /proc/net."""
        return Path(f"/proc/{self.pid}/net/{name}").read_text()


@contextmanager
def entered(host: Host) -> Iterator[None]:
    """Have this thread, and what it starts, on a host; its sockets stay there."""
    libc = ctypes.CDLL(None, use_errno=True)
    with (
        Path("/proc/thread-self/ns/net").open("rb") as home,
        Path(f"/proc/{host.pid}/ns/net").open("rb") as there,
    ):
        assert libc.setns(there.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            libc.setns(home.fileno(), CLONE_NEWNET)


@contextmanager
def made_host(address: str) -> Iterator[Host]:
    """Yield a host that has its loopback interface, and *address* in mind."""
    home = Path("/proc/thread-self/ns/net").readlink()
    holder = subprocess.Popen((*BOUND, "unshare", "--net", "sleep", "infinity"))
    try:
        space = Path(f"/proc/{holder.pid}/ns/net")
        until(lambda: space.readlink() != home, "its namespace", 10.0)
        host = Host(holder.pid, address)
        host.ip("link set dev lo up")
        yield host
    finally:
        holder.kill()
        holder.wait()
