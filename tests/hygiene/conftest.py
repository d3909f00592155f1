"""Profiles of small servers with a fault, and the lab's processes, found by a mark they inherit."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.kit.lab_process import ROOT, preloaded

PEER = ROOT / "tests" / "hygiene" / "peer.py"
MARK = "HYGIENE_MARK"


def write_peer(folder: Path, fault: str, body: str = "Pong!") -> str:
    """Write the profile of a server with *fault* into *folder*; return what `lab run` calls it."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{fault}.toml"
    path.write_text(
        f'summary = "Answer, with the fault {fault}"\nkeepalive = true\n'
        f'run = [["{{python}}", "{PEER}", "{{port}}", "{fault}", "{body}"]]\n'
    )
    return str(path)


@pytest.fixture
def marked(monkeypatch):
    """Mark what this test starts; yield what finds all of it that still runs, orphans too."""
    preloaded()  # which other tests use, too, and so has no mark
    value = uuid.uuid4().hex
    monkeypatch.setenv(MARK, value)

    def running() -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if _mark(process) == value]

    yield running
    for process in running():  # the test has failed; the next one shall not
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _mark(process: psutil.Process) -> str | None:
    if process.pid == os.getpid():
        return None
    try:  # a zombie has no environment, and does nothing
        return process.environ().get(MARK)
    except (psutil.Error, OSError):
        return None


def ports(processes: list[psutil.Process]) -> set[int]:
    """
    Return the ports on which they listen.

    psutil would read each process's whole table, for seconds: by then a server may have ended.
    """
    listening = _listening()
    return {
        port for process in processes for file in _files(process) if (port := listening.get(file))
    }


def _listening() -> dict[str, int]:
    """Return the ports of all sockets that listen, by their names in /proc/PID/fd."""
    port_of = {}
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        with suppress(FileNotFoundError), table.open(encoding="ascii") as rows:
            next(rows)  # the names of the columns
            for row in rows:
                _, address, _, state, *_, inode = row.split(maxsplit=10)[:10]
                if state != "0A":  # those that listen come first
                    break
                port_of[f"socket:[{inode}]"] = int(address.rpartition(":")[2], 16)
    return port_of


def _files(process: psutil.Process) -> list[str]:
    """Return what its open files are; none of one that has ended."""
    names = []
    with suppress(OSError):
        for file in Path(f"/proc/{process.pid}/fd").iterdir():
            with suppress(OSError):
                names.append(str(file.readlink()))
    return names
