"""
Run `lab` without importing it again: as a copy of a process that has imported it.

The imports are most of the 0.3 s of CPU of a start, and tests start `lab` hundreds of times. This
file is also the program that imports `lab` and forks a copy for each command. The copy is a process
with the folder, the environment, the streams and the arguments of the command, and it ends as `lab`
does. A test of the start itself, of signals or of a terminal needs the real program.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.executable).with_name("lab")
LATER = ("encodings.idna", "matplotlib.backends.backend_svg", "rich._emoji_codes")
"""What a comparison or a report imports at its first request, figure or table."""

HEAD = 4
"""Bytes of the size before a request."""


class Preloaded:
    """A process that has imported `lab`; it ends with the process that started it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair()
        # A fork beside the threads of OpenBLAS would be a warning.
        env = {**env, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command, env=env, pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL
            )
        self._answers = self._socket.makefile("rb")
        self._lock = threading.Lock()

    def run(
        self, arguments: Sequence[str | bytes], cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end as `subprocess.run` does; those of other threads wait for it."""
        argv = [str(PROGRAM), *map(os.fsdecode, arguments)]
        request = json.dumps({"argv": argv, "cwd": os.fspath(cwd), "env": dict(env)}).encode()
        pipes = os.pipe(), os.pipe()
        with self._lock, ThreadPoolExecutor(len(pipes)) as pool:
            written = pool.map(_read, [ours for ours, _ in pipes])
            streams = [theirs for _, theirs in pipes]
            try:
                socket.send_fds(self._socket, [len(request).to_bytes(HEAD, "big")], streams)
            finally:
                for stream in streams:  # else who reads them would wait for ever
                    os.close(stream)
            self._socket.sendall(request)
            late = threading.Timer(timeout, os.kill, (self._number(), signal.SIGKILL))
            late.start()
            status = self._number()
            stdout, stderr = written
            late.cancel()
        if status == -signal.SIGKILL:
            raise subprocess.TimeoutExpired(argv, timeout, stdout, stderr)
        return subprocess.CompletedProcess(argv, status, stdout, stderr)

    def close(self) -> None:
        """End the process."""
        self._answers.close()
        self._socket.close()
        self._process.wait()

    def _number(self) -> int:
        return int(self._answers.readline())


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def serve(connection: socket.socket) -> None:
    """Import `lab`, and fork a copy for each request, one after the other."""
    root = Path(importlib.import_module("lab").__path__[0])
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root.parent).with_suffix("").as_posix().replace("/", ".")
        if name.startswith("lab.locust"):  # gevent changes Python
            continue
        with suppress(ImportError):  # a program that imports what lies beside it
            importlib.import_module(name.removesuffix(".__init__"))
    for name in LATER:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    while True:
        head, streams, _, _ = socket.recv_fds(connection, HEAD, 2)
        if not head:
            return
        size = int.from_bytes(head, "big")
        request = json.loads(connection.recv(size, socket.MSG_WAITALL))
        if (pid := os.fork()) == 0:
            connection.close()
            become(request, streams)
        for stream in streams:
            os.close(stream)
        connection.sendall(b"%d\n" % pid)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Be the process of a command; do not return."""
    from lab.cli import main

    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    # What Python read of the environment before: TMPDIR and TZ.
    tempfile.tempdir = None
    time.tzset()
    sys.argv, sys.path[0] = request["argv"], str(PROGRAM.parent)
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    output = os.fdopen(1, "w", encoding=encoding)
    errors = os.fdopen(2, "w", 1, encoding=encoding, errors="backslashreplace")
    for name, text in (("stdout", output), ("stderr", errors)):
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)
    status: int | str = 1
    try:
        main()
        status = 0
    except SystemExit as ended:
        status = ended.code or 0
    except BaseException:  # noqa: BLE001 - it is printed
        sys.excepthook(*sys.exc_info())
    # What Python does at its end, but for freeing its memory.
    getattr(threading, "_shutdown")()  # noqa: B009 - it has no public name
    atexit._run_exitfuncs()
    for written in (sys.stdout, sys.stderr, output, errors):
        with suppress(ValueError):
            written.flush()
    os._exit(status if isinstance(status, int) else 1)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as given, suppress(KeyboardInterrupt):
        serve(given)
