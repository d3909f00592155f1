"""
A small HTTP server with one fault: it is right for a while, and then has it.

    python peer.py PORT FAULT [BODY [FILE]]

It is right for HEALTHY replies, and for SOUND seconds of load if that is longer. A warm-up ends
when it has had both its replies and its time, so at any speed the fault comes soon after it.
"""

import asyncio
import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

HEALTHY = int(os.environ.get("HEALTHY", "420"))
"""Right replies: one for readiness, 400 for a warm-up, and one under way on each connection."""

SOUND = float(os.environ.get("SOUND", "0.15"))
"""Seconds, from the first request after readiness: 0.1 for a warm-up, and some to spare."""

STALL = float(os.environ.get("STALL", "1"))
"""Seconds for which `stalls` stands still, once."""

PORT, FAULT = int(sys.argv[1]), sys.argv[2]
BODY = (sys.argv[3] if len(sys.argv) > 3 else "Pong!").encode()
FILE = Path(sys.argv[4]) if len(sys.argv) > 4 else None
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)

answered = 0
loaded = 0.0
faulty = False
listener = None
connections = set()


class Connection(asyncio.Protocol):
    """One client's connection, kept open."""

    def connection_made(self, transport):
        """Remember it, for `refused` to cut."""
        self.transport, self.pending = transport, b""
        connections.add(transport)

    def connection_lost(self, _error):
        """Forget it."""
        connections.discard(self.transport)

    def data_received(self, data):
        """Answer each whole request."""
        global answered, loaded  # noqa: PLW0603 - of the process
        *requests, self.pending = (self.pending + data).split(b"\r\n\r\n")
        for _ in requests:
            answered += 1
            if answered == 2:
                loaded = time.monotonic()
            if answered <= HEALTHY or time.monotonic() < loaded + SOUND:
                self.transport.write(REPLY)
            else:
                FAULTS[FAULT](self.transport)


def status(transport):
    """Fail fast, as an application whose import is broken does."""
    transport.write(REPLY.replace(b"200 OK", b"500 Internal Server Error"))


def body(transport):
    """Answer something else of the same length."""
    transport.write(REPLY[:-1] + b"?")


def truncated(transport):
    """End the connection within the body."""
    transport.write(REPLY[:-1])
    transport.close()


def closed(transport):
    """End the connection in order, without a byte."""
    transport.close()


def reset(transport):
    """End the connection with a reset."""
    linger = struct.pack("ii", 1, 0)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    transport.abort()


def refused(_transport):
    """Listen no more, and cut all connections; the process stays."""
    listener.close()
    for connection in list(connections):
        reset(connection)


def dies(_transport):
    """End in the middle of everything."""
    sys.stderr.write("out of memory in row 7\n")
    sys.stderr.flush()
    os._exit(3)


def stalls(transport):
    """Stand still once, with everything in hand."""
    global faulty  # noqa: PLW0603 - of the process
    if not faulty:
        faulty = True
        time.sleep(STALL)
    transport.write(REPLY)


def widowed(transport):
    """Answer on, when the server's second command, whose process FILE names, has been killed."""
    global faulty  # noqa: PLW0603 - of the process
    if not faulty:
        faulty = True
        os.kill(int(FILE.read_text()), signal.SIGKILL)
    transport.write(REPLY)


def chatters(transport):
    """Write 4 KB of log a request; a log that cannot be written must not stop the service."""
    with suppress(OSError):
        os.write(2, b"x" * 4095 + b"\n")
    transport.write(REPLY)


FAULTS = {
    fault.__name__: fault for fault in (status, body, truncated, closed, reset, refused, dies)
}
FAULTS |= {fault.__name__: fault for fault in (stalls, widowed, chatters)}
FAULTS["none"] = lambda transport: transport.write(REPLY)


async def main():
    """Serve for ever; `absent` only says where it should have."""
    global listener  # noqa: PLW0603 - of the process
    if FAULT == "absent":
        draft = Path(BODY.decode()).with_suffix(".part")
        draft.write_text(str(PORT))
        draft.rename(BODY.decode())
    else:
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(Connection, "127.0.0.1", PORT)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
