"""The servers that are watched, with the commands that start them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import urlopen

from lab.bench.servers.ports import free_port

BIN = Path(sys.executable).parent
HERE = Path(__file__).resolve().parent

GUNICORN = ("gunicorn", "-b", "127.0.0.1:{port}", "--keep-alive", "60")
GRANIAN = ("granian", "--host", "127.0.0.1", "--port", "{port}", "--workers", "2")

SERVERS = {
    "gunicorn sync, 4 workers": (*GUNICORN, "-w", "4", "application"),
    "gunicorn gthread, 2 x 8": (*GUNICORN, "-w", "2", "--threads", "8", "application"),
    "gunicorn gevent, 2": (*GUNICORN, "-w", "2", "-k", "gevent", "application"),
    "gunicorn asgi, 2": (*GUNICORN, "-w", "2", "-k", "asgi", "application:asgi"),
    "granian WSGI, 2 x 8": (
        *GRANIAN, "--interface", "wsgi", "--blocking-threads", "8", "application:application",
    ),
    "granian ASGI, 2": (*GRANIAN, "--interface", "asgi", "application:asgi"),
    "uWSGI http-socket, 4 x 2": (
        "uwsgi", "--http-socket", "127.0.0.1:{port}", "--master", "--processes", "4", "--threads",
        "2", "--module", "application", "--disable-logging", "--need-app",
    ),
}  # fmt: skip


@contextmanager
def running(
    name: str, in_code: Path, cores: Collection[int] | None = None
) -> Iterator[tuple[int, int]]:
    """Run a server; yield its port and its first process as soon as it answers."""
    port = free_port()
    words = [word.format(port=port) for word in SERVERS[name]]
    environ = os.environ | {"IN_CODE": str(in_code), "PYTHONPATH": str(HERE)}
    process = subprocess.Popen(
        on_cores(cores, str(BIN / words[0]), *words[1:]),
        cwd=HERE,
        env=environ,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        yield port, process.pid
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def on_cores(cores: Collection[int] | None, *words: str) -> list[str]:
    """Return a command that runs on some cores only; None: on any."""
    return ["taskset", "-c", ",".join(map(str, cores)), *words] if cores else [*words]


def _wait_for(port: int) -> None:
    end = monotonic() + 30
    while monotonic() < end:
        with suppress(URLError, OSError), urlopen(f"http://127.0.0.1:{port}/", timeout=5) as reply:
            reply.read()
            sleep(1)  # the other workers
            return
        sleep(0.1)
    sys.exit(f"the server on port {port} does not answer")
