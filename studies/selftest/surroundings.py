"""What is planted around a server: strangers on its CPU, a network that loses handshakes."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

SPINNERS = 4
"""Strangers on each CPU: against two busy workers they get well over half of it."""

EVERY = 20
"""Of so many handshakes one is lost."""

SPIN = Path(__file__).with_name("spin.py")

CLONE_NEWNET = 0x40000000  # linux/sched.h
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # linux/sockios.h, net/if.h


@contextmanager
def strangers(cpus: Sequence[int]) -> Iterator[None]:
    """Let programs that are not the lab's run on *cpus*."""
    with ExitStack() as stack:
        for cpu in [cpu for cpu in cpus for _ in range(SPINNERS)]:
            command = (sys.executable, "-I", "-S", str(SPIN), str(cpu))
            child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            # Ends what is left of it by closing its input, and reads until its output is closed.
            stack.callback(child.communicate)
            child.wait()  # the spinner itself is no longer a child
        yield


def lossy_problem() -> str | None:
    """Return why `lossy` cannot be had here, or None."""
    if os.geteuid() != 0:
        return "a network of its own needs root"
    if shutil.which("iptables") is None:
        return "iptables is not installed"
    try:
        with own_network():
            done = subprocess.run(_rule(), check=False, capture_output=True, text=True)
    except OSError as error:  # root in a container has not every right of root
        return f"a network of its own is refused: {error.strerror}"
    return None if done.returncode == 0 else f"iptables refuses the rule: {done.stderr.strip()}"


@contextmanager
def lossy() -> Iterator[None]:
    """
    Move this thread, and what it starts, to a network that loses every 20th handshake.

    Raises:
        OSError: Without the right to; see `lossy_problem`.
        subprocess.CalledProcessError: iptables refuses.
    """
    with own_network():
        subprocess.run(_rule(), check=True, capture_output=True)
        yield


def _rule() -> tuple[str, ...]:
    nth = ("-m", "statistic", "--mode", "nth", "--every", str(EVERY), "--packet", "0")
    return ("iptables", "-A", "INPUT", "-p", "tcp", "--syn", *nth, "-j", "DROP")


@contextmanager
def own_network() -> Iterator[None]:
    """Enter a new network namespace (unshare(2)) with its loopback up; return from it on exit."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(result: int) -> None:
        if result != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        call(libc.unshare(CLONE_NEWNET))
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
                request = struct.pack("16sh14x", b"lo", 0)
                flags = struct.unpack("16sh14x", fcntl.ioctl(handle, SIOCGIFFLAGS, request))[1]
                request = struct.pack("16sh14x", b"lo", flags | IFF_UP)
                fcntl.ioctl(handle, SIOCSIFFLAGS, request)
            yield
        finally:
            call(libc.setns(home, CLONE_NEWNET))
    finally:
        os.close(home)
