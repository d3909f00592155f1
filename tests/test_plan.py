"""The plan: what runs, and in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.bench.trials.plan import alone, orders, validate
from lab.errors import UsageError
from tests.kit.scripted import arm, plan


def test_blocks_have_orders_of_their_own():
    """With six profiles and five blocks the same order five times would be no shuffle."""
    blocks = list(orders(plan("a", "b", "c", "d", "e", "f", blocks=5)))
    assert len(blocks) == 5
    assert len({tuple(arm.name for arm in block) for block in blocks}) > 1


def test_another_seed_gives_another_order():
    """The seed is what repeats a run."""
    base = plan("a", "b", "c", "d", "e", "f", blocks=5)
    assert list(orders(base)) != list(orders(replace(base, seed=2)))


def test_a_trial_alone_has_no_a_a_arm():
    """Nothing is compared with it, so that a second one would only take time."""
    assert list(orders(alone(arm("a"), window=1.0))) == [[arm("a")]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blocks": 0}, "--blocks 0: between 1 and 1000"),
        ({"window": 0.0}, "--window 0: between"),
        ({"warmup": -1.0}, "--warmup -1: between"),
        ({"reference": "z"}, "reference z is not among"),
        ({"arms": ()}, "no profile"),
    ],
)
def test_a_plan_that_can_give_nothing_is_refused(change, message):
    """With the option to change and its range."""
    with pytest.raises(UsageError, match=message):
        validate(replace(plan("a"), **change))


def test_a_profile_named_twice_is_refused():
    """A name is a row of the report."""
    with pytest.raises(UsageError, match="a is named twice"):
        validate(plan("a", "b", "a"))
