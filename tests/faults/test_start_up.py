"""What cannot be started ends at once, with a status and with words that say what is wrong."""

import os
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab.bench.machine import project
from lab.bench.machine.programs import environment
from lab.bench.servers.ports import free_port
from tests.kit.lab_process import ROOT

from .parts import SERVE

OURS = project.profiles()
TUNED, PRODUCTION = OURS / "tuned.ini", OURS / "production.ini"

DEADLINE = 20.0
"""Seconds; about 0.2 is usual. A server that starts all the same runs into it, too."""

GIVEN_UP = "--bounding-set=-dac_override,-dac_read_search"
AS_OTHERS = ("setpriv", GIVEN_UP) if os.geteuid() == 0 else ()
"""Root may read and write every file, unless it has given that up."""

LAST = 6
"""So many last lines must say it; uWSGI removes sockets and says so after its last words."""


@dataclass(frozen=True)
class Fault:
    """What is wrong, and what is to be said of it."""

    path: Path
    words: tuple[str, ...]
    """All of them in one of the last lines; {folder} is the test's own."""
    before: tuple[str, ...] = ()
    """Where uWSGI takes two lines to say it: what is in an earlier one of them."""
    variables: dict[str, str] = field(default_factory=dict)
    added: str = ""
    """A line after those of *path*, in an ini that includes it."""


FAULTS = {
    "missing ini": Fault(OURS / "nowhere.ini", ("No such file or directory", "nowhere.ini")),
    "missing include": Fault(
        TUNED,
        ("mine.ini:", "ini = nowhere.ini: ", "nowhere.ini does not exist", "create it"),
        added="ini = nowhere.ini",
    ),
    "folder instead of an ini": Fault(OURS, ("Is a directory", str(OURS))),
    "mistyped option": Fault(
        TUNED,
        ("unknown config directive: procesess",),
        before=("INI configuration from {folder}/mine.ini",),
        added="procesess = 4",
    ),
    "mistyped option, production": Fault(
        PRODUCTION,
        ("unknown config directive: max-var",),
        before=("INI configuration from {folder}/mine.ini",),
        added="max-var = 4",
    ),
    "queue longer than the kernel allows": Fault(
        PRODUCTION, ("Listen queue size is greater", "somaxconn"), added="listen = 100000000"
    ),
    "missing module": Fault(
        TUNED,
        ("no app loaded. GAME OVER",),
        before=("ModuleNotFoundError", "No module named 'nowhere'"),
        variables={"WSGI_APP": "nowhere:app"},
    ),
    "missing module, production": Fault(
        PRODUCTION,
        ("no app loaded. GAME OVER",),
        before=("ModuleNotFoundError", "No module named 'nowhere'"),
        variables={"WSGI_APP": "nowhere:app"},
    ),
    "missing callable": Fault(
        PRODUCTION,
        ("no app loaded. GAME OVER",),
        before=("unable to load app", "callable not found"),
        variables={"WSGI_APP": "app.wsgi:nothing"},
    ),
    "socket in no folder": Fault(
        PRODUCTION,
        ("no folder {folder}/nowhere for the socket", "SOCKET"),
        variables={"SOCKET": "{folder}/nowhere/a.sock"},
    ),
    "setting that cannot be used": Fault(
        PRODUCTION, ("FIB_MAX_DIGITS='x' cannot be used",), variables={"FIB_MAX_DIGITS": "x"}
    ),
}


def start(path, cwd, *before, **variables):
    """Serve a profile, by the words *before*; return the status and all that was printed."""
    with subprocess.Popen(
        (*before, *SERVE, str(path)),
        cwd=cwd,
        env=environment(PORT=str(free_port()), SOCKET=str(cwd / "a.sock")) | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=DEADLINE)
        finally:
            if process.poll() is None:  # it serves, and so do its workers
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, printed


def assert_says(status, printed, words, before=()):
    """Assert that it failed, and that one of its last lines has all *words*, after *before*."""
    last = printed.splitlines()[-LAST:]
    line_numbers = [
        number for number, line in enumerate(last) if all(word in line for word in words)
    ]
    assert status != 0
    assert line_numbers, f"no line has all of {words}:\n{printed}"
    earlier = last[: line_numbers[-1]]
    assert not before or any(all(word in line for word in before) for line in earlier), printed


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
    words, before = (
        [word.format(folder=tmp_path) for word in templates]
        for templates in (fault.words, fault.before)
    )
    assert_says(status, printed, words, before)


def test_port_taken(tmp_path):
    """Where another program has the port, it ends and names address and reason."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        status, printed = start(TUNED, tmp_path, PORT=port)
    # Two lines, too.
    assert_says(status, printed, ("Address already in use",), (f"127.0.0.1:{port}",))


def test_unreadable_ini(tmp_path):
    """A profile that may not be read is named with the reason."""
    path = tmp_path / "mine.ini"
    path.touch(mode=0)
    status, printed = start(path, tmp_path, *AS_OTHERS)
    assert_says(status, printed, (str(path), "Permission denied"))


def test_unwritable_folder(tmp_path):
    """A folder where the socket cannot be made is named with the user who may not write there."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o500)
    status, printed = start(PRODUCTION, tmp_path, *AS_OTHERS, SOCKET=str(folder / "a.sock"))
    assert_says(status, printed, (f"{folder} cannot be written by user {os.geteuid()}",))


@pytest.mark.parametrize("name", ["tuned", "production"])
def test_missing_extension(tmp_path, name):
    """Where the compiled module is required and not built, it ends and says how to build it."""
    for part in ("app", "fib", "profiles", "uwsgi"):
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    path = tmp_path / "profiles" / f"{name}.ini"
    status, printed = start(path, tmp_path, FIB_REQUIRE_CYTHON="1", FIB_PURE_PYTHON="")
    assert_says(status, printed, ("FIB_REQUIRE_CYTHON", "not built", "FIB_BUILD=cython pip"))
