"""The request."""

import pytest

from lab.model.request import Request


def test_request_with_a_connection_each():
    """Without keep-alive the request asks the server to close."""
    assert Request("/9000?a=b").encode("[::1]:80", keepalive=False) == (
        b"GET /9000?a=b HTTP/1.1\r\nHost: [::1]:80\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    )


def test_request_with_keepalive():
    """With keep-alive nothing is said, which is HTTP/1.1's default."""
    assert b"onnection" not in Request("/").encode("h", keepalive=True)


@pytest.mark.parametrize("path", ["", "/a b", "/\r\nX: y", "/é", "/" + "a" * 20_000])
def test_path_that_cannot_be_sent(path):
    """A path that would break the request, or not fit one send, is refused."""
    with pytest.raises(ValueError, match=r"sent|begins with /"):
        Request(path).encode("h", keepalive=True)
