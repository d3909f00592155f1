"""The reply parser."""

import tracemalloc

import pytest

from lab.bench.load.reply import MalformedReplyError, Reply

INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def _parse(data: bytes) -> Reply:
    reply = Reply()
    assert reply.feed(data)
    return reply


@pytest.mark.parametrize(
    ("data", "status", "body", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", True),
        (b"HTTP/1.1 200\r\ncOnTeNt-LeNgTh:2\r\n\r\nhi", 200, b"hi", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n", 200, b"", False),
        (b"HTTP/1.1 200 OK\r\nconnection: te, close\r\nContent-Length: 0\r\n\r\n", 200, b"", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, b"x", False),
        (
            b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx",
            200,
            b"x",
            True,
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, b"", True),
        (
            INTERIM + b"HTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx",
            404,
            b"x",
            True,
        ),
        (CHUNKED + b"0\r\n\r\n", 200, b"", True),
        (
            CHUNKED + b"2;x=y\r\nhi\r\nA\r\n0123456789\r\n000\r\nT: 1\r\n\r\n",
            200,
            b"hi0123456789",
            True,
        ),
    ],
)
def test_complete_reply(data, status, body, reusable):
    """A reply in one piece, or byte by byte, gives the same status, body and reuse."""
    whole = _parse(data)
    assert (whole.status, whole.body, whole.reusable) == (status, body, reusable)
    pieces = Reply()
    complete = [pieces.feed(data[i : i + 1]) for i in range(len(data))]
    assert complete == [False] * (len(data) - 1) + [True]
    assert (pieces.status, pieces.body, pieces.reusable) == (status, body, reusable)


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n folded: x\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: y\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        CHUNKED + b"\r\n",
        CHUNKED + b"0x2\r\nhi\r\n",
        CHUNKED + b"1\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"0\r\n\r\nHTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
    ],
)
def test_malformed_reply(data):
    """What is no reply, or can be read in two ways, is refused."""
    with pytest.raises(MalformedReplyError):
        Reply().feed(data)


def test_reply_delimited_by_the_end_of_the_stream():
    """Without a length the end of the stream completes the reply, and nothing is reused."""
    reply = Reply()
    assert not reply.feed(b"HTTP/1.1 200 OK\r\n\r\nab")
    assert not reply.feed(b"cd")
    assert reply.end()
    assert (reply.body, reply.reusable, reply.self_delimited) == (b"abcd", False, False)


@pytest.mark.parametrize(
    "data", [b"HTT", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", CHUNKED + b"2\r\nhi\r\n"]
)
def test_end_of_the_stream_within_a_reply(data):
    """A reply that says how long it is, or has no head yet, is not completed by the end."""
    reply = Reply()
    assert not reply.feed(data)
    assert not reply.end()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("head", "piece"),
    [(b"", INTERIM), (CHUNKED, b"1;x=" + b"y" * 1000 + b"\r\nz\r\n")],
    ids=["interim replies", "extensions of chunks"],
)
def test_framing_is_not_kept(head, piece):
    """A reply of 3 MB that is nearly all framing takes no memory for it."""
    reply = Reply(limit=1 << 20)
    reply.feed(head + piece[:1])
    pieces = piece[1:] + piece * 100 + piece[:1]
    tracemalloc.start()
    for _ in range(3_000_000 // len(pieces)):
        assert not reply.feed(pieces)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 20
