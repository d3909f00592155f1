"""The judge of studies/endurance.py: each way to be wrong has a sentence."""

from collections import Counter

import pytest

from studies.endurance import judge
from tests.faults.state import GROWTH, State
from tests.faults.traffic import Tally

FINE = Tally(right=Counter(good=99, letter=1))
BEFORE = State(pss=90_000_000, own=80_000_000, descriptors={"nginx 1": 9, "uwsgi 2": 12})


def after(own_memory=BEFORE.own, descriptors=BEFORE.descriptors):
    """Return a later state."""
    return State(BEFORE.pss, own_memory, descriptors)


def test_nothing_is_wrong():
    """The same processes, and a little less than the growth that is allowed: not a word."""
    assert judge(FINE, BEFORE, after(BEFORE.own + GROWTH - 1), 0) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((Tally(wrong=Counter({"good: status 502": 3})), BEFORE, after(), 0), "3 x good: status"),
        ((FINE, BEFORE, after(descriptors={"nginx 1": 9, "uwsgi 3": 12}), 0), "was replaced"),
        ((FINE, BEFORE, after(descriptors={"nginx 1": 9}), 0), "was replaced"),
        ((FINE, BEFORE, after(), 1), "was replaced"),
        ((FINE, BEFORE, after(descriptors={"nginx 1": 9, "uwsgi 2": 13}), 0), "descriptors: "),
        ((FINE, BEFORE, after(BEFORE.own + GROWTH), 0), "the memory grew by 2.0 MB"),
    ],
)
def test_each_fault_is_told(arguments, said):
    """A wrong answer, a process replaced, a descriptor left open, memory that has grown."""
    (problem,) = judge(*arguments)
    assert said in problem
