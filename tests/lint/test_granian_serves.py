"""What rules say of granian, tried on it."""

import os
import signal
import subprocess
from contextlib import suppress

import psutil
import pytest

from lab.servers.ports import free_port
from tests.kit.client import served
from tests.kit.lab_process import BIN, until

WSGI = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


@pytest.mark.parametrize(
    ("options", "ended"), [([], 1), (["--respawn-failed-workers"], None)], ids=["alone", "respawn"]
)
def test_it_ends_with_its_first_dead_worker(options, ended, tmp_path):
    """GR007: one of two workers is killed, and granian stops serving unless it respawns them."""
    (tmp_path / "shop.py").write_text(WSGI)
    port = free_port()
    command = [BIN / "granian", "--interface", "wsgi", "--workers", "2", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        granian = subprocess.Popen(
            [*command, *options, "shop:application"],
            cwd=tmp_path, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        until(lambda: served(port), "a reply")
        first = psutil.Process(granian.pid).children()[0]
        first.kill()
        if ended is None:
            workers = psutil.Process(granian.pid).children
            until(lambda: first.pid not in {each.pid for each in workers()}, "another worker")
            until(lambda: served(port), "a reply of the others")
            assert granian.poll() is None
        else:
            assert granian.wait(60) == ended
    finally:
        with suppress(ProcessLookupError):
            os.killpg(granian.pid, signal.SIGKILL)
        granian.wait()
