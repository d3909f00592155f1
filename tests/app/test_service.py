"""The service's replies, without a server."""

import json
import logging
import sys

import pytest

from app import create_app
from app.number import SettingError
from tests.kit.lab_process import ROOT, run
from tests.kit.replies import NINE_THOUSAND


@pytest.fixture
def service(monkeypatch):
    """The application with its default settings."""
    monkeypatch.delenv("FIB_MAX_DIGITS", raising=False)
    return create_app()


@pytest.fixture
def client(service):
    """A client of the service."""
    return service.test_client()


def test_a_number_is_answered_with_the_sequence_up_to_it(client):
    """GET /9000 is 200, application/json, and the article's body."""
    reply = client.get("/9000")
    assert (reply.status_code, reply.data) == (200, NINE_THOUSAND)
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.headers["Content-Length"] == "97"


@pytest.mark.parametrize(
    ("path", "last"), [("/-5", 1), ("/-0", 1), ("/0", 1), ("/007", 8), ("/8", 8), ("/9", 13)]
)
def test_negative_numbers_and_leading_zeros_are_taken(client, path, last):
    """A minus sign and leading zeros are part of a decimal integer."""
    reply = client.get(path)
    assert reply.status_code == 200
    assert json.loads(reply.data)[-1] == last


def test_the_body_is_the_article_s_up_to_the_limit(client):
    """For numbers of every length both applications send the same bytes."""
    from loadtests.workloads.fib._article import app as article

    numbers = ["0", "1", "2", *("9" * digits for digits in range(1, 101)), "-" + "9" * 100]
    theirs = article.test_client()
    assert [n for n in numbers if client.get(f"/{n}").data != theirs.get(f"/{n}").data] == []


@pytest.mark.parametrize(
    "path",
    ["/abc", "/+5", "/%2B5", "/1_000", "/%209", "/9%0A", "/1.5", "/1e3", "/--5", "/-", "/%D9%A3"],
)
def test_what_is_no_decimal_integer_is_a_bad_request(client, path, caplog):
    """Signs, blanks, underscores and other scripts' digits are 400, and nothing is logged."""
    reply = client.get(path)
    assert reply.status_code == 400
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert json.loads(reply.data) == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": "The path must be a decimal integer, as in /9000; / lists the other paths.",
    }
    assert caplog.records == []


@pytest.mark.parametrize("path", ["/1" + "0" * 100, "/-1" + "0" * 100, "/" + "9" * 5000])
def test_more_digits_than_allowed_are_a_bad_request(client, path):
    """From 101 digits on the reply is 400 and names the limit."""
    reply = client.get(path)
    assert reply.status_code == 400
    problem = json.loads(reply.data)
    assert problem["max_digits"] == 100
    assert problem["detail"] == "At most 100 digits are answered."


def test_the_digit_limit_is_a_setting(monkeypatch):
    """FIB_MAX_DIGITS=3 answers 999 and refuses 1000."""
    monkeypatch.setenv("FIB_MAX_DIGITS", "3")
    client = create_app().test_client()
    assert [client.get(path).status_code for path in ("/999", "/-999", "/1000")] == [200, 200, 400]
    assert client.get("/").json["max_digits"] == 3


def test_the_highest_limit_is_served_in_full(monkeypatch):
    """With the limit at its highest, the largest number has a sequence that Python can print."""
    python_limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)  # Python's lowest; its usual 4300 would take 2 s
    try:
        monkeypatch.setenv("FIB_MAX_DIGITS", "639")
        assert create_app().test_client().get("/" + "9" * 639).status_code == 200
        monkeypatch.setenv("FIB_MAX_DIGITS", "640")
        with pytest.raises(SettingError, match="from 1 to 639"):
            create_app()
    finally:
        sys.set_int_max_str_digits(python_limit)


@pytest.mark.parametrize("value", ["abc", "0", "-1", "1.5", "4300", "\u0663", "9" * 99])
def test_a_bad_limit_is_refused_at_the_start(monkeypatch, value):
    """A value that cannot be used stops the service, and the message names the variable."""
    monkeypatch.setenv("FIB_MAX_DIGITS", value)
    with pytest.raises(SettingError, match=r"FIB_MAX_DIGITS=.* whole number from 1 to 4299"):
        create_app()


def test_an_empty_limit_counts_as_unset(monkeypatch):
    """FIB_MAX_DIGITS= is the default, 100."""
    monkeypatch.setenv("FIB_MAX_DIGITS", "")
    assert create_app().test_client().get("/").json["max_digits"] == 100


def test_the_root_says_what_answers(client):
    """GET / tells the build of fib, the limit, and examples and links that work."""
    import fib

    reply = client.get("/")
    assert reply.headers["Content-Type"] == "application/json"
    document = reply.json
    assert document["service"] == "fibonacci"
    assert document["fib"] == {"build": fib.BUILD, "fallback": fib.FALLBACK}
    assert document["max_digits"] == 100
    paths = [*document["examples"], *document["links"].values()]
    assert [path for path in paths if client.get(path).status_code != 200] == []


def test_health_is_never_cached(client):
    """GET /healthz is 200 ok, no-store."""
    reply = client.get("/healthz")
    assert (reply.status_code, reply.data) == (200, b"ok\n")
    assert reply.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/a/b", "/9000/", "/static/x"])
def test_an_unknown_path_is_a_problem_document(client, path):
    """404 has the same form as every other error."""
    reply = client.get(path)
    assert reply.status_code == 404
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert json.loads(reply.data)["title"] == "Not Found"


def test_a_browser_s_visit_logs_nothing(client, caplog):
    """/favicon.ico is a 404 that the browser keeps."""
    reply = client.get("/favicon.ico")
    assert reply.status_code == 404
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert reply.headers["Cache-Control"] == "public, max-age=86400"
    assert caplog.records == []


@pytest.mark.parametrize("path", ["/9000", "/", "/healthz"])
def test_head_is_get_without_its_body(client, path):
    """HEAD has the status and the headers of GET, the length included."""
    get, head = client.get(path), client.head(path)
    assert head.data == b""
    assert (head.status_code, head.headers) == (get.status_code, get.headers)


def test_options_names_the_methods(client):
    """OPTIONS lists what a path allows."""
    reply = client.options("/9000")
    assert reply.status_code == 200
    assert set(reply.allow) == {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused_and_the_allowed_ones_named(client, method):
    """405 is a problem document and keeps Allow."""
    reply = client.open("/9000", method=method)
    assert reply.status_code == 405
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert set(reply.allow) == {"GET", "HEAD", "OPTIONS"}


def test_a_fault_of_ours_is_logged_and_not_shown(service, caplog):
    """An unexpected exception is a 500 problem document; the traceback stays in the log."""

    def fail(text):
        raise RuntimeError("the secret")

    service.view_functions["sequence"] = fail
    with caplog.at_level(logging.ERROR):
        reply = service.test_client().get("/9000")
    assert reply.status_code == 500
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert json.loads(reply.data)["title"] == "Internal Server Error"
    assert b"secret" not in reply.data
    assert "the secret" in caplog.text


@pytest.mark.parametrize("arguments", [["--app", "app"], []])
def test_flask_finds_the_service_by_itself(arguments):
    """`flask run` in the project's folder needs no option, and FLASK_APP=app works."""
    done = run("python", "-m", "flask", *arguments, "routes", cwd=ROOT)
    assert "/healthz" in done.stdout, done.stderr


def test_what_is_loaded_before_the_fork_stays_shared():
    """The collector of a forked worker does not write to what the service is made of."""
    counted = "import gc, app.wsgi; print(gc.get_freeze_count(), len(gc.get_objects()))"
    frozen, looked_at = map(int, run("python", "-c", counted, cwd=ROOT).stdout.split())
    assert frozen > 10_000
    assert looked_at < frozen / 10
