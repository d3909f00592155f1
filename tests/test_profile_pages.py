"""What stored runs say of a step, on the page of profiles."""

from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from lab.model.comparison import MayBe
from lab.model.metric import METRICS
from tests.kit import builders as make
from tools.pages import profiles as page


@pytest.fixture
def stored(monkeypatch):
    """Return the summary of the only stored run, of two steps; change it before you ask."""
    runs = [summarise(make.ladder_run({"a": (2000, 4e-4), "b": (4000, 2e-4), "c": (4000, 2e-4)}))]
    monkeypatch.setattr(page, "_runs", lambda: runs)
    return runs


def effects(name, against):
    """Return what is said of a step."""
    return page._effects(make.profile(name, against=against))


def test_a_step_is_quoted(stored):
    """With its run and both figures."""
    (line,) = effects("b", "a")
    assert line.startswith("- `/9000` ([")
    assert "runs/README.md#" in line
    assert ", CPU per request " in line


def test_a_step_of_which_nothing_counts_has_no_line(stored):
    """An empty bullet says nothing."""
    first, *rest = stored[0].steps
    empty = {name: replace(first.step[name], ratio=None) for name in METRICS if name in first.step}
    stored[0] = replace(stored[0], steps=(replace(first, step=empty), *rest))
    assert effects("b", "a") == []


def test_a_start_of_its_own_is_no_step(stored):
    """It is against nothing, so nothing was measured of it."""
    first, *rest = stored[0].steps
    stored[0] = replace(stored[0], steps=(replace(first, before=None, step={}), *rest))
    assert effects("b", None) == []


def test_what_weakens_a_step_is_quoted_with_it(stored):
    """A verdict that one block decides, and a throughput that is a bound, are no plain figures."""
    first, *rest = stored[0].steps
    weak = {
        name: replace(comparison, fragile=True, may_be=MayBe.LARGER)
        for name, comparison in first.step.items()
    }
    stored[0] = replace(stored[0], steps=(replace(first, step=weak), *rest))
    (line,) = effects("b", "a")
    assert "requests/s at least " in line
    assert line.count(", fragile") == 2
