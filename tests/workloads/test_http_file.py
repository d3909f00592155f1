"""Requests in a file as editors send them."""

from pathlib import Path

import pytest

from lab.bench.workloads.http_file import parse, render
from lab.errors import WorkloadError
from lab.model.request import Expectation, Headers, Request

PATH = Path("shop.http")

SHOP = """\
# of the shop
### weight: 8
GET /items/3
Cookie: sessionid=3f9c

### weight: 1, status: 302, check: a, b: c$
POST /cart HTTP/1.1
// what it is
Content-Type: application/json

{"item": 3,

# no comment
 "n": 1}

### the list
http://www.example.org/items?page=2#top

###
"""


def requests(text):
    """Return the requests of a text."""
    return parse(text, PATH, str)[0]


def test_a_file_has_requests_with_their_weights_and_replies():
    """As editors write it: comments and titles say nothing, and a body ends with its section."""
    first, second, third = requests(SHOP)
    assert (str(first), first.weight, first.expect) == ("/items/3", 8, Expectation())
    assert first.headers.reveal() == (("Cookie", "sessionid=3f9c"),)
    assert second.expect == Expectation(302, None, "a, b: c$")
    assert second.headers.shown == (("Content-Type", "application/json"),)
    assert second.body == b'{"item": 3,\n\n# no comment\n "n": 1}'
    assert third == Request("/items?page=2")


def test_lines_may_end_as_elsewhere():
    """CRLF, and no end at all."""
    assert requests("GET /a\r\nA: b\r\n\r\nbody") == [
        Request("/a", headers=Headers((("A", "b"),)), body=b"body")
    ]


def test_what_is_written_is_read_again():
    """But for the secrets."""
    shop_requests = requests(SHOP)
    text = render(shop_requests)
    assert "3f9c" not in text
    first, *others = requests(text)
    assert first.headers.reveal() == (("Cookie", "sessionid=..."),)
    assert others == shop_requests[1:]


@pytest.mark.parametrize("body", [b"### a", b"a\n### b", b" a", b"a\r\nb", b"< file", b"\xff"])
def test_a_body_that_such_a_file_would_change_is_refused(body):
    """Rather than stored as another one."""
    with pytest.raises(ValueError, match=r"cannot stand in a .http file|can't decode"):
        render([Request("/", "POST", body=body)])


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("\nGET /a b c", 2, "'GET /a b c' is no request, such as GET /items/3"),
        ("GET items", 1, "'items' is no request target: that begins with /"),
        ("GET {{host}}/items", 1, "variables are not filled in"),
        ("@host = x\nGET /", 1, "variables are not filled in"),
        ("GET /\nno header", 2, "'no header' is no header: NAME: VALUE"),
        ("GET /\nA b: c", 1, "the header 'A b' cannot be sent"),
        ("GET /\nContent-Length: 3", 1, "is written by the lab"),
        ("### wieght: 3\nGET /", 1, "wieght: it knows weight, status, check"),
        ("### weight: 0\nGET /", 1, "weight: '0' is none"),
        ("### weight: 3 status: 200\nGET /", 1, "weight: '3 status: 200' is none"),
        ("### weight 3\nGET /", 1, "'weight 3': expected NAME: VALUE"),
        ("### weight: 1, rest\nGET /", 1, "'rest': it knows weight, status, check"),
        ("### check: (\nGET /", 1, "check: '(' is not a regular expression"),
        ("POST /\n\n< ./body.json", 1, "a body from another file, or a script, is not read"),
        ("GET /\nHost: a\n###\nGET /\nHost: b", 4, "a and b: all requests have one Host"),
        ("GET /ü", 1, "must be percent-encoded"),
    ],
)
def test_what_is_not_done_is_refused(text, line, problem):
    """With the line, instead of sent as something else."""
    with pytest.raises(WorkloadError) as caught:
        requests(text)
    assert caught.value.line == line
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
