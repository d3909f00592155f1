"""Locust's web UI with the comparison in it, as a process."""

from __future__ import annotations

import urllib.parse
import urllib.request
from contextlib import contextmanager

from lab.bench.servers.ports import free_port
from tests.kit.lab_process import ROOT, started, until

LOCUST = ("locust", "-f", str(ROOT / "loadtests"))


def ask(address, **form):
    """Return the reply to a GET, or to a POST of *form*."""
    data = urllib.parse.urlencode(form, doseq=True).encode() if form else None
    with urllib.request.urlopen(address, data, timeout=20) as reply:
        return reply.read().decode()


@contextmanager
def locust_web(folder, *arguments, locust=LOCUST, path=""):
    """Start Locust's web UI in *folder*; yield its process and its address."""
    port = free_port()
    web = ("--web-host", "127.0.0.1", "--web-port", str(port))
    base = f"http://127.0.0.1:{port}"

    def answers():
        try:
            return ask(f"{base}{path}/")
        except OSError:
            return None

    with started(*locust, *web, *arguments, cwd=folder) as process:
        until(answers, "the web interface")
        yield process, base
