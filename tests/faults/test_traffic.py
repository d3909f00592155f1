"""Good and bad requests for a long time: every answer is right, and nothing is left behind."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.endurance import read_state, settle

from .stacks import production
from .traffic import expected, play

CLIENTS = 4


def test_expected():
    """What the answers are compared with: the sequence up to the first element not below."""
    assert expected(0) == expected(1) == b"[0, 1]"
    assert expected(8) == b"[0, 1, 1, 2, 3, 5, 8]"
    assert expected(9) == b"[0, 1, 1, 2, 3, 5, 8, 13]"
    assert expected(10**100 - 1).endswith(
        b", 14913169640232740127827512057302148063648650711209"
        b"401966150219926546779697987984279570098768737999681]"
    )


@pytest.mark.parametrize("requests", [5_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_mixed_traffic(tmp_path, requests):
    """One in a hundred is bad: no wrong answer, no descriptor left open, no worker replaced."""
    with production(tmp_path) as stack, ThreadPoolExecutor(CLIENTS) as pool:

        def load(count, seed):
            share = [count // CLIENTS] * CLIENTS
            return list(pool.map(lambda n: play(stack.address, n, next(seed)), share))

        seeds = iter(range(100))
        load(200, seeds)
        before, workers = read_state(stack.server.pid), stack.workers()
        tallies = load(requests, seeds)
        after = settle(stack.server.pid, before)
        assert stack.workers() == workers
    assert sum((each.wrong for each in tallies), Counter()) == {}
    right = sum((each.right for each in tallies), Counter())
    assert right.total() == requests
    assert right.total() - right["good"] > requests / 200
    assert after.descriptors == before.descriptors
