"""The ways around Flask answer as Flask does: the same requests to both, compared."""

import random
import socket

import pytest

from app import create_app
from app.fast import ShortCut
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.lab_process import SITES, until
from tests.kit.running import read_installed

from .conftest import ask_client, served

CALLS = Workload("calls", "/", Expectation(pattern="[0-9]"), "counting:application", SITES)
"""An application that tells how often it was called."""


def fibonacci(count):
    """Return the first *count* numbers of the sequence."""
    numbers = [0, 1]
    while len(numbers) < count:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers


def corpus():
    """Return requests (method, path, headers, body), the same ones each time."""
    draw = random.Random(34)
    edges = [f"/{number + step}" for number in fibonacci(480)[::4] for step in (-1, 0, 1)]
    drawn = [f"/{draw.randrange(10 ** draw.randrange(1, 101))}" for _ in range(60)]
    odd = ["/-5", "/-0", "/0", "/00009000", "/-" + "9" * 100, "/" + "9" * 100]
    bad = ["/" + "9" * 101, "/abc", "/+5", "/1.5", "/-", "/1_0", "/9%0A", "/9000%0D", "/%39000"]
    bad += [
        "/9000/",
        "//9000",
        "/favicon.ico",
        "/a/b",
        "/%D9%A3",
        "/9000%00",
        "/%2F9000",
        "/9000;x",
    ]
    other = ["/", "/healthz", "/readyz", "/openapi.json"]
    plain = [("GET", path, {}, None) for path in (*edges, *drawn, *odd, *bad, *other)]
    queries = ["/9000?", "/9000?x=1", "/9000?a=/8", "/8?x=%0A", "/abc?x=1"]
    plain += [("GET", path, {}, None) for path in queries]
    some = ["/9000", "/8", "/-1", *drawn[:10], "/abc", "/"]
    more = [("HEAD", path, {}, None) for path in some]
    more += [("OPTIONS", path, {}, None) for path in some]
    more += [("POST", path, {}, b"x=1") for path in some]
    tags = ['"f21"', 'W/"f21"', "*", '"f6", "f21"', '"f20"', "f21", ""]
    more += [
        (method, path, {"If-None-Match": tag}, None)
        for tag in tags
        for path in ("/9000", "/8", "/abc")
        for method in ("GET", "HEAD", "POST")
    ]
    more += [("GET", "/9000", {name: value}, None) for name, value in HEADERS]
    requests = plain + more
    draw.shuffle(requests)
    return requests


HEADERS = (
    ("Range", "bytes=0-4"),
    ("If-Match", '"other"'),
    ("If-Modified-Since", "Sat, 29 Oct 1994 19:43:31 GMT"),
    ("Accept", "text/html"),
    ("Accept-Encoding", "gzip"),
    ("Cookie", "session=x"),
    ("X-HTTP-Method-Override", "POST"),
    ("Authorization", "Basic eDp5"),
)


def test_the_corpus_is_large():
    """It holds at least 500 requests."""
    assert len(corpus()) >= 500


@pytest.mark.costly
@pytest.mark.parametrize("name", ["short-cut", "cached", "compiled-framework"])
def test_replay(tuned, name):
    """Each request, asked twice, has the status, headers and body of the profile `tuned`."""
    with served(read_installed(name)) as ask:
        for request in corpus():
            expected = tuned(*request)
            for turn in ("first", "second"):
                assert ask(*request) == expected, (turn, request)


SLASHES = {"//9000", "/%2F9000"}
"""Paths that begin with two slashes, of which Flask makes one."""


def test_the_service_for_asgi_answers_as_flask_s(starlette):
    """Each request has the status, headers and body of Flask's."""
    for request in corpus():
        assert (starlette(*request) == ask_client(*request)) != (request[1] in SLASHES), request


def test_the_article_s_application_answers_alike_on_a_compiled_framework():
    """Its faults included: each request has the status, headers and body of `safety`."""
    compiled = read_installed("compiled-framework-article")
    with served("safety") as plain, served(compiled) as ask:
        for request in corpus():
            assert ask(*request) == plain(*request), request


def test_the_short_cut_sends_flask_s_bytes():
    """Without a server: status and header list, in order and spelling, and body are Flask's."""
    flask = create_app()
    short = ShortCut(create_app().wsgi_app, 100)

    def sent(application, path):
        seen = []
        environ = {
            "REQUEST_METHOD": "GET",
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SERVER_NAME": "x",
            "SERVER_PORT": "80",
            "wsgi.url_scheme": "http",
        }
        body = application(environ, lambda status, headers: seen.extend([status, list(headers)]))
        return [*seen, b"".join(body)]

    paths = [path for method, path, headers, _ in corpus() if method == "GET" and "%" not in path]
    assert [path for path in paths if sent(short, path) != sent(flask, path)] == []


def stored(ask):
    """Return what two requests got alike; None where the application was called for each."""
    first, second = (ask("GET", "/9000").body for _ in range(2))
    return first if first == second else None


def test_a_hit_does_not_reach_python():
    """Once a number's reply is stored, others get the same, and the application no call."""
    with served("cached", CALLS) as ask:
        # A reply is stored after it has been sent, so a second request may come before that.
        first = until(lambda: stored(ask), "a reply from the cache")
        assert [ask("GET", "/9000").body for _ in range(20)] == [first] * 20
        # Any other path is a call: of three at least two fell to one of the two workers.
        assert len({ask("GET", "/x").body for _ in range(3)}) > 1


@pytest.mark.slow
def test_the_cache_is_bounded():
    """After 100,000 different numbers new ones are still kept, nothing is logged, memory stays."""
    with served("cached", CALLS) as ask:

        def get(number):
            with socket.create_connection(ask.address, 10) as connection:
                connection.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)
                return connection.makefile("rb").read().rpartition(b"\r\n\r\n")[2]

        def memory():
            return sum(process.memory_full_info().pss for process in ask.tree())

        for number in range(10_000):  # fills the cache, and touches all of its 8 MB
            get(number)
        before, lines = memory(), len(ask.log())
        for number in range(10_000, 100_000):
            get(number)
        assert memory() - before < 2e6
        assert len(ask.log()) == lines
        assert get(100_001) == get(100_001)
