"""
Send back what comes, with a protocol of Twisted, until SIGTERM.

    python echo_twisted.py 127.0.0.1:7000
    python echo_twisted.py unix:/tmp/echo.sock

The queue of connections is as long as the other servers', where Twisted's own has 50 places.
"""

import sys

from twisted.internet import reactor
from twisted.internet.endpoints import TCP4ServerEndpoint, UNIXServerEndpoint
from twisted.internet.protocol import Factory, Protocol


class Echo(Protocol):
    """A connection, whose bytes are handed over as they come."""

    def connectionMade(self) -> None:  # noqa: N802 - the name is Twisted's
        """Begin."""
        if host != "unix":
            self.transport.setTcpNoDelay(True)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - the name is Twisted's
        """Send it back."""
        self.transport.write(data)


host, _, port = sys.argv[1].rpartition(":")
if host == "unix":
    endpoint = UNIXServerEndpoint(reactor, port, backlog=1024)
else:
    endpoint = TCP4ServerEndpoint(reactor, int(port), backlog=1024, interface=host)
endpoint.listen(Factory.forProtocol(Echo))
reactor.run()
