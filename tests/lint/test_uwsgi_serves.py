"""What the rules say of servers that run, tried on them."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kit.client import ask
from tests.kit.lab_process import until
from tests.kit.linting import codes

UWSGI = Path(sys.executable).with_name("uwsgi")

APPLICATION = """
import os

def one(environ, start):
    start("200 OK", [("Pid", str(os.getpid()))])
    return [b"one " + environ["PATH_INFO"].encode()]

def two(environ, start):
    start("200 OK", [])
    return [b"two " + environ["PATH_INFO"].encode()]
"""


@contextmanager
def serving(folder, text, uwsgi=UWSGI):
    """Run a server with these options and the applications one and two; give socket and log."""
    path = folder / "http"
    (folder / "served.py").write_text(APPLICATION)
    ini = folder / "uwsgi.ini"
    ini.write_text(f"[uwsgi]\nhttp-socket = {path}\n{text}\n")
    log = folder / "log"
    bare = {name: value for name, value in os.environ.items() if not name.startswith("UWSGI_")}
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [uwsgi, ini], cwd=folder, env=bare, stderr=output, start_new_session=True
        ) as server,
    ):
        try:
            until(lambda: b"spawned uWSGI worker" in log.read_bytes(), "a worker")
            yield path, log
        finally:
            os.killpg(server.pid, signal.SIGKILL)


def test_the_first_application_answers_what_another_is_mounted_for(tmp_path):
    """Until manage-script-name is there."""
    text = "module = served:one\nmount = /b=served:two"
    for line, body in (("", b"one /b/x"), ("manage-script-name = true", b"two /x")):
        assert ("UW223" in codes(f"http-socket = :1\n{text}\n{line}")) is not bool(line)
        with serving(tmp_path, f"{text}\n{line}") as (path, _):
            assert ask(path, path="/b/x").body == body


def test_an_item_of_a_cache_with_purge_lru_has_expired_in_1970(tmp_path):
    """If it has a time at all."""
    store = "route-run = cache:key=x,name=c\nroute-run = cachestore:key=x,name=c,expires=60"
    for purge, expires in (("", False), (",purge_lru=1", True)):
        text = f"module = served:one\ncache2 = name=c,items=9{purge}\n{store}"
        assert ("UW220" in codes(text)) is expires
        with serving(tmp_path, f"{text}\nmaster = true") as (path, _):
            ask(path)
            assert ("1970" in ask(path).headers["expires"]) is expires


def test_an_unknown_algorithm_is_spare(tmp_path):
    """The log says so."""
    text = "module = served:one\nprocesses = 2\ncheaper = 1\ncheaper-algo = bussyness"
    assert "UW215" in codes(text)
    with serving(tmp_path, text) as (_, log):
        words = b"unable to find requested cheaper algorithm, falling back to spare"
        until(lambda: words in log.read_bytes(), "the message")


def test_requests_are_logged_only_if_something_asks_for_it(tmp_path):
    """However their lines are to look."""
    text = "module = served:one\ndisable-logging = true\nlog-format = request %(uri)"
    for line, logged in (("", False), ("log-slow = 1\nlog-big = 1", True)):
        assert ("UW211" in codes(f"{text}\n{line}")) is not logged
        with serving(tmp_path, f"{text}\n{line}") as (path, log):
            ask(path, path="/seen")
            ask(path)
            assert (b"request /seen" in log.read_bytes()) is logged


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "text", "replaced"),
    [
        ("UW202", "", False),
        ("UW219", "master = true\ngevent = 10", False),
        ("UW219", "master = true\nasyncio = 10\ngreenlet = true", False),
        (None, "master = true", True),
    ],
)
def test_a_worker_s_age(code, text, replaced, tmp_path):
    """Nobody sees it without a master, and a loop does not end by it."""
    text = f"module = served:one\nmin-worker-lifetime = 1\nmax-worker-lifetime = 2\n{text}"
    assert code is None or code in codes(text)
    with serving(tmp_path, text) as (path, _):
        first = ask(path).headers["pid"]
        end = time.monotonic() + 6
        while time.monotonic() < end and ask(path).headers["pid"] == first:
            time.sleep(0.2)
        assert (ask(path).headers["pid"] != first) is replaced


@pytest.mark.slow
def test_without_lazy_apps_a_touch_leaves_the_old_code(tmp_path):
    """New workers are copies of what the master has loaded."""
    touched = tmp_path / "touched"
    text = f"module = served:one\nmaster = true\ntouch-chain-reload = {touched}"
    for line, body in (("", b"one /"), ("lazy-apps = true", b"new /")):
        assert ("UW217" in codes(f"{text}\n{line}")) is not bool(line)
        touched.write_text("1")
        with serving(tmp_path, f"{text}\n{line}") as (path, log):
            assert ask(path).body == b"one /"
            (tmp_path / "served.py").write_text(APPLICATION.replace('b"one ', 'b"new '))
            later = time.time() + 10
            os.utime(touched, (later, later))
            until(lambda log=log: b"Respawned uWSGI worker" in log.read_bytes(), "a new worker")
            assert ask(path).body == body
