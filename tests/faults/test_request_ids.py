"""One name for a request in every log, and lines that no client can break."""

import json
import re
import socket

import pytest

from lab.model.workload import Workload
from tests.kit.lab_process import ROOT, until

from .stacks import FIB, production

TROUBLED = Workload("troubled", "/9000", FIB.expect, "troubled:application", ROOT / "tests/sites")

AT_ONCE = (("access.log json buffer=4k flush=1s;", "access.log json;"),)
"""Else a line may wait for a second."""

PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}")
RANDOM = re.compile(r"[0-9a-f]{32}")


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Run the stack with the service and a path that is a 500, which uWSGI writes a line about."""
    with production(tmp_path_factory.mktemp("stack"), TROUBLED, replace=AT_ONCE) as started:
        yield started


def fail(stack, path=b"/a/failure", headers=b""):
    """Ask for a failure, and return the status and the id that the reply names."""
    request = b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n" % (path, headers)
    with socket.create_connection(stack.address, timeout=20) as connection:
        connection.sendall(request)
        head = connection.makefile("rb").read().partition(b"\r\n\r\n")[0].decode()
    (request_id,) = re.findall(r"(?mi)^x-request-id: (.*)\r?$", head + "\r")
    return int(head.split()[1]), request_id.strip()


def access_lines(stack):
    """Return nginx's lines by their ids; each of them must be JSON in UTF-8."""
    lines = (stack.folder / "access.log").read_bytes().splitlines()
    documents = [json.loads(line.decode("utf-8")) for line in lines]
    return {document["request_id"]: document for document in documents}


def instance_lines(stack):
    """Return uWSGI's lines about requests by their ids."""
    lines = [line for line in stack.log().splitlines() if line.startswith("{")]
    documents = [json.loads(line) for line in lines]
    return {document["request_id"]: document for document in documents}


def assert_everywhere(stack, name):
    """Assert that nginx, uWSGI and Flask have written of the request of this name."""
    until(lambda: name in instance_lines(stack), f"uWSGI's line of {name}")
    until(lambda: name in access_lines(stack), f"nginx's line of {name}")
    assert instance_lines(stack)[name]["status"] == access_lines(stack)[name]["status"] == 500
    assert f"Exception on '/a/failure' [GET], request {name}\n" in stack.log()


def test_a_request_has_one_name_in_every_log(stack):
    """A client's own X-Request-Id stands in the reply, in nginx's log, in uWSGI's, in Flask's."""
    name = "trace-7.0_Z"
    assert fail(stack, headers=b"X-Request-Id: %s\r\n" % name.encode()) == (500, name)
    assert_everywhere(stack, name)


def test_a_request_without_a_name_gets_one(stack):
    """Without one it is 32 random digits, another for each request, and as well in every log."""
    names = [fail(stack)[1] for _ in range(2)]
    assert names[0] != names[1]
    for name in names:
        assert RANDOM.fullmatch(name)
        assert_everywhere(stack, name)


LONGEST = b"a" * 64

HOSTILE = {
    "quote": b'a","status":200,"x":"',
    "backslash": b"a\\",
    "line feed as JSON has it": b"a\\n{}",
    "blank": b"a b",
    "control": b"a\x01\x1b[31m",
    "tab": b"a\tb",
    "delete": b"a\x7f",
    "no UTF-8": b"a\xff\xc3",
    "UTF-8": "é".encode(),
    "one too long": LONGEST + b"a",
    "much too long": b"a" * 7000,
    "placeholder": b"%(uri)$request_id",
    "empty": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_is_not_plain_is_replaced(stack, name):
    """An id of other characters than letters, digits and ._-, or over 64, goes nowhere."""
    status, given = fail(stack, headers=b"X-Request-Id: %s\r\n" % HOSTILE[name])
    assert status == 500
    assert RANDOM.fullmatch(given)
    assert_everywhere(stack, given)


def test_the_longest_name_is_kept(stack):
    """64 characters are taken as they are."""
    assert fail(stack, headers=b"X-Request-Id: %s\r\n" % LONGEST)[1] == LONGEST.decode()


def test_two_names_are_not_mixed(stack):
    """Of two headers nginx takes the first, or none."""
    given = fail(stack, headers=b"X-Request-Id: first\r\nX-Request-Id: second\r\n")[1]
    assert given == "first" or RANDOM.fullmatch(given)
    assert_everywhere(stack, given)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "empty"])
def test_no_header_breaks_a_line(stack, name):
    """Whatever a client says of itself, its line is JSON, with the status that it got."""
    value = HOSTILE[name]
    sent = b"User-Agent: %s\r\nReferer: %s\r\nREQUEST_ID: x\r\nRequest-Id: x\r\n" % (value, value)
    given = fail(stack, headers=sent)[1]
    assert_everywhere(stack, given)
    line = access_lines(stack)[given]
    expected = value.decode() if value.isascii() else "(not ASCII)"
    assert line["user_agent"] == line["referer"] == expected


@pytest.mark.parametrize(
    ("path", "logged"),
    [
        (b'/a/failure?"}', 'GET /a/failure?"} HTTP/1.1'),
        (b"/a/failure?\\", "GET /a/failure?\\ HTTP/1.1"),
        (b"/a/failure?%0A{}", "GET /a/failure?%0A{} HTTP/1.1"),
        (b"/a/failure?\xff", "(not ASCII)"),
    ],
)
def test_no_path_breaks_a_line(stack, path, logged):
    """What stands in a request line is escaped in nginx's log, and not at all in uWSGI's."""
    given = fail(stack, path)[1]
    assert_everywhere(stack, given)
    assert access_lines(stack)[given]["request"] == logged


def test_what_is_no_request_has_a_line_too(stack):
    """A 400 that nginx gives by itself has an id, in the reply and in a line of JSON."""
    status, given = fail(stack, b"/9", b"Content-Length: x\r\n")
    assert status == 400
    until(lambda: given in access_lines(stack), "nginx's line")
    assert access_lines(stack)[given]["status"] == 400


def test_every_line_names_its_parts(stack):
    """A line says when, who, what, how it ended, how long it took, and which instance answered."""
    given = fail(stack)[1]
    assert_everywhere(stack, given)
    line = access_lines(stack)[given]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", line["time"])
    assert isinstance(line["seconds"], float)
    assert (line["client"], line["upstream_status"]) == ("127.0.0.1", "500")
    assert re.fullmatch(r"unix:.*/[ab]\.sock", line["upstream"])
    line = instance_lines(stack)[given]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}", line["time"])
    assert line.keys() == {"time", "request_id", "status", "ms", "bytes", "worker", "pid"}
    assert line["pid"] in stack.workers()
