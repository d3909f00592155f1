"""From looks to figures."""

from __future__ import annotations

from lab.analysis.in_flight import Look, WorkerLook, in_flight_of, look_at
from lab.analysis.ladder import Ladder
from lab.model.connection import ConnectionState
from tests.watch.test_ladder import seen

IDLE, QUEUED, UNREAD, BUSY, SENDING = ConnectionState


def look(at, busy, *, unread=0, queued=0, idle=0, oldest=0.0, workers=()):
    """Return a look."""
    states = {BUSY: busy, UNREAD: unread, QUEUED: queued, IDLE: idle}
    return Look(
        at, states, 0, oldest, queued, 128, {pid: WorkerLook(*rest) for pid, *rest in workers}
    )


def test_a_look_counts_states_and_owners():
    """The sum of all states is the number of connections; a connection without a file has none."""
    connections = [
        seen(1, age=(8, 900, 8), cookie=b"1", inode=11),
        seen(1, age=(90, 900, 8), cookie=b"2", inode=11, unread=10),
        seen(1, age=(8, 900, 8), cookie=b"3", inode=0, unread=10),
        seen(1, 1, age=(60, 8, 8), cookie=b"4", inode=12),
    ]
    made = look_at(1.0, Ladder().judge(connections), {11: 501, 12: 502}, (1, 128))
    assert made.connections == 4
    assert made.in_flight == 3
    assert (made.read, made.queued, made.waiting_inside(None)) == (1, 1, 1)
    assert made.oldest_unread == 0.09
    assert made.workers == {501: WorkerLook(1, 1, 2), 502: WorkerLook(0, 0, 1)}


def test_a_worker_that_reads_ahead_works_on_as_many_as_it_has_threads():
    """Granian reads each request at once; another worker's free threads do not help."""
    made = look(1.0, busy=12, workers=[(1, 10, 0, 0), (2, 2, 0, 0)])
    assert made.in_workers(8) == 10
    assert made.waiting_inside(8) == 2
    assert made.in_workers(None) == 12


def test_without_rights_what_is_read_counts_as_worked_on():
    """Whose it is cannot be seen."""
    assert look(1.0, busy=12).in_workers(8) == 12


def test_the_figures_of_several_looks():
    """Mean, p95, most; how often something waited; the shares of the workers."""
    looks = [look(at, busy=2, idle=3, workers=[(1, 2, 0, 30), (2, 0, 0, 10)]) for at in range(19)]
    looks.append(look(19, busy=8, unread=4, queued=1, workers=[(1, 8, 4, 0), (2, 0, 0, 0)]))
    figures = in_flight_of(looks, None)
    assert figures.in_flight.mean == (19 * 2 + 13) / 20
    assert (figures.in_flight.p95, figures.in_flight.most) == (13, 13)
    assert figures.waited == 1 / 20
    assert [share.time for share in figures.workers] == [1.0, 0.0]
    assert [share.segments for share in figures.workers] == [0.75, 0.25]
    assert figures.segments == 19 * 40


def test_nothing_at_all_is_no_share():
    """A server without a request has no worker that took most of the time."""
    (share,) = in_flight_of([look(0, busy=0, workers=[(1, 0, 0, 0)])], 4).workers
    assert (share.in_flight, share.time, share.segments) == (0, None, None)
