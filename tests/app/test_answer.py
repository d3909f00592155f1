"""The response whose headers are ready is an ordinary one for whoever looks at it."""

import copy
import pickle

import pytest
from flask import Response
from werkzeug.datastructures import Headers

from app import create_app
from app.answer import ready
from app.framework import Answer

BODY, _, HEADERS = ready(9000)


def _status(response):
    response.status = "202 Accepted"


def _status_code(response):
    response.status_code = 404


def _no_content(response):
    response.status_code = 204


def _header(response):
    response.headers["X-Seen"] = response.headers["ETag"]


def _other_headers(response):
    response.headers = Headers({"X-Other": "yes"})


def _data(response):
    response.data = b"other"


def _iterable(response):
    response.response = iter([b"a", b"b"])


def _passthrough(response):
    response.direct_passthrough = True
    response.headers["X"] = "y"


def _cookie(response):
    response.set_cookie("name", "value")


def _called_at_the_end(response):
    response.call_on_close(lambda: None)


def _read(response):
    assert response.get_data() == BODY
    assert (response.status_code, response.content_length) == (200, len(BODY))
    assert response.get_json()[-1] == 10946


MUTATIONS = [
    _status,
    _status_code,
    _no_content,
    _header,
    _other_headers,
    _data,
    _iterable,
    _passthrough,
    _cookie,
    _called_at_the_end,
    _read,
    lambda response: response.make_conditional({"REQUEST_METHOD": "GET"}),
]


def sent(response, method):
    """Return what a server is given."""
    seen = []
    environ = {"REQUEST_METHOD": method, "wsgi.url_scheme": "http", "SERVER_NAME": "x"}
    environ |= {"SERVER_PORT": "80", "PATH_INFO": "/9000", "SCRIPT_NAME": ""}
    body = response(environ, lambda status, headers: seen.extend([status, headers]))
    return [*seen, b"".join(body)]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("change", [lambda response: None, *MUTATIONS])
def test_whatever_is_done_to_it_is_sent(change, method):
    """Read, changed or left alone, it is sent as Flask's own response would be."""
    answer, plain = Answer(BODY, list(HEADERS)), Response(BODY, headers=list(HEADERS))
    change(answer)
    change(plain)
    assert sent(answer, method) == sent(plain, method)


def _pickled(response):
    return pickle.loads(pickle.dumps(response))


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, _pickled])
def test_it_can_be_copied(clone):
    """A copy is sent as the original."""
    original = Answer(BODY, list(HEADERS))
    assert sent(clone(original), "GET") == sent(original, "GET")


def test_hooks_see_an_ordinary_response():
    """after_request functions read and change the answer, and what they do is sent."""
    service = create_app()

    @service.after_request
    def stamp(response):
        response.headers["X-Length"] = str(len(response.get_data()))
        return response

    reply = service.test_client().get("/9000")
    assert reply.headers["X-Length"] == reply.headers["Content-Length"] == "97"
    assert reply.data == BODY


def test_trusted_hosts_are_still_to_be_had():
    """Where TRUSTED_HOSTS is set, a request for another host is refused."""
    service = create_app()
    service.config["TRUSTED_HOSTS"] = ["good.example"]
    client = service.test_client()
    assert client.get("/9000", headers={"Host": "good.example"}).status_code == 200
    assert client.get("/9000", headers={"Host": "evil.example"}).status_code == 400


def test_a_request_without_a_path_is_answered():
    """A server may leave PATH_INFO out: it is the root then."""
    environ = {"REQUEST_METHOD": "GET", "SERVER_NAME": "x", "SERVER_PORT": "80"}
    environ |= {"wsgi.url_scheme": "http", "QUERY_STRING": ""}

    seen = []
    body = b"".join(create_app()(environ, lambda status, headers: seen.append(status)))
    assert seen == ["200 OK"]
    assert b"fibonacci" in body
