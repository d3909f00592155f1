"""Good and bad requests for a long time: every answer is right, and nothing is left behind."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from tests.kit.lab_process import until

from .stacks import production
from .state import GROWTH, WARM_UP, settled
from .traffic import BAD, BAD_KINDS, CLIENTS, expected, load


def test_expected():
    """What the answers are compared with: the sequence up to the first element not below."""
    assert expected(0) == expected(1) == b"[0, 1]"
    assert expected(8) == b"[0, 1, 1, 2, 3, 5, 8]"
    assert expected(9) == b"[0, 1, 1, 2, 3, 5, 8, 13]"
    assert expected(10**100 - 1).endswith(
        b", 14913169640232740127827512057302148063648650711209"
        b"401966150219926546779697987984279570098768737999681]"
    )


def closed(before, after):
    """Return the later state if no process has more descriptors open than before."""
    open_now = after.descriptors.items()
    return (
        after
        if all(number <= before.descriptors.get(name, 0) for name, number in open_now)
        else None
    )


def mixed(folder, warm_up, requests):
    """Send a mixture; assert that all is right; return the states before and after it."""
    with production(folder) as stack, ThreadPoolExecutor(CLIENTS) as pool:
        seeds = count()
        first = load(pool, stack.address, warm_up, seeds)
        before, workers = settled(stack.server.pid), stack.workers()
        tally = load(pool, stack.address, requests, seeds)
        after = until(lambda: closed(before, settled(stack.server.pid)), "as few descriptors")
        assert stack.workers() == workers
    assert first.wrong + tally.wrong == {}
    assert tally.right.total() == requests
    assert tally.right.total() - tally.right["good"] > requests * BAD / 2
    assert set(tally.right) == {"good", *BAD_KINDS}
    return before, after


@pytest.mark.costly
def test_mixed_traffic(tmp_path):
    """One in a hundred is bad: no wrong answer, no descriptor left open, no worker replaced."""
    mixed(tmp_path, 200, 5_000)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_much_mixed_traffic(tmp_path):
    """The same for 20,000 requests, and the memory has not grown by 2 MB, either."""
    before, after = mixed(tmp_path, WARM_UP, 20_000)
    assert after.own - before.own < GROWTH
