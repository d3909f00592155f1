"""A table of cases that is one test: it fails with every case that fails."""

import pytest

from tests.kit.cases import cases

SEEN = []


@cases("one, other", [(1, 1), (1, 2), (3, 3), (3, 4)])
def compared(one, other, tmp_path):
    """Fail where the two are not the same."""
    SEEN.append((one, other, tmp_path))
    assert one == other, f"{one} is not {other}"


def test_every_case_runs_and_each_that_fails_is_named(tmp_path):
    """With what its assertion says; a fixture goes to all of them."""
    with pytest.raises(AssertionError) as failed:
        compared(tmp_path=tmp_path)
    assert [(1, 1, tmp_path), (1, 2, tmp_path), (3, 3, tmp_path), (3, 4, tmp_path)] == SEEN
    text = str(failed.value)
    assert text.startswith("2 of 4:\n1, 2\n")
    assert "1 is not 2" in text
    assert "\n3, 4\n" in text
    assert "3 is not 4" in text


@cases("number", range(3))
def test_a_table_is_a_test(number, tmp_path):
    """Its other parameters are fixtures."""
    assert number < 3
    assert tmp_path.is_dir()
