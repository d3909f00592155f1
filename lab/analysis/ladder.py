"""
The ladder of evidence: which connections have a request in flight.

The kernel has for each connection when data last came and last went. Later in than out is a request
without an answer. But it keeps these times in ticks (4 ms at HZ=250), and an answer and the next
request often fall into one. Then the rest of the evidence decides: what moved since the last look,
whether the kernel owed an acknowledgement, the count of segments, and at last a guess, which is
marked. The first rule that knows an answer counts.

Sources: Linux, net/ipv4/tcp.c (tcp_get_info), tcp_output.c (tcp_event_data_sent), tcp_input.c
(tcp_event_data_recv), include/net/tcp.h (TCP_DELACK_MAX).
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lab.model.connection import ConnectionState, TcpConnection

OWED = 250
"""Milliseconds after which the kernel has acknowledged what is not answered: TCP_DELACK_MAX is 200,
and some ticks."""

STREAM = 1000
"""Milliseconds without data after which a stream is taken to be over."""

LEAST_RATIOS, MOST_RATIOS = 5, 400
"""Connections from which is learned how many segments a reply has."""

NEAR = 0.26
"""How near to a whole number the count of requests must come."""

IDLE, QUEUED, UNREAD, BUSY, SENDING = ConnectionState


class Anchor(NamedTuple):
    """The counters of a connection when its state was last certain."""

    data_in: int
    data_out: int
    requests: int
    """In flight then: 0 or 1."""


class Placement(NamedTuple):
    """What a connection was at a look, and what the next look needs to know of it."""

    connection: TcpConnection
    state: ConnectionState
    rule: str
    """The rule that decided."""

    acknowledged: int | None
    """Bare acknowledgements when it was last certainly idle; None: unknown."""

    anchor: Anchor | None
    """None: unknown."""

    sends: int
    """Looks at which more of a reply had gone out, since data last came."""

    segments: int
    """Segments with data that came since the last look; of a new connection all."""

    @property
    def guessed(self) -> bool:
        """Whether no rule knew."""
        return self.rule == "guess"


@dataclass(slots=True)
class Odds:
    """How many guesses turned out to be about an idle connection, and about a busy one."""

    idle: int
    busy: int


@dataclass(slots=True)
class Learned:
    """What all connections of a port tell about a single one."""

    ratios: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_RATIOS))
    """Segments out for each in, of connections whose state was certain."""

    new: Odds = field(default_factory=lambda: Odds(1, 1))
    """Of connections whose data is younger than OWED: many are the next request of a client that
    does not pause."""

    old: Odds = field(default_factory=lambda: Odds(1, 0))
    """Of the others: many are kept for later."""

    def odds(self, connection: TcpConnection) -> Odds:
        """Return the odds for a connection."""
        return self.new if connection.last_received < OWED else self.old

    def ratio(self) -> float | None:
        """Return the segments out for each in; None where connections differ, or are few."""
        if len(self.ratios) < LEAST_RATIOS:
            return None
        usual = statistics.mode(round(ratio * 2) / 2 for ratio in self.ratios)
        near = sum(abs(ratio - usual) <= 0.1 * usual for ratio in self.ratios)
        return usual if usual and near > 0.8 * len(self.ratios) else None


@dataclass(slots=True)
class Evidence:
    """A connection, what it was at the last look, and what is known of the others."""

    now: TcpConnection
    before: Placement | None
    learned: Learned

    @property
    def came(self) -> bool:
        """Whether data came since the last look; what was sent twice counts once."""
        assert self.before is not None
        return self.now.bytes_received != self.before.connection.bytes_received

    @property
    def went(self) -> bool:
        """Whether data went since the last look."""
        assert self.before is not None
        return self.now.reply_bytes != self.before.connection.reply_bytes

    @property
    def acknowledged(self) -> int | None:
        """Bare acknowledgements when it was last certainly idle; None: unknown."""
        if self.before is not None:
            return self.before.acknowledged
        new = self.now.data_segments_in <= 1 or not self.now.bare_acknowledgements
        return 0 if new else None

    @property
    def anchor(self) -> Anchor | None:
        """Its counters when its state was last certain; None: unknown."""
        if self.before is not None:
            return self.before.anchor
        return Anchor(0, 0, 0) if self.now.data_segments_in <= 2 else None


def nothing_received(e: Evidence) -> ConnectionState | None:
    """Connected ahead of a request."""
    return None if e.now.bytes_received else IDLE


def not_accepted(e: Evidence) -> ConnectionState | None:
    """In the accept queue: the connection has no file yet."""
    return None if e.now.inode else QUEUED


def not_read(e: Evidence) -> ConnectionState | None:
    """The server does not read it yet."""
    return UNREAD if e.now.unread_data else None


def never_answered(e: Evidence) -> ConnectionState | None:
    """The first request."""
    return None if e.now.bytes_sent else BUSY


def not_taken(e: Evidence) -> ConnectionState | None:
    """The client, or the network, takes the reply more slowly than the server writes it."""
    return SENDING if e.now.not_sent else None


def received_last(e: Evidence) -> ConnectionState | None:
    """Data came later than data went."""
    return BUSY if e.now.last_received < e.now.last_sent else None


def streaming(e: Evidence) -> ConnectionState | None:
    """More of a reply went out, and nothing came in between."""
    if e.before is None or e.now.last_sent >= e.now.last_received or e.came:
        return None
    if e.went and e.before.state in {IDLE, SENDING}:
        return SENDING
    # Once may be the headers, and then the body.
    goes_on = e.before.sends > 1 and e.now.last_sent < STREAM
    return SENDING if goes_on and e.before.state is SENDING else None


def sent_last(e: Evidence) -> ConnectionState | None:
    """Data went later than data came."""
    return IDLE if e.now.last_sent < e.now.last_received else None


# All below is of connections where data came and went in the same tick.


def one_segment(e: Evidence) -> ConnectionState | None:
    """All that ever came is answered."""
    return IDLE if e.now.data_segments_in == 1 else None


def acknowledged_later(e: Evidence) -> ConnectionState | None:
    """The client acknowledged something after its last data, so it was sent after that."""
    later = e.now.last_acknowledgement < e.now.last_received
    return IDLE if later or e.now.segments_unacknowledged else None


def owed_acknowledgement(e: Evidence) -> ConnectionState | None:
    """Nothing moved, but the kernel acknowledged data that the server has not answered."""
    if e.before is None or e.came or e.went:
        return None
    bare = e.now.bare_acknowledgements > e.before.connection.bare_acknowledgements
    # Later it answers a client that asks whether the connection is alive.
    return BUSY if bare and e.before.connection.last_received < OWED else None


def unchanged(e: Evidence) -> ConnectionState | None:
    """Nothing moved."""
    if e.before is None or e.before.guessed or e.came or e.went or owed_nothing(e):
        return None
    return BUSY if e.before.state in {UNREAD, QUEUED} else e.before.state


def only_came(e: Evidence) -> ConnectionState | None:
    """Data came since the last look, and none went."""
    return BUSY if e.before is not None and e.came and not e.went else None


def only_went(e: Evidence) -> ConnectionState | None:
    """Data went since the last look, and none came."""
    return IDLE if e.before is not None and e.went and not e.came else None


def owed_nothing(e: Evidence) -> ConnectionState | None:
    """The kernel would have acknowledged a request without an answer by now, and has not."""
    owes = e.acknowledged != e.now.bare_acknowledgements
    return None if owes or e.now.last_received < OWED else IDLE


def counted(e: Evidence) -> ConnectionState | None:
    """The segments since the state was last certain are those of as many replies as requests."""
    return None if e.anchor is None else count_since(e.anchor, e)


def guess(e: Evidence) -> ConnectionState | None:
    """The count since the connection began, in which one merged segment stays; else the odds."""
    odds = e.learned.odds(e.now)
    return count_since(Anchor(0, 0, 0), e) or (BUSY if odds.busy >= odds.idle else IDLE)


def count_since(anchor: Anchor, e: Evidence) -> ConnectionState | None:
    """Return the state by the segments since *anchor*; None if they leave it open."""
    ratio = e.learned.ratio()
    if ratio is None:
        return None
    came, went = e.now.data_segments_in - anchor.data_in, e.now.data_segments_out - anchor.data_out
    requests = anchor.requests + came - went / ratio
    if round(requests) not in {0, 1} or abs(requests - round(requests)) >= NEAR:
        return None
    return BUSY if round(requests) else IDLE


RULES: tuple[Callable[[Evidence], ConnectionState | None], ...] = (
    nothing_received,
    not_accepted,
    not_read,
    never_answered,
    not_taken,
    received_last,
    streaming,
    sent_last,
    one_segment,
    acknowledged_later,
    owed_acknowledgement,
    unchanged,
    only_came,
    only_went,
    owed_nothing,
    counted,
    guess,
)
"""The strongest evidence first."""

CERTAIN = {never_answered, received_last, sent_last, owed_acknowledgement, owed_nothing}
"""Rules that know how many requests of a connection are in flight."""

TELLING = {
    *("received_last", "owed_acknowledgement"),
    *("sent_last", "one_segment", "acknowledged_later", "owed_nothing"),
}
"""Rules that know how many requests of a connection were answered: all, or all but the last."""


class Ladder:
    """Judges the connections of one port at each look, and remembers those that are there."""

    def __init__(self) -> None:
        self._placements: dict[bytes, Placement] = {}
        self._learned = Learned()

    def judge(self, connections: Iterable[TcpConnection]) -> list[Placement]:
        """Return the state of each connection."""
        before, learned = self._placements, self._learned
        self._placements = {
            connection.cookie: _placed(Evidence(connection, before.get(connection.cookie), learned))
            for connection in connections
        }
        return list(self._placements.values())


def _placed(e: Evidence) -> Placement:
    for rule in RULES:
        state = rule(e)
        if state is not None:
            break
    assert state is not None
    _learn(e, rule.__name__)
    now, before, anchor, acknowledged = e.now, e.before, e.anchor, e.acknowledged
    if state is IDLE and rule is not guess:
        acknowledged = now.bare_acknowledgements
    if rule in CERTAIN:
        anchor = Anchor(now.data_segments_in, now.data_segments_out, int(state is BUSY))
    sends = 0 if before is None or e.came else before.sends
    sends += rule is streaming and e.went
    segments = now.data_segments_in - (before.connection.data_segments_in if before else 0)
    return Placement(now, state, rule.__name__, acknowledged, anchor, sends, segments)


def _learn(e: Evidence, rule: str) -> None:
    """Learn how many segments a reply has, and what those were that had to be guessed."""
    now, before, learned = e.now, e.before, e.learned
    answered = now.data_segments_in - (rule in {"received_last", "owed_acknowledgement"})
    if rule in TELLING and answered > 0 and (before is None or e.came or e.went):
        learned.ratios.append(now.data_segments_out / answered)
    if before is None or not before.guessed or rule == "guess":
        return
    odds = learned.odds(before.connection)
    if rule in {"owed_nothing", "acknowledged_later", "only_came"}:
        odds.idle += 1
    elif rule == "owed_acknowledgement" or (e.went and not e.came):
        odds.busy += 1
