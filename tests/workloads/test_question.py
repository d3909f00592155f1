"""What is typed of what is asked."""

import pytest

from lab.bench.workloads import http_file, workload
from lab.bench.workloads.question import Question, requests_of
from lab.errors import UsageError, WorkloadError
from lab.model.request import Headers, Request
from lab.model.runtime import without_values


def asked(**fields):
    """Return the requests of what is typed."""
    return requests_of(Question(**fields)).requests


def test_nothing_said_is_a_get_of_the_root():
    """As it was before there were options; to localhost, without a port."""
    answer = requests_of(Question())
    assert (answer.requests, answer.host, answer.remark) == ((Request("/"),), "localhost", "")


def test_a_body_is_posted_as_curl_does_it(tmp_path):
    """Given as text, or as a file; a header of the user's own takes the place of the usual one."""
    (tmp_path / "body").write_bytes(b"\x00\n")
    (form,) = asked(data="a=1", writes=True)
    (json,) = asked(
        data=f"@{tmp_path / 'body'}",
        method="put",
        headers=["content-type: application/json"],
        writes=True,
    )
    assert form.encode() == (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=1"
    )
    assert (json.method, json.headers.shown) == ("PUT", (("content-type", "application/json"),))
    assert json.body == b"\x00\n"


def test_several_paths_are_a_mix_of_equal_weights():
    """One that is said twice weighs twice."""
    requests = asked(paths=["/a", "/b", "/a"])
    assert [(str(request), request.weight) for request in requests] == [("/a", 2), ("/b", 1)]


def test_cookies_and_headers_go_with_every_request(tmp_path):
    """In place of those of the same name that a file has; other cookies stay."""
    file = tmp_path / "a.http"
    file.write_text("GET /\nCookie: id=1; theme=dark\nX-A: old\n###\nGET /b\n")
    first, second = asked(requests=file, cookies=["id=2", "new=3"], headers=["x-a: b"])
    assert first.headers.reveal() == (("x-a", "b"), ("Cookie", "id=2; theme=dark; new=3"))
    assert second.headers.reveal() == (("x-a", "b"), ("Cookie", "id=2; new=3"))


def test_a_host_is_named_by_its_option_by_a_header_or_by_a_file(tmp_path):
    """The option comes first; it is no header of a request."""
    file = tmp_path / "a.http"
    file.write_text("GET http://ignored/a\nHost: a.example\n")
    answers = [
        requests_of(Question(requests=file)),
        requests_of(Question(requests=file, headers=["Host: b.example"])),
        requests_of(Question(requests=file, headers=["Host: b.example"], host="c.example:80")),
    ]
    assert [answer.host for answer in answers] == ["a.example", "b.example", "c.example:80"]
    assert all(answer.requests[0].headers == Headers() for answer in answers)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"paths": ["x"]}, "begins with /"),
        ({"paths": ["/a b"]}, "percent-encode blanks and non-ASCII"),
        ({"paths": ["/ü"]}, "percent-encode blanks and non-ASCII"),
        ({"check": "("}, "not a regular expression"),
        ({"method": "G E T"}, "--method 'G E T': expected a word, such as POST"),
        ({"method": "CONNECT", "writes": True}, "'CONNECT' is no method that can be sent"),
        ({"method": "DELETE"}, "^DELETE /: DELETE may write, and .*: say --writes$"),
        ({"data": "x"}, "^POST /: POST may write, and .*: say --writes$"),
        ({"data": "@/no/such"}, "--data /no/such: cannot be read"),
        ({"headers": ["A"]}, "--header 'A': expected 'NAME: VALUE'"),
        ({"headers": ["A b: c"]}, "the header 'A b' cannot be sent"),
        ({"headers": ["A: b\nC: d"]}, "the header 'A' cannot be sent"),
        ({"headers": ["Content-Length: 7"]}, "Content-Length is written by the lab"),
        ({"cookies": ["3f9c"]}, "--cookie ...: expected NAME=VALUE"),
        ({"cookies": ["a=1; b=2"]}, "--cookie a: one at a time"),
        ({"host": "a b"}, "--host 'a b': expected a name, as in www.example.org"),
        ({"paths": [f"/{number}" for number in range(1010)]}, "1,010 different requests; at most"),
        ({"static": True}, "--static is for a recording"),
        ({"headers": [f"A: {'x' * 20_000}"]}, "a head of 200.. bytes; at most 16384 can"),
    ],
)
def test_what_cannot_be_meant_is_refused(said, message):
    """In one line, with what can."""
    with pytest.raises(UsageError, match=message) as caught:
        asked(**said)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_what_changes_nothing_needs_no_leave(method):
    """Of all else a user has to say that it may be sent thousands of times."""
    assert asked(method=method)[0].method == method


@pytest.mark.parametrize(
    "said", [{"paths": ["/"]}, {"method": "GET"}, {"data": "x"}, {"status": 200}, {"check": "x"}]
)
def test_what_a_file_says_is_not_said_twice(tmp_path, said):
    """One of them would be passed over."""
    (name,) = said
    file = tmp_path / "a.http"
    file.write_text("GET /")
    with pytest.raises(UsageError, match=f"--{name.removesuffix('s')}.*: --requests .* says it"):
        asked(requests=file, **said)


def test_a_stored_request_wants_its_secrets_back(tmp_path):
    """A run's requests.http has their names; the option that is missing is told."""
    file = tmp_path / "requests.http"
    file.write_text("GET /\nCookie: id=...; b=...\nAuthorization: ...\n")
    with pytest.raises(UsageError, match="Cookie was left out when it was stored; say --cookie id"):
        asked(requests=file)
    with pytest.raises(UsageError, match="say --header 'Authorization: VALUE'"):
        asked(requests=file, cookies=["id=1", "b=2"])
    (request,) = asked(requests=file, cookies=["id=1", "b=2"], headers=["Authorization: x"])
    assert request.headers.reveal() == (("Authorization", "x"), ("Cookie", "id=1; b=2"))


@pytest.mark.parametrize(
    "name", ["X-Api-Key", "x-auth-token", "X-CSRFToken", "Ocp-Apim-Subscription-Key", "X-Auth"]
)
def test_a_header_that_is_named_as_a_secret_is_one(tmp_path, name):
    """It is sent, and stored nowhere; who repeats the run says it again."""
    (request,) = asked(headers=[f"{name}: hunter2", "X-Page: 2"])
    assert f"{name}: hunter2".encode() in request.encode()
    assert request.headers.shown == ((name, "..."), ("X-Page", "2"))
    assert request.headers.digest
    assert "hunter2" not in http_file.render([request])
    assert without_values(("--header", f"{name}: hunter2")) == ("--header", f"{name}: ...")
    file = tmp_path / "requests.http"
    file.write_text(http_file.render([request]))
    with pytest.raises(UsageError, match=f"say --header '{name}: VALUE'"):
        asked(requests=file)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.http", b"\xff", "is not UTF-8 text"),
        ("a.http", b"### nothing\n", "it has no request"),
        ("no.http", None, "cannot be read: No such file"),
        ("a.har", b"x" * 100, "is no HAR"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path, name, content, message):
    """With its name."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(WorkloadError, match=message):
        asked(requests=tmp_path / name)


def test_a_file_may_not_be_longer_than_any_that_is_meant(tmp_path, monkeypatch):
    """It is not read further."""
    monkeypatch.setattr("lab.bench.workloads.http_file.LONGEST_FILE", 10)
    (tmp_path / "a.http").write_text("GET /items/3")
    with pytest.raises(WorkloadError, match="has more than 10 bytes"):
        asked(requests=tmp_path / "a.http")


def test_what_was_read_of_a_file_is_said(tmp_path):
    """And that the run's folder has it."""
    (tmp_path / "a.http").write_text("GET /a\n###\nGET /b")
    lines = []
    the_workload = workload(
        question=Question(requests=tmp_path / "a.http"), app="a:b", say=lines.append
    )
    assert lines == ["a.http: 2 requests; requests.http of the run's folder has them"]
    assert the_workload.target_text == "/a and 1 more"
