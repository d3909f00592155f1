"""What cannot be started ends at once, with a status and with words that say what is wrong."""

import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab.profiles import FOLDER, ROOT
from lab.servers.launch import environment
from lab.servers.ports import free_port

UWSGI = str(Path(sys.executable).with_name("uwsgi"))
TUNED, PRODUCTION = FOLDER / "tuned.ini", FOLDER / "production.ini"

DEADLINE = 10.0
"""Seconds; about 0.2 is usual. A server that starts all the same runs into it."""

LAST = 6
"""So many last lines must say it; uWSGI removes sockets and says so after its last words."""


@dataclass(frozen=True)
class Fault:
    """What is wrong, and what uWSGI is to say of it."""

    path: Path
    words: tuple[str, ...]
    """Each of them in the last lines; {folder} is the test's own."""
    variables: dict[str, str] = field(default_factory=dict)
    added: str = ""
    """A line after those of *path*, in an ini that includes it."""


FAULTS = {
    "missing ini": Fault(FOLDER / "nowhere.ini", ("nowhere.ini", "No such file or directory")),
    "folder instead of an ini": Fault(FOLDER, (str(FOLDER), "unable to load configuration")),
    "mistyped option": Fault(
        TUNED, ("{folder}/mine.ini", "unknown config directive: procesess"), added="procesess = 4"
    ),
    "mistyped option, production": Fault(
        PRODUCTION,
        ("{folder}/mine.ini", "unknown config directive: max-var"),
        added="max-var = 4",
    ),
    "queue longer than the kernel allows": Fault(
        PRODUCTION, ("Listen queue size is greater", "somaxconn"), added="listen = 100000000"
    ),
    "missing module": Fault(
        TUNED, ("No module named 'nowhere'", "no app loaded"), {"WSGI_APP": "nowhere:app"}
    ),
    "missing module, production": Fault(
        PRODUCTION, ("No module named 'nowhere'", "no app loaded"), {"WSGI_APP": "nowhere:app"}
    ),
    "missing callable": Fault(
        PRODUCTION, ("callable not found", "no app loaded"), {"WSGI_APP": "app.wsgi:nothing"}
    ),
    "socket in no folder": Fault(
        PRODUCTION,
        ("no folder {folder}/nowhere for the socket", "SOCKET"),
        {"SOCKET": "{folder}/nowhere/a.sock"},
    ),
    "workers that are no number": Fault(
        PRODUCTION, ("PROCESSES='four'", "a number above 0"), {"PROCESSES": "four"}
    ),
    "no python3 to count the CPUs": Fault(
        PRODUCTION, ("python3", "not found"), {"PATH": "{folder}"}
    ),
    "setting that cannot be used": Fault(
        PRODUCTION, ("FIB_MAX_DIGITS='x' cannot be used",), {"FIB_MAX_DIGITS": "x"}
    ),
}


def start(path, cwd, **variables):
    """Run uWSGI as a user does; return its exit status and all that it printed."""
    done = subprocess.run(
        (UWSGI, str(path)),
        cwd=cwd,
        env=environment(PORT=str(free_port()), SOCKET=str(cwd / "a.sock")) | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    return done.returncode, done.stdout


def assert_says(status, printed, words):
    """Assert that it failed, and that its last lines have all *words*."""
    last = "\n".join(printed.splitlines()[-LAST:])
    assert status not in (0, None)
    for word in words:
        assert word in last


@pytest.mark.parametrize("name", FAULTS)
def test_fault(tmp_path, name):
    """It ends with a status other than 0, and its last lines name what is wrong."""
    fault = FAULTS[name]
    path = fault.path
    if fault.added:
        path = tmp_path / "mine.ini"
        path.write_text(f"[uwsgi]\nini = {fault.path}\n{fault.added}\n")
    here = {key: value.format(folder=tmp_path) for key, value in fault.variables.items()}
    status, printed = start(path, tmp_path, **here)
    assert_says(status, printed, [word.format(folder=tmp_path) for word in fault.words])


def test_port_taken(tmp_path):
    """Where another program has the port, it ends and names address and reason."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        status, printed = start(TUNED, tmp_path, PORT=port)
    assert_says(status, printed, (f"127.0.0.1:{port}", "Address already in use"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_unreadable_ini(tmp_path):
    """A profile that may not be read is named with the reason."""
    path = tmp_path / "mine.ini"
    path.touch(mode=0)
    status, printed = start(path, tmp_path)
    assert_says(status, printed, (str(path), "Permission denied"))


@pytest.mark.parametrize("name", ["tuned", "production"])
def test_missing_extension(tmp_path, name):
    """Where the compiled module is required and not built, it ends and says how to build it."""
    for part in ("app", "fib", "profiles"):
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    path = tmp_path / "profiles" / f"{name}.ini"
    status, printed = start(path, tmp_path, FIB_REQUIRE_CYTHON="1", FIB_PURE_PYTHON="")
    assert_says(status, printed, ("FIB_REQUIRE_CYTHON", "not built", "FIB_BUILD=cython pip"))
