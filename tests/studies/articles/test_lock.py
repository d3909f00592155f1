"""A folder of results belongs to one `lab claims --run` at a time."""

from __future__ import annotations

import pytest

from lab.errors import UsageError
from studies.articles.lock import locked


def test_a_folder_is_one_call_s_alone_until_it_ends(tmp_path):
    """A second one is refused with its name, and nothing is left in it."""
    results = tmp_path / "results"
    refused = pytest.raises(UsageError, match=f"--results {results}: another ")
    with locked(results), refused, locked(results):
        pass
    with locked(results):
        assert not list(results.iterdir())


@pytest.mark.parametrize(
    ("name", "problem"),
    [("file", "is a file, not a folder"), ("file/below", "cannot be written: Not a directory")],
)
def test_what_cannot_hold_runs_is_refused_before_any_is_made(tmp_path, name, problem):
    """In a line that says what is wrong with it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=problem), locked(tmp_path / name):
        pass
