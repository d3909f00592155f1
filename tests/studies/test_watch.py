"""The studies of `lab watch`: what they count, and what the page says of it."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from studies.pages import watch
from studies.watch import cost, errors
from studies.watch.counter import created
from studies.watch.servers import running
from tests.watch.stand import needs_diagnosis

SERVER = "gunicorn gthread, 2 x 8"


def test_a_counter_is_the_sum_over_processes(tmp_path):
    """Of those that were forked, too."""
    counter = created(tmp_path / "counter")
    counter.add(1)
    process = multiprocessing.get_context("fork").Process(target=counter.add, args=(2,))
    process.start()
    process.join()
    counter.add(1)
    assert counter.total() == 4


@needs_diagnosis
def test_a_watch_is_compared_with_both_counters(tmp_path, monkeypatch):
    """In a closed loop the clients always have a request in flight, but for a moment."""
    monkeypatch.setattr(errors, "SECONDS", 1.0)
    in_code = created(tmp_path / "in-code")
    with running(SERVER, tmp_path / "in-code") as (port, pid):
        row = errors.compare(tmp_path, port, pid, "/uneven", 4, 0.0, in_code)
    assert row["looks"]
    assert row["client"][1] <= 4
    assert row["in_code"][1] <= 4
    assert row["in_flight"][1] <= 4


@needs_diagnosis
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_the_cost_is_a_ratio_of_windows_with_and_without_the_watch(tmp_path):
    """Of CPU per request, and of requests/s."""
    created(tmp_path / "in-code")
    first, second, *_ = sorted(os.sched_getaffinity(0))
    with running(SERVER, tmp_path / "in-code", [first]) as (port, pid):
        row = cost.row(SERVER, "/", port, pid, second, (2, 2))
    assert row["looks"]
    assert len(row["cpu_pairs"]) == len(row["rate_pairs"]) == 2
    assert "[" in row["cpu"]


def test_the_page_counts_the_rows_that_are_near():
    """Near to the clients' counter, or between both."""
    near = {"client": [10.0, 12], "in_code": [5.0, 6], "in_flight": [11.4, 13]}
    between = {"client": [20.0, 22], "in_code": [2.0, 3], "in_flight": [10.0, 12]}
    far = {"client": [2.0, 3], "in_code": [1.0, 3], "in_flight": [3.5, 5]}
    assert [watch._is_near(row) for row in (near, between, far)] == [True, False, False]
    assert [watch._is_between(row) for row in (near, between, far)] == [False, True, False]
