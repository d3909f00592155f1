"""Connections of a server as its kernel describes them, and the state that `lab` infers."""

from __future__ import annotations

import enum
from typing import NamedTuple

CLOSE_WAIT = 8
"""State of a connection whose client has closed it, or only ended sending."""


class ConnectionState(enum.StrEnum):
    """Where the request of a connection is. All but IDLE are requests in flight."""

    IDLE = "idle"
    """No request: kept alive, or connected ahead of one."""

    QUEUED = "queued"
    """A request has arrived; the server has not accepted the connection."""

    UNREAD = "unread"
    """Bytes have arrived that the server has not read."""

    BUSY = "busy"
    """The server has read the request and not answered it."""

    SENDING = "sending"
    """The reply is on its way: the client does not take it yet, or more of it comes."""


class UnixConnection(NamedTuple):
    """One accepted connection of a UNIX socket at one moment: the kernel keeps no times of it."""

    inode: int
    unread: int
    """Bytes that have arrived and are not read."""


class TcpConnection(NamedTuple):
    """
    One established connection at one moment.

    Times are milliseconds before that moment, in ticks of the kernel: 4 ms at HZ=250. Two events of
    one tick have the same time. Counters begin with the connection.
    """

    state: int
    address: bytes
    """Local address, 16 bytes; of IPv4 the first four."""
    cookie: bytes
    """Identifies the socket as long as the machine is up."""
    unread: int
    """Bytes that have arrived and are not read; the end of what the client sends counts as one."""
    unacknowledged: int
    """Bytes that were written and are not acknowledged."""
    uid: int
    inode: int
    """0: not accepted."""
    segments_unacknowledged: int
    last_sent: int
    last_received: int
    last_acknowledgement: int
    bytes_received: int
    segments_out: int
    not_sent: int
    """Bytes that were written and are not sent: the client's window, or the network's, is full."""
    data_segments_in: int
    data_segments_out: int
    bytes_sent: int
    bytes_sent_again: int

    @property
    def unread_data(self) -> int:
        """Bytes that have arrived and are not read."""
        return max(0, self.unread - (self.state == CLOSE_WAIT))

    @property
    def reply_bytes(self) -> int:
        """Bytes that were sent, without those that were lost and sent again."""
        return self.bytes_sent - self.bytes_sent_again

    @property
    def bare_acknowledgements(self) -> int:
        """Segments that were sent without data."""
        return self.segments_out - self.data_segments_out
