"""Every request is in exactly one count."""

import pytest

from lab.cli.stress.counting import count, first, series

from .conftest import burst, window


def test_each_class_of_error_is_lost_or_wrong():
    """No reply is lost, another reply is wrong, and the sum is what was asked."""
    errors = {"refused": 1, "reset": 2, "closed": 3, "truncated": 4, "timeout": 5, "connect": 6}
    wrong = {"status": 7, "body": 8, "malformed": 9}
    counts = count([window(10, errors | wrong, unfinished=11)])
    assert (counts.lost, counts.wrong, counts.late) == (1 + 2 + 3 + 4 + 5 + 6 + 11, 24, 0)
    assert counts.attempted == 10 + counts.lost + counts.wrong
    assert counts.errors["unfinished"] == 11


def test_a_reply_is_late_from_half_a_second_on():
    """After it was due; 0.8 % is what the histogram does not resolve."""
    counts = count([window(6, latency={12_000: 1, 490_000: 2, 503_808: 1, 4_000_000: 2})])
    assert (counts.late, counts.longest) == (3, 4.0)


def test_unfinished_is_carried_into_the_next_window():
    """Only the last window's is lost."""
    counts = count([window(1, unfinished=2), window(2, unfinished=0)])
    assert (counts.attempted, counts.lost) == (3, 0)


def test_who_is_refused_after_the_stop_is_turned_away():
    """From the window on in which it was; a reset is lost all the same."""
    windows = [
        window(5, {"refused": 1}),
        window(5, {"refused": 2, "reset": 1}),
        window(0, {"refused": 4}),
    ]
    counts = count(windows, stopped=0.3)
    assert (counts.turned_away, counts.lost) == (6, 2)
    assert counts.attempted == 10 + 2 + 6
    assert count(windows).lost == 8


def test_counts_add_up():
    """Of a steady load and of what was sent at once."""
    both = count([window(5, {"reset": 1})]) + count([window(2, {"reset": 1, "body": 1})])
    assert (both.attempted, both.lost, both.wrong) == (10, 2, 1)
    assert both.errors == {"reset": 2, "body": 1}
    assert both.longest == 0.012
    nothing = count([window(0, {"refused": 3})])
    assert nothing.longest is None
    assert (nothing + nothing).longest is None


def test_a_series_has_a_place_for_each_window():
    """A slice without a right reply has no slowest one, and is not 0."""
    slices = series([window(3), window(0, {"refused": 2, "status": 1})])
    assert slices.at == pytest.approx((0.25, 0.5))
    assert slices.slowest == (0.012, None)
    assert (slices.lost, slices.wrong, slices.turned_away) == ((0, 2), (0, 1), (0, 0))
    stopped = series([window(3), window(0, {"refused": 2, "status": 1})], stopped=0.4)
    assert (stopped.lost, stopped.turned_away) == ((0, 0), (0, 2))


def test_a_burst_is_in_the_slice_in_which_it_ended():
    """Its lost, wrong and slowest with those of the steady load, so that nothing is told twice."""
    steady = [window(3), window(2, {"reset": 1}), window(3)]
    late = burst(0.3, ok=1, errors={"closed": 2, "body": 1}, latency={700_000: 1})
    beyond = burst(9.0, ok=1, errors={"closed": 1})
    slices = series(steady, bursts=[late, beyond])
    assert slices.lost == (0, 3, 1)
    assert slices.wrong == (0, 1, 0)
    assert slices.slowest == (0.012, 0.7, 0.012)


def test_a_burst_that_is_refused_after_the_stop_is_turned_away():
    """In the slices as in the counts."""
    slices = series([window(3), window(1)], stopped=0.3, bursts=[burst(0.4, errors={"refused": 5})])
    assert (slices.lost, slices.turned_away) == ((0, 0), (0, 5))


def test_the_first_windows_had_ended_by_then():
    """One that was still open when the fault was planted may hold what it did."""
    windows = [window(1), window(2), window(3)]
    assert first(windows, 0.5) == windows[:2]
    assert first(windows, 0.74) == windows[:2]
    assert first(windows, 0.2) == []
