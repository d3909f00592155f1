"""The other end of the wire `uwsgi`: what a server reads of a request."""

import struct
from socket import socket

from tests.kit.socket_server import exactly


def received(conn: socket) -> tuple[dict[str, str], bytes] | None:
    """Return the variables and the body of one request; None when the client has closed."""
    head = exactly(conn, 4)
    if not head:
        return None
    modifier1, size, modifier2 = struct.unpack("<BHB", head)
    assert (modifier1, modifier2) == (0, 0)
    variables = parsed(exactly(conn, size))
    return variables, exactly(conn, int(variables["CONTENT_LENGTH"] or 0))


def parsed(block: bytes) -> dict[str, str]:
    """Return the variables of a block of them; each is there once."""
    texts = []
    while block:
        (size,) = struct.unpack("<H", block[:2])
        assert len(block) >= 2 + size, "a text that is longer than the block"
        texts.append(block[2 : 2 + size].decode("latin-1"))
        block = block[2 + size :]
    names = texts[::2]
    assert len(names) == len(set(names)), f"a variable is there twice: {names}"
    return dict(zip(names, texts[1::2], strict=True))
