"""Profiles of small servers with a fault, and the lab's processes, found by a mark they inherit."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.lab_process import ROOT

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
    value = uuid.uuid4().hex
    monkeypatch.setenv(MARK, value)

    def running() -> list[psutil.Process]:
        return [each for each in psutil.process_iter() if _mark(each) == value]

    yield running
    for each in running():  # the test has failed; the next one shall not
        with suppress(psutil.NoSuchProcess):
            each.kill()


def _mark(process: psutil.Process) -> str | None:
    if process.pid == os.getpid():
        return None
    try:  # a zombie has no environment, and does nothing
        return process.environ().get(MARK)
    except (psutil.Error, OSError):
        return None


def ports(processes: list[psutil.Process]) -> set[int]:
    """Return the ports on which they listen."""
    found = set()
    for process in processes:
        try:
            sockets = process.net_connections("tcp")
        except (psutil.Error, OSError):
            continue
        found |= {each.laddr.port for each in sockets if each.status == psutil.CONN_LISTEN}
    return found
