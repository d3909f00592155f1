"""The two files of docs/how-to/behind-nginx.md, as they are copied from it."""

import os
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lab.bench.machine.programs import find_command
from lab.bench.servers.ports import free_port
from lab.config.configuration import Known
from lab.lint.flaw import Severity
from lab.lint.lint import lint
from tests.kit.client import served
from tests.kit.lab_process import BIN, ROOT, until

PAGE = (ROOT / "docs/how-to/behind-nginx.md").read_text()
PARAMS = Path("/etc/nginx/uwsgi_params")

WSGI = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{environ['PATH_INFO']} {environ['HTTP_X_FORWARDED_PROTO']}".encode()]
"""

NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body_temp;
    proxy_temp_path {folder}/proxy_temp;
    uwsgi_temp_path {folder}/uwsgi_temp;
    fastcgi_temp_path {folder}/fastcgi_temp;
    scgi_temp_path {folder}/scgi_temp;
{server}
}}
"""


def copied(language):
    """Return the page's file in a language."""
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


@contextmanager
def started(folder, *command):
    """Run a command until the block ends; it then stops as its supervisor stops it."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield
        process.terminate()  # as a supervisor does; it ends by itself
        process.wait(60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_the_linter_finds_nothing_in_it(tmp_path):
    """What is recommended is not then criticised; a remark is no criticism."""
    (tmp_path / "shop.ini").write_text(copied("ini"))
    linted = lint(str(tmp_path / "shop.ini"), Known())
    assert {flaw.code for flaw in linted.flaws if flaw.severity is not Severity.REMARK} == set()


@pytest.mark.skipif(
    find_command("nginx") is None or not PARAMS.exists(), reason="nginx is not installed"
)
def test_they_serve_and_believe_no_client_its_scheme(tmp_path):
    """Both serve an application; large cookies pass, and a client does not say the scheme."""
    port = free_port()
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "wsgi.py").write_text(WSGI)
    shutil.copy(PARAMS, tmp_path)
    moved = {"/srv/shop": str(tmp_path), "/run/shop": str(tmp_path), "80;": f"{port};"}
    ini, server = copied("ini"), copied("nginx")
    for old, new in moved.items():
        ini, server = ini.replace(old, new), server.replace(old, new)
    (tmp_path / "shop.ini").write_text(ini)
    user = "user root;" if os.geteuid() == 0 else ""
    text = NGINX.format(folder=tmp_path, user=user, server=server)
    (tmp_path / "nginx.conf").write_text(text)
    nginx = ("nginx", "-e", "stderr", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"))
    uwsgi = (str(BIN / "uwsgi"), "shop.ini")
    with started(tmp_path, *uwsgi), started(tmp_path, *nginx):
        until(lambda: served(port), "a reply")
        cookies = {f"X-Cookie-{number}": "c" * 8000 for number in range(3)}
        reply = served(port, "/items/3", {"X-Forwarded-Proto": "https"} | cookies)
        assert (reply.status, reply.body) == (200, b"/items/3 http")
