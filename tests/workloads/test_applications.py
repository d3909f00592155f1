"""The article's application and the smallest one, as any server would call them."""

from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from loadtests.workloads import hello, payload
from loadtests.workloads.fib import _article as article
from tests.kit.lab_process import ROOT, run
from tests.kit.replies import NINE_THOUSAND


def call(app, path):
    """Call *app* once and return the status, the headers and the body."""
    environ = {"PATH_INFO": path, "QUERY_STRING": "", "SCRIPT_NAME": ""}
    setup_testing_defaults(environ)
    started = []
    replies = validator(app)(environ, lambda status, headers, *_: started.extend((status, headers)))
    try:
        body = b"".join(replies)
    finally:
        replies.close()
    return started[0], dict(started[1]), body


def test_the_article_s_application_answers_as_the_article_shows():
    """GET /9000 is the article's output, sent as text/html as Flask does with text."""
    reply = article.app.test_client().get("/9000")
    assert (reply.status_code, reply.data) == (200, NINE_THOUSAND)
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["/+5", "/1_0", "/%D9%A3", "/-5", "/007"])
def test_the_article_s_application_takes_whatever_int_takes(path):
    """What int() accepts is answered: signs, underscores, digits of other scripts."""
    assert article.app.test_client().get(path).status_code == 200


@pytest.mark.parametrize("path", ["/abc", "/1.5", "/favicon.ico", "/" + "9" * 4301])
def test_the_article_s_application_keeps_its_faults(path, caplog):
    """Anything else is a 500 with a traceback in the log, as when it was measured."""
    assert article.app.test_client().get(path).status_code == 500
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("path", ["/", "/9000", "/a/b"])
def test_hello_answers_every_path_alike(path):
    """The smallest application conforms to WSGI and says Pong! with its length."""
    assert call(hello.app, path) == (
        "200 OK",
        {"Content-Type": "text/plain", "Content-Length": "5"},
        b"Pong!",
    )


@pytest.mark.parametrize("size", [1, 1024, payload.LARGEST])
def test_payload_answers_as_many_bytes_as_are_asked_for(size):
    """Exactly, with their number in the head."""
    status, headers, body = call(payload.app, f"/{size}")
    assert (status, headers["Content-Length"], len(body)) == ("200 OK", str(size), size)
    assert set(body) == {ord("x")}


@pytest.mark.parametrize(
    "path", ["/", "/0", "/01", "/-1", "/1k", "/\u0663", f"/{payload.LARGEST + 1}"]
)
def test_payload_answers_no_other_size(path):
    """What it sends is bounded, and it says what to ask for."""
    status, _, body = call(payload.app, path)
    assert status == "404 Not Found"
    assert b"as in /1024" in body


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("loadtests.workloads.hello", ["flask", "fib", "lab"]),
        ("loadtests.workloads.payload", ["flask", "fib", "lab"]),
        ("loadtests.workloads.fib._article", ["app.service", "lab"]),
        ("loadtests.workloads.fib._asgi", ["flask", "werkzeug", "app.service", "lab"]),
        ("loadtests.workloads.asgi", ["flask", "fib", "app", "lab"]),
    ],
)
def test_an_application_loads_nothing_of_the_others(module, absent):
    """What is measured with a small application holds neither our service nor the lab."""
    code = f"import sys, {module}; print([name for name in {absent!r} if name in sys.modules])"
    assert run("python", "-c", code, cwd=ROOT).stdout == "[]\n"


@pytest.mark.parametrize(
    "module",
    [
        "app.wsgi",
        "loadtests.workloads.fib._article",
        "loadtests.workloads.hello",
        "loadtests.workloads.outbound",
        "loadtests.workloads.outbound._asyncio",
        "loadtests.workloads.payload",
    ],
)
def test_both_names_that_servers_look_for_are_there(module, monkeypatch):
    """Each module offers its callable as `app` and as `application`."""
    monkeypatch.setenv("UPSTREAM_URL", "http://127.0.0.1:1/")
    code = f"import {module} as m; print(m.app is m.application and callable(m.app))"
    assert run("python", "-c", code, cwd=ROOT).stdout == "True\n"


def test_the_service_runs_without_the_lab():
    """app.wsgi imports nothing of the instrument that measures it."""
    code = "import sys, app.wsgi; print([name for name in sys.modules if name.startswith('lab')])"
    assert run("python", "-c", code, cwd=ROOT).stdout == "[]\n"
