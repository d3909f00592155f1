"""The corpus itself, and that its judge can say no."""

import pytest

from tests.corpus.client import Outcome, classify
from tests.corpus.conftest import CORPUS
from tests.corpus.corpus import PATH, expand, read

GET = b"GET /9 HTTP/1.1\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def test_names_are_unique_and_each_says_why():
    """At least 130 requests; no two share a name or their bytes; each says why in a sentence."""
    requests = read()
    assert len(requests) >= 130
    assert len({request.name for request in requests}) == len(requests)
    assert len({request.raw for request in requests}) == len(requests)
    assert [r.name for r in requests if not r.why.endswith(".")] == []


def test_no_failure_of_the_server_is_allowed():
    """Silence is allowed for what has no end only, and 500, 502, 503 and 504 never are."""
    words = {
        word
        for request in CORPUS.values()
        for outcome in request.allowed
        for word in outcome.split()
    }
    assert words.isdisjoint({"500", "502", "503", "504", "closed", "timeout", "malformed"})
    silent = [request for request in CORPUS.values() if "unfinished" in request.allowed]
    assert [request.name for request in silent if request.complete] == []


def test_an_answer_that_may_be_given_has_its_number():
    """Where GET of a number may be 200, the number is written down, so that the body is checked."""
    unchecked = [
        request.name
        for request in CORPUS.values()
        if any("200" in outcome for outcome in request.allowed) and not request.numbers
    ]
    assert set(unchecked) == {"root", "OPTIONS", "asterisk form"}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("{9*3}", b"999"),
        ("{a:b\r\n*2}x", b"a:b\r\na:b\r\nx"),
        ("\u00e9", b"\xe9"),
        ("() { :; }", b"() { :; }"),
        ("{rest}", b"Host: fib\r\nConnection: close\r\n\r\n"),
    ],
)
def test_notation(text, data):
    """Repetitions and {rest} are written out; other braces stay; a character is a byte."""
    assert expand(text) == data


def test_a_key_that_is_not_known_is_an_error(tmp_path):
    """A mistyped key is not ignored."""
    path = tmp_path / PATH.name
    path.write_text('[a."b"]\nsend = ""\nallowed = [200]\nwhy = "x"\nalowed = [1]\n')
    with pytest.raises(ValueError, match="alowed"):
        read(path)


@pytest.mark.parametrize(
    ("sent", "data", "word"),
    [
        (GET, OK, "200"),
        (GET, OK + OK, "200 200"),
        (GET, OK[:-1], "malformed"),
        (GET, OK + b"x", "malformed"),
        (GET, b"Set-Cookie: a=b 200 OK\r\nContent-Length: 2\r\n\r\nhi", "malformed"),
        (GET, b"hi", "malformed"),
        (b"GET /9\r\n", b"hi", "http09"),
        (b"GET /9\r\n", OK, "200"),
        (b"GET /9\r\n", b"a b 200 OK\r\nContent-Length: 2\r\n\r\nhi", "malformed"),
        (b"HEAD /9 HTTP/1.1\r\n\r\n", OK[:-2], "200"),
        (b"HEAD /9 HTTP/1.1\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n" + OK[:-2], "200"),
        (GET, OK[:-2], "malformed"),
        (GET, b"", "closed"),
        (GET, b"HTTP/1.1 100 Continue\r\n\r\n", "closed"),
        (GET, b"HTTP/1.1 100 Continue\r\n\r\n" + OK, "200"),
    ],
)
def test_what_comes_back_is_named(sent, data, word):
    """By the statuses; cut off, with surplus or without a status line it is malformed."""
    assert classify(sent, data).word == word


@pytest.mark.parametrize(
    ("data", "failed"),
    [
        (OK, False),
        (OK.replace(b"200 OK", b"501 Not Implemented"), False),
        (OK.replace(b"200 OK", b"502 Bad Gateway"), True),
        (OK + OK.replace(b"200 OK", b"500 Internal Server Error"), True),
        (b"Set-Cookie: a=b 500 Internal Server Error\r\n\r\n", True),
        (OK + b"a b 503 Service Unavailable\r\n\r\n", True),
        (OK.replace(b"200 OK", b"500 Internal Server Error") + b"surplus", True),
        # The client's own words come first.
        (b"HTTP/1.1 500 x 200 OK\r\n" + b"x" * 10, False),
        (b"x" * 100 + b" 500 Internal Server Error\r\n\r\n", True),
        (b"", False),
    ],
)
def test_a_failure_of_the_server_is_seen(data, failed):
    """In the first reply or a later one, in a broken status line, too; and nowhere else."""
    assert classify(GET, data).failed() == failed


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome("200", (b"[0, 1, 1, 2, 3, 5, 8, 13]",)), None),
        (Outcome("200", (b"[0, 1, 1, 2, 3, 5, 8, 14]",)), "not the sequence"),
        (Outcome("500", (b"",)), "500, allowed: 200"),
        (Outcome("closed"), "closed"),
        (Outcome("malformed", said="x 200 OK"), "x 200 OK"),
    ],
)
def test_a_wrong_outcome_is_found(outcome, said):
    """Another status, another body, silence and garbage are refused."""
    fault = CORPUS["nine"].judge(outcome)
    assert fault is None if said is None else said in fault
