"""An environment is installed from the index that pip is told, as in a company."""

from __future__ import annotations

import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from lab.bench.machine import packages
from lab.errors import LabError
from tests.kit.environments import put_uv

WHEEL = "company-1.0-py3-none-any.whl"


class Index(SimpleHTTPRequestHandler):
    """Serves a folder to those who know its password."""

    def do_GET(self):
        """Answer."""
        if self.headers["Authorization"] != "Basic c2hvcDpzZWNyZXQ=":  # shop:secret
            self.send_error(401)
        else:
            super().do_GET()

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Start an index with a package of its own, and tell pip of it by its file."""
    folder = tmp_path / "simple" / "company"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr("company.py", "")
        where = "company-1.0.dist-info"
        wheel.writestr(f"{where}/METADATA", "Metadata-Version: 2.1\nName: company\nVersion: 1.0\n")
        wheel.writestr(f"{where}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{where}/RECORD", "")
    (folder / "index.html").write_text(f'<a href="{WHEEL}">{WHEEL}</a>')
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, directory=tmp_path))
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://shop:secret@127.0.0.1:{server.server_port}/simple"
    (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {address}\nno-index = false\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    yield tmp_path
    server.shutdown()
    server.server_close()


def install(folder, wanted):
    """Install what a list says."""
    (folder / "requirements.txt").write_text(wanted)
    command = "pip install -r requirements.txt"
    return packages.environment_for(folder, command, folder / "env", lambda: None)


@pytest.mark.costly
def test_the_index_of_pips_own_file_is_asked(index):
    """With its password, which is kept nowhere."""
    environment = install(index, "company==1.0\n")
    assert packages.packages_of(environment)["company"] == "1.0"
    kept = [path for path in environment.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in kept if b"shop:secret" in path.read_bytes()]


def test_a_package_that_it_has_not_is_named_without_the_password(index, monkeypatch):
    """In what pip says."""
    put_uv(index, monkeypatch)
    with pytest.raises(LabError, match=r"company==2\.0") as error:
        install(index, "company==2.0\n")
    assert "secret" not in str(error.value)
