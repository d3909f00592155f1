"""Requests as a browser has recorded them."""

import json
from pathlib import Path

import pytest

from lab.bench.workloads.har import parse
from lab.bench.workloads.question import Question, requests_of
from lab.errors import WorkloadError
from lab.model.request import Request

PATH = Path("a.har")
ORIGIN = "https://www.example.org"


def entry(target="/", method="GET", status=200, **more):
    """Return an entry of a recording."""
    request = {"method": method, "url": f"{ORIGIN}{target}", "headers": more.pop("headers", [])}
    if "body" in more:
        request["postData"] = {"mimeType": "application/json", "text": more.pop("body")}
    reply = {"status": status, "content": {"size": 1, "mimeType": more.pop("mime", "text/html")}}
    return {"startedDateTime": "2026", "request": request, "response": reply, **more}


def recording(*entries):
    """Return a recording as a file has it."""
    return json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()


def parsed(*entries, static=False, writes=False):
    """Return what a recording asks for."""
    return parse(recording(*entries), PATH, str, static=static, writes=writes)


VISIT = (
    entry(),
    entry("/style.css", mime="text/css; charset=utf-8"),
    entry("/logo", mime="", _resourceType="image"),
    entry("/a.js?v=1", mime=""),
    entry("/api/items?page=2"),
    {**entry(), "request": {"method": "GET", "url": "https://cdn.example.net/x.png"}},
    entry("/cart", "POST", 302, body='{"item": 3}'),
    entry("/gone", status=0),
    entry("/old", status=304),
)


def test_the_requests_of_one_origin_are_taken():
    """GET only, without what a proxy serves; what is left out is counted."""
    the_recording = parsed(*VISIT)
    assert the_recording.requests == tuple(map(Request, ("/", "/api/items?page=2", "/old")))
    assert str(the_recording) == (
        "3 requests of https://www.example.org; left out: 3 images, fonts, scripts and styles "
        "(--static), 1 of other origins, 1 other than GET (--writes), 1 without a reply, or that "
        "failed"
    )


def test_an_addresss_password_is_told_nobody():
    """The run's first lines are printed and shared; with it or without, the origin is one."""
    private = entry()
    private["request"]["url"] = "https://me:hunter2@www.example.org/a"
    the_recording = parsed(private, entry("/b"))
    assert str(the_recording) == "2 requests of https://www.example.org"
    assert [request.path for request in the_recording.requests] == ["/a", "/b"]


def test_more_is_taken_where_it_is_asked_for():
    """A reply has the status that was recorded."""
    the_recording = parsed(*VISIT, static=True, writes=True)
    assert len(the_recording.requests) == 7
    cart = next(request for request in the_recording.requests if request.method == "POST")
    assert (cart.path, cart.body, cart.expect.status) == ("/cart", b'{"item": 3}', 302)


def test_headers_are_taken_but_for_the_browsers_own():
    """Nothing of its connection and its cache."""
    names = ("Accept", ":authority", "Cookie", "Sec-Fetch-Mode", "If-None-Match", "Referer", "Host")
    the_recording = parsed(entry(headers=[{"name": name, "value": "a=b"} for name in names]))
    assert the_recording.requests[0].headers.reveal() == (("Accept", "a=b"), ("Cookie", "a=b"))


def test_equal_requests_are_counted(tmp_path):
    """Into weights."""
    file = tmp_path / "visit.har"
    file.write_bytes(recording(entry("/a"), entry("/b"), entry("/a"), entry("/a")))
    answer = requests_of(Question(requests=file))
    assert [(str(request), request.weight) for request in answer.requests] == [("/a", 3), ("/b", 1)]
    assert answer.remark.startswith(
        "visit.har: 4 requests of https://www.example.org; requests.http"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "is no HAR: Input data was truncated"),
        (b"[" * 100_000, "is no HAR"),
        (b'{"log": {}}', "is no HAR: Object missing required field `entries`"),
        (b'{"log": {"entries": [7]}}', r"Expected `object`, got `int` - at `\$.log.entries\[0\]"),
        (recording(), "it has no request over HTTP"),
        (
            recording(entry("/a.png", mime="image/png")),
            "nothing of it is left to ask for: 1 im",
        ),
        (recording(entry("/ü")), "entry 1: .* must be percent-encoded"),
        (
            recording(entry(headers=[{"name": "A", "value": "b\r\nC: d"}])),
            "entry 1: the header 'A' cannot be sent",
        ),
        (recording({**entry(), "request": {"method": "GET", "url": "http://[x"}}), "over HTTP|HAR"),
    ],
)
def test_a_file_from_anywhere_is_refused_in_one_line(text, problem):
    """Whatever is in it."""
    with pytest.raises(WorkloadError, match=problem) as caught:
        parse(text, PATH, str, static=False, writes=True)
    assert "\n" not in str(caught.value)
