"""What tests of several files here start servers with."""

from __future__ import annotations

import subprocess

import pytest


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """Return the words by which a server has a certificate of its own making, by program."""
    folder = tmp_path_factory.mktemp("tls")
    words = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key -out cert"
    subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
    pair = {
        "uvicorn": "--ssl-certfile {} --ssl-keyfile {}",
        "gunicorn": "--certfile {} --keyfile {}",
        "granian": "--ssl-certificate {} --ssl-keyfile {}",
        "hypercorn": "--certfile {} --keyfile {}",
    }
    files = folder / "cert", folder / "key"
    return {program: text.format(*files).split() for program, text in pair.items()}
