"""The ladder of evidence: what each rule knows, and what it must not be taken for."""

from __future__ import annotations

from typing import Any

from lab.analysis.ladder import LEAST_RATIOS, RULES, Ladder
from lab.model.connection import ConnectionState, TcpConnection
from tests.kit.cases import cases

IDLE, QUEUED, UNREAD, BUSY, SENDING = ConnectionState

NEW: dict[str, Any] = {
    "state": 1,
    "address": bytes(16),
    "cookie": b"1",
    "unread": 0,
    "unacknowledged": 0,
    "uid": 0,
    "inode": 7,
    "segments_unacknowledged": 0,
    "last_sent": 5000,
    "last_received": 5000,
    "last_acknowledgement": 5000,
    "bytes_received": 0,
    "segments_out": 0,
    "not_sent": 0,
    "data_segments_in": 0,
    "data_segments_out": 0,
    "bytes_sent": 0,
    "bytes_sent_again": 0,
}
"""A connection on which nothing was sent yet."""


def seen(came=0, went=0, bare=0, age=(0, 0, 0), **more) -> TcpConnection:
    """
    Return a connection.

    Args:
        came: Segments of 100 bytes that came.
        went: Segments of 100 bytes that went.
        bare: Segments that went without data.
        age: Milliseconds since data came, since data went, since the last acknowledgement came.
        more: Fields.
    """
    received, sent, acknowledgement = age
    fields = {
        "bytes_received": 100 * came,
        "data_segments_in": came,
        "bytes_sent": 100 * went,
        "data_segments_out": went,
        "segments_out": went + bare,
        "last_received": received,
        "last_sent": sent,
        "last_acknowledgement": acknowledgement,
    }
    return TcpConnection(**(NEW | fields | more))


CASES = {
    "connected ahead of a request": (
        [(seen(age=(900, 900, 900)), IDLE, "nothing_received")]
    ),
    "the first request, not accepted": (
        [(seen(1, age=(8, 900, 8), inode=0, unread=100), QUEUED, "not_accepted")]
    ),
    "the first request, not read": [(seen(1, age=(8, 900, 8), unread=100), UNREAD, "not_read")],
    "the first request, read": [(seen(1, age=(8, 900, 8)), BUSY, "never_answered")],
    "the reply is larger than the window": (
        [(seen(1, 9, age=(900, 4, 4), not_sent=80), SENDING, "not_taken")]
    ),
    "answered in another tick": [(seen(1, 1, age=(60, 8, 8)), IDLE, "sent_last")],
    "the next request, in another tick": [(seen(2, 1, age=(8, 60, 8)), BUSY, "received_last")],
    "a client that has closed, and is worked for": (
        [(seen(2, 1, age=(8, 60, 8), state=8), BUSY, "received_last")]
    ),
    "a kept connection that the client has closed, and nobody has read that": (
        [(seen(1, 1, age=(60, 8, 8), state=8, unread=1), IDLE, "sent_last")]
    ),
    "headers, then the body of one reply": [
        (seen(1, 1, age=(90, 40, 40)), IDLE, "sent_last"),
        (seen(1, 2, age=(290, 100, 100)), SENDING, "streaming"),
        (seen(1, 2, age=(490, 300, 300)), IDLE, "sent_last"),
    ],
    "a stream, and its end": [
        (seen(1, 1, age=(90, 40, 40)), IDLE, "sent_last"),
        (seen(1, 2, age=(290, 100, 100)), SENDING, "streaming"),
        (seen(1, 3, age=(490, 100, 100)), SENDING, "streaming"),
        (seen(1, 3, age=(1090, 700, 700)), SENDING, "streaming"),
        (seen(1, 3, age=(1590, 1200, 1200)), IDLE, "sent_last"),
    ],
    "a lost reply that is sent again is no stream": [
        (seen(1, 1, age=(90, 40, 40)), IDLE, "sent_last"),
        (seen(1, 2, age=(290, 30, 40), bytes_sent_again=100), IDLE, "sent_last"),
    ],
    "one request, answered within a tick": [(seen(1, 1, age=(8, 8, 8)), IDLE, "one_segment")],
    "acknowledged after the last data": (
        [(seen(2, 2, age=(80, 80, 40)), IDLE, "acknowledged_later")]
    ),
    "a reply that is on its way": (
        [(seen(2, 2, age=(8, 8, 8), segments_unacknowledged=1), IDLE, "acknowledged_later")]
    ),
    "the next request in the tick of the answer: the kernel acknowledges it later": [
        (seen(2, 1, age=(8, 8, 8)), BUSY, "guess"),
        (seen(2, 1, 1, age=(208, 208, 208)), BUSY, "owed_acknowledgement"),
        (seen(2, 1, 1, age=(9000, 9000, 9000)), BUSY, "unchanged"),
    ],
    "kept alive after an answer within a tick: the kernel owes nothing": [
        (seen(1, 1, age=(60, 8, 8)), IDLE, "sent_last"),
        (seen(2, 2, age=(12, 12, 12)), BUSY, "guess"),
        (seen(2, 2, age=(252, 252, 252)), IDLE, "owed_nothing"),
        (seen(2, 2, age=(9000, 9000, 9000)), IDLE, "owed_nothing"),
    ],
    "the client asks whether the connection is alive": [
        (seen(1, 1, age=(60, 8, 8)), IDLE, "sent_last"),
        (seen(2, 2, age=(300, 300, 300)), IDLE, "owed_nothing"),
        (seen(2, 2, 1, age=(60000, 60000, 60000)), IDLE, "unchanged"),
    ],
    "a request that is not read, and then is": [
        (seen(2, 1, age=(8, 8, 8), unread=100), UNREAD, "not_read"),
        (seen(2, 1, age=(208, 208, 208)), BUSY, "unchanged"),
    ],
    "only a request since the last look": [
        (seen(2, 1, age=(8, 8, 8)), BUSY, "guess"),
        (seen(3, 1, age=(0, 0, 0)), BUSY, "only_came"),
    ],
    "only an answer since the last look": [
        (seen(2, 1, age=(8, 8, 8)), BUSY, "guess"),
        (seen(2, 2, age=(0, 0, 0)), IDLE, "only_went"),
    ],
    "a tie at first sight, with an unknown past": [
        (seen(9, 9, 4, age=(9000, 9000, 9000)), IDLE, "guess")
    ],
}  # fmt: skip
"""What happens -> the connection at each look, its state, and the rule that knows."""


@cases("name", CASES)
def test_the_first_rule_that_knows_decides(name):
    """Of each case the state at each look, and by which evidence."""
    ladder = Ladder()
    for connection, state, rule in CASES[name]:
        (placement,) = ladder.judge([connection])
        assert (placement.state, placement.rule) == (state, rule)


def test_every_rule_has_a_case():
    """But the count of segments, which needs several connections."""
    decided = {rule for looks in CASES.values() for _, _, rule in looks}
    assert decided | {"counted"} == {rule.__name__ for rule in RULES}


def test_segments_are_counted_since_the_state_was_certain():
    """Where the replies of the other connections have as many segments, also after a long time."""
    ladder = Ladder()
    others = [
        seen(5, 10, age=(60, 8, 8), cookie=bytes([100 + number])) for number in range(LEAST_RATIOS)
    ]
    first = seen(7, 13, age=(60, 8, 8), cookie=b"1"), seen(7, 15, age=(60, 8, 8), cookie=b"2")
    ladder.judge([*first, *others])
    then = seen(9, 17, age=(8, 8, 8), cookie=b"1"), seen(9, 17, age=(8, 8, 8), cookie=b"2")
    *placements, _ = ladder.judge([*then, others[0]])
    assert [(placement.state, placement.rule) for placement in placements] == [
        (IDLE, "counted"),
        (BUSY, "counted"),
    ]


def test_at_first_sight_segments_are_counted_since_the_beginning():
    """That is a guess, but a better one than the odds."""
    ladder = Ladder()
    others = [
        seen(2, 4, age=(60, 8, 8), cookie=bytes([100 + number])) for number in range(LEAST_RATIOS)
    ]
    busy = seen(3, 4, 3, age=(9000, 9000, 9000), cookie=b"1")
    idle = seen(3, 6, 3, age=(9000, 9000, 9000), cookie=b"2")
    *_, first, second = ladder.judge([*others, busy, idle])
    assert [(first.state, first.rule), (second.state, second.rule)] == [
        (BUSY, "guess"),
        (IDLE, "guess"),
    ]


def test_replies_of_different_sizes_are_not_counted():
    """One in three segments, one in twenty: then a tie is a guess."""
    ladder = Ladder()
    others = [seen(1, number, age=(60, 8, 8), cookie=bytes([number])) for number in range(20, 40)]
    ladder.judge([seen(1, 1, age=(60, 8, 8)), *others])
    placement, *_ = ladder.judge([seen(3, 3, age=(8, 8, 8))])
    assert placement.guessed


def test_a_guess_learns_what_such_connections_were():
    """After ties that were all idle, a new one is taken for idle."""
    ladder = Ladder()
    for number in range(3):
        one = {"cookie": bytes([number])}
        ladder.judge([seen(2, 1, age=(8, 8, 8), **one)])
        (placement,) = ladder.judge([seen(2, 1, age=(208, 208, 40), **one)])
        assert placement.rule == "acknowledged_later"
    (placement,) = ladder.judge([seen(2, 1, age=(8, 8, 8), cookie=b"new")])
    assert (placement.state, placement.rule) == (IDLE, "guess")


def test_what_new_ties_were_says_nothing_of_old_ones():
    """Clients that do not pause, and connections that are kept for later, may have one port."""
    ladder = Ladder()
    kept = seen(9, 9, 4, age=(9000, 9000, 9000), cookie=b"kept")
    for number in range(3):
        one = {"cookie": bytes([number])}
        ladder.judge([seen(2, 1, age=(8, 8, 8), **one), kept])
        placement, old = ladder.judge([seen(2, 1, 1, age=(208, 208, 208), **one), kept])
        assert placement.rule == "owed_acknowledgement"
    assert (old.state, old.rule) == (IDLE, "guess")


def test_a_socket_that_takes_the_place_of_another_has_no_past():
    """Inodes and ports are used again; cookies are not."""
    ladder = Ladder()
    ladder.judge([seen(2, 1, age=(8, 60, 8), cookie=b"old")])
    (placement,) = ladder.judge([seen(2, 2, age=(8, 8, 8), cookie=b"new")])
    assert placement.guessed
