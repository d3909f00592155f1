"""
Applications that others wrote, in environments of their own: `make acceptance`.

Each is installed from the package index, configured as its documentation says, and compared as its
user would: by its own ini, with its own Python.
"""

import json
import subprocess
import sys
import time

import pytest

from tests.kit.client import accepts
from tests.kit.lab_process import SMALL, run, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def freeze():
    """Return what is installed beside the lab."""
    command = [sys.executable, "-m", "pip", "freeze", "--all"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def lab(*words, cwd, also=()):
    """Run a small comparison; return what it printed, and its run.json or None."""
    command = ("lab", "run", *map(str, words), *SMALL, "--no-confirm")
    done = run(*command, cwd=cwd, timeout=300)
    assert done.returncode in {0, 3, *also}, done.stdout + done.stderr
    assert "Traceback" not in done.stderr or also
    headers = sorted(cwd.glob("results/*/run.json"))
    return done, json.loads(headers[-1].read_text()) if headers else None


def errors(cwd):
    """Return the errors of all windows of all trials."""
    files = cwd.glob("results/*/trials.ndjson")
    trials = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert trials
    assert [trial["failure"] for trial in trials if trial["failure"]] == []
    return {name for trial in trials for window in trial["windows"] for name in window["errors"]}


@pytest.fixture
def bin_ini(httpbin, tmp_path):
    """Return httpbin's ini, and its environment."""
    ini = tmp_path / "h.ini"
    ini.write_text(
        f"[uwsgi]\nsocket = {tmp_path}/s.sock\nmodule = httpbin:app\nmaster = true\nprocesses = 2\n"
    )
    return ini, httpbin


def test_httpbin_behind_its_own_socket_beside_the_one_in_production(bin_ini, tmp_path):
    """Both are asked over a UNIX socket, by its own uWSGI; what runs from the ini goes on."""
    ini, environment = bin_ini
    before = freeze()
    with subprocess.Popen(
        [str(environment / "bin" / "uwsgi"), str(ini)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as production:  # fmt: skip
        try:
            until(lambda: accepts(tmp_path / "s.sock"), "the server in production")
            inode = (tmp_path / "s.sock").stat().st_ino
            _, header = lab(ini, "tuned", "--python", environment, "--path", "/get", cwd=tmp_path)
            assert accepts(tmp_path / "s.sock")
            assert (tmp_path / "s.sock").stat().st_ino == inode
        finally:
            production.kill()
    wires = [
        (arm["workload"]["wire"], arm["workload"]["transport"]) for arm in header["plan"]["arms"]
    ]
    assert wires == [("uwsgi", "unix")] * 2
    assert errors(tmp_path) == set()
    assert freeze() == before


def test_a_page_of_httpbin_that_differs_each_time(bin_ini, tmp_path):
    """It is refused with what to say instead, and that runs."""
    ini, environment = bin_ini
    words = (ini, "tuned", "--python", environment, "--path", "/uuid")
    done, header = lab(*words, cwd=tmp_path, also=(2,))
    assert (done.returncode, header) == (2, None)
    assert "--check" in done.stderr
    lab(*words, "--check", '"uuid": "[0-9a-f-]{36}"', cwd=tmp_path)
    assert errors(tmp_path) == set()


def test_a_post_to_httpbin(bin_ini, tmp_path):
    """It is sent where the user says that it may be, and every reply is checked."""
    ini, environment = bin_ini
    words = (ini, "tuned", "--python", environment, "--path", "/post", "--method", "POST",
        "--data", '{"a":1}', "--header", "Content-Type: application/json")  # fmt: skip
    done, header = lab(*words, cwd=tmp_path, also=(2,))
    assert (done.returncode, header) == (2, None)
    assert "--writes" in done.stderr
    lab(*words, "--writes", cwd=tmp_path)
    assert errors(tmp_path) == set()


LOGIN = """
import flaskr
app = flaskr.create_app()
with app.app_context():
    flaskr.db.init_db()
client = app.test_client()
told = {"username": "ann", "password": "a password"}
client.post("/auth/register", data=told)
client.post("/auth/login", data=told)
print(client.get_cookie("session").value)
"""


def test_flasks_tutorial_with_a_login(tutorial, tmp_path):
    """Without its database the traceback is shown; with it, a user who has logged in is served."""
    ini = tmp_path / "flaskr.ini"
    ini.write_text(
        f"[uwsgi]\nsocket = {tmp_path}/s.sock\nmodule = flaskr:create_app()\nmaster = true\n"
    )
    for old in tutorial.glob("var/flaskr-instance/*.sqlite"):
        old.unlink()
    words = (ini, "tuned", "--python", tutorial, "--path", "/")
    done, header = lab(*words, cwd=tmp_path, also=(1, 2))
    assert header is None
    assert "sqlite3.OperationalError: no such table" in done.stderr
    python = str(tutorial / "bin" / "python")
    login = subprocess.run([python, "-c", LOGIN], capture_output=True, text=True, check=True)
    lab(*words, "--cookie", f"session={login.stdout.strip()}", "--check", "Log Out", cwd=tmp_path)
    assert errors(tmp_path) == set()


@pytest.fixture
def site(wagtail):
    """Return an ini for the site of Wagtail's, and its environment."""
    environment, folder = wagtail
    ini = folder / "uwsgi.ini"
    ini.write_text(
        "[uwsgi]\nsocket = mysite.sock\nmodule = mysite.wsgi:application\nmaster = true\n"
        "processes = 2\nlazy-apps = true\n"
    )
    return ini, environment


@pytest.mark.parametrize("path", ["/", "/admin/login/"])
def test_a_site_of_wagtails_beside_gunicorn(site, tmp_path, path):
    """Also a page with a token of its own in each reply; its front page is one for all."""
    ini, environment = site
    settings = "DJANGO_SETTINGS_MODULE=mysite.settings.dev"
    done, header = lab(ini, "gunicorn-gthread", "--python", environment, "--env", settings,
        "--path", path, cwd=tmp_path)  # fmt: skip
    assert errors(tmp_path) == set()
    assert ("csrfmiddlewaretoken" in done.stderr) == (path != "/")
    wires = [arm["workload"]["wire"] for arm in header["plan"]["arms"]]
    assert wires == ["uwsgi", "http"]
    assert "Asked in two protocols" in done.stdout


def test_settings_that_are_not_there_are_named_at_once(site, tmp_path):
    """Before any server starts."""
    ini, environment = site
    began = time.monotonic()
    done, header = lab(ini, "--python", environment, "--env", "DJANGO_SETTINGS_MODULE=nosuch",
        "--path", "/", cwd=tmp_path, also=(1, 2))  # fmt: skip
    assert time.monotonic() - began < 5
    assert header is None
    assert "ModuleNotFoundError: No module named 'nosuch'" in done.stderr
