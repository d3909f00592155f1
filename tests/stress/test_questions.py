"""The questions: what a real server answers to single requests and signals."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from lab.bench import profiles
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.plan import arm_of
from lab.cli.stress import questions
from lab.cli.stress.questions import QUESTIONS, Scene, look_at
from lab.cli.stress.target import Target
from lab.model.plan import Load
from lab.model.request import Expectation
from lab.model.runtime import OWN, Runtime
from lab.model.workload import Workload

APP = """\
import time

def application(environ, start_response):
    if environ["PATH_INFO"] == "/slow":
        time.sleep(20)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""

INI = "[uwsgi]\nhttp-socket = :8000\nmodule = shop\nmaster = true\nprocesses = 2\n"


@pytest.fixture
def arm(tmp_path):
    """Return a function that makes an arm of a configuration, or of a command."""
    (tmp_path / "shop.py").write_text(APP)

    def make(text, name="uwsgi.ini"):
        if name:
            (tmp_path / name).write_text(text)
            text = str(tmp_path / name)
        started = Runtime(cwd=tmp_path)
        workload = Workload("shop", "/", Expectation(), apps={OWN: ""}, runtime=started)
        return arm_of(profiles.read(text, started), workload, Load())

    return make


@contextmanager
def scene(arm, folder, slow=None):
    """Start a server, and yield what a question sees of it."""
    trial = folder / "trial"
    trial.mkdir()
    with ServerRunner().start(arm.profile, arm.workload, trial, None) as server:
        yield Scene(Target(server, trial), arm.workload, slow)


def test_what_uwsgi_answers(arm):
    """Each as it is known of 2.0.31: its buffer bounds headers, and SIGTERM is a reload."""
    answers = look_at(arm(f"{INI}buffer-size = 16384\n"), None, None)
    assert {question: answer.difference for question, answer in answers.items()} == {
        "worker processes": "2",
        "memory of a worker (PSS), without load": None,
        "a header of 8 KiB": "200",
        "a header of 16 KiB": "closed without a reply",
        "a header of 64 KiB": "closed without a reply",
        "HEAD": "200, 5 bytes of body",
        "a connection after the reply": "closed",
        "SIGTERM": "reloads",
    }


def test_a_stop_is_told_from_a_reload(arm, tmp_path, monkeypatch):
    """By the end of the process, for which a busy machine may take its time."""
    monkeypatch.setattr(questions, "STOP", 60.0)
    with scene(arm(f"{INI}die-on-term = true\n"), tmp_path) as seen:
        assert questions.term(seen).difference == "ends"


def test_a_request_that_is_ended_is_seen(arm, tmp_path):
    """With the seconds after which its connection was closed."""
    with scene(arm(f"{INI}harakiri = 1\n"), tmp_path, "/slow") as seen:
        answer = questions.slow(seen)
    assert answer.difference == "closed without a reply"
    assert answer.text.startswith("closed without a reply after ")


def test_a_request_that_is_not_ended_is_seen(arm, tmp_path, monkeypatch):
    """Nobody waits for it for ever."""
    monkeypatch.setattr(questions, "SLOWEST", 1.0)
    with scene(arm(INI), tmp_path, "/slow") as seen:
        assert questions.slow(seen).difference == "no whole reply within 1 s"


def test_a_connection_that_is_kept_is_watched(arm, tmp_path, monkeypatch):
    """Not for ever: by its router uWSGI keeps one for longer."""
    monkeypatch.setattr(questions, "IDLE", 1.0)
    kept = "http = :8000\nhttp-keepalive = 1\n"
    with scene(arm(INI.replace("http-socket = :8000\n", kept)), tmp_path) as seen:
        assert questions.kept(seen).text == "kept for 1 s and more"


def test_the_uwsgi_protocol_bounds_what_can_be_asked(arm, tmp_path):
    """A head of 64 KiB is more than it can say, and a connection carries one request."""
    ini = INI.replace("http-socket = :8000", "socket = /run/shop.sock")
    with scene(arm(ini), tmp_path) as seen:
        assert "too long" in QUESTIONS["a header of 64 KiB"](seen).text
        assert questions.kept(seen).difference == "closed"


@pytest.mark.peers
def test_what_gunicorn_answers(arm):
    """It answers 431 to a long header, keeps a connection for 2 s, and ends at SIGTERM."""
    answers = look_at(
        arm('wsgi_app = "shop:application"\nthreads = 2\n', "gunicorn.conf.py"), None, None
    )
    assert answers["a header of 64 KiB"].difference == "431"
    assert answers["HEAD"].difference == "200, 0 bytes of body"
    assert answers["a connection after the reply"].text.startswith("kept, closed after 2.")
    assert answers["SIGTERM"].difference == "ends"


@pytest.mark.peers
def test_what_granian_answers(arm, monkeypatch):
    """It takes long headers, and keeps a connection for longer than is watched."""
    monkeypatch.setattr(questions, "IDLE", 1.0)
    answers = look_at(arm("granian --interface wsgi --workers 2 shop:application", ""), None, None)
    assert answers["worker processes"].difference == "2"
    assert answers["a header of 64 KiB"].difference == "200"
    assert answers["a connection after the reply"].text == "kept for 1 s and more"
