"""The tables of docs/how-to/processes-and-threads.md."""

import pytest

from studies import processes_and_threads as study
from studies.pages import processes_and_threads as pages


@pytest.fixture(autouse=True)
def cells(monkeypatch):
    """Let two rounds have measured every cell; 16 processes keep up in one of them."""
    made = [
        {
            "handler": handler,
            "kind": kind,
            "number": number,
            "throughput": 100.0 * number + rounds,
            "memory": 1e6 * number,
            "p99": None if number == 16 and rounds else 0.01,
            "load": 0.01 * number,
        }
        for handler in study.HANDLERS
        for kind in study.KINDS
        for number in study.NUMBERS
        for rounds in range(2)
    ]
    monkeypatch.setattr(pages, "_cells", lambda: made)


def test_requests_are_the_median_of_all_rounds():
    """A row for each number."""
    assert "| 16 | 1,600 | 1,600 | 1,600 | 1,600 | 1,600 | 1,600 |" in pages.requests()


def test_a_server_that_once_did_not_keep_up_has_no_p99():
    """Its median would be of the rounds in which the machine was fast."""
    table = pages.p99()
    assert "| 8 | 10 | 10 | 10 | 10 | 10 | 10 |" in table
    assert "| 16 | - | - | - | - | - | - |" in table


def test_what_memory_and_the_load_take():
    """In the units of the page."""
    assert (pages.memory("threads"), pages.load()) == ("1 and 16 MB", "0.16")
