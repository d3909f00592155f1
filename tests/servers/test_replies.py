"""Which replies are right: what a user's application answers before the first trial."""

from dataclasses import replace

import pytest

from lab.bench import profiles
from lab.bench.servers import readiness
from lab.bench.servers.fetch import fetch
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.replies import capture, try_out
from lab.errors import OtherReplyError, ServerStartError
from lab.model.request import Expectation, Headers, Request

from .conftest import site

COOKIE = Headers.of([("Cookie", "id=hunter2")], str)


def shop(*requests, **more):
    """Return a workload of requests of the shop."""
    return replace(site("shop_site:application", "/"), requests=requests, **more)


def captured(workload, name="http-socket"):
    """Return the workload with what its application answers."""
    return capture(workload, [profiles.read(name)], ServerRunner(), fetch)


def test_each_request_has_the_reply_that_came_first():
    """Of two servers; where it varies, what stays of it; HEAD has none."""
    mine = Request("/mine", headers=COOKIE)
    cart = Request("/cart", "POST", body=b"{}", expect=Expectation(302))
    head = Request("/mine", "HEAD", COOKIE)
    requests = captured(shop(mine, cart, head, Request("/login/"))).requests
    assert [request.expect.body for request in requests] == [
        b"GET /mine of localhost",
        b" {}",
        b"",
        None,
    ]
    assert "64 of 261 bytes differ" in requests[3].expect.varies
    assert "(csrfmiddlewaretoken); required are the 2 parts that stay" in requests[3].expect.varies
    assert requests[0].headers.reveal() == (("Cookie", "id=hunter2"),)


def test_a_page_that_varies_alone_is_judged_by_what_stays():
    """It needs no pattern of the user's."""
    workload = captured(replace(site("shop_site:application", "/login/")))
    assert (workload.requests, workload.expect.body) == ((), None)
    assert workload.expect.pattern
    try_out(profiles.read("http-socket"), workload, ServerRunner(), fetch)


def test_a_reply_of_another_status_ends_the_run_before_its_first_trial():
    """Not only that of the request by which a server is ready."""
    with pytest.raises(OtherReplyError, match=r"it answers /mine with 403 'whose\?'; expected is"):
        captured(shop(Request("/"), Request("/mine")))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"a" * 500 + b"new" + b"b" * 500, "...'aaaa"),
        (b"a" * 500, "...'aaaa"),
        (b"new", "'new'; expected"),
    ],
    ids=["in the middle", "shorter", "at once"],
)
def test_a_long_reply_is_told_from_where_it_differs(body, said):
    """And not by two beginnings that are the same."""
    right = b"a" * 500 + b"old" + b"b" * 500
    request = Request("/", expect=Expectation(200, right))
    text = readiness.describe(request, "localhost", 200, body)
    actual, expected = text.split("; expected is ")
    assert said in text
    assert actual.split(" with 200 ")[1] != expected
    assert len(text) < 400
    assert ("up to byte 500" in text) is (body != b"new")


@pytest.mark.parametrize("host", ["localhost", "shop.example:80"])
def test_a_host_that_django_refuses_is_told_as_that(monkeypatch, host):
    """With the option that names another."""
    monkeypatch.setattr(readiness, "PATIENCE", 0.0)
    monkeypatch.setenv("SHOP_HOSTS", "www.example.org")
    message = f"ALLOWED_HOSTS does not hold {host.partition(':')[0]}; --host www.example.org"
    with pytest.raises(ServerStartError, match=f"/ with 400 Bad Request: {message}"):
        captured(replace(site("shop_site:application", "/"), host=host))


def test_the_host_is_what_was_asked_for(monkeypatch):
    """In readiness and after it."""
    monkeypatch.setenv("SHOP_HOSTS", "www.example.org:8080")
    workload = captured(replace(site("shop_site:application", "/"), host="www.example.org:8080"))
    assert workload.expect.body == b"GET / of www.example.org:8080"
