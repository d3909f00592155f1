"""What was seen of two configurations: as a table, and as an exit status."""

from __future__ import annotations

import json

import pytest

from lab.cli.migrate.migration import migrated
from lab.cli.migrate.text import FORMS
from lab.cli.migrate.trial import Contrast, SideBySide, status_of

SAME = Contrast("worker processes", "2", "2", differs=False)
OTHER = Contrast("HEAD", "200, 5 bytes | body", "200, 0 bytes", differs=True)
OPEN = Contrast("p99, ms", "-", "-", differs=None)


@pytest.fixture
def found():
    """Return a migration that loses nothing."""
    made = migrated("gunicorn -w 2 -b 127.0.0.1:8000 -k sync --timeout 0 shop:app", "uwsgi", {})
    assert made.status == 0
    return made


def tried(*contrasts, measured=0):
    """Return what was seen."""
    return SideBySide(contrasts, ("uwsgi, kill: 6 of 6",), "results/1", measured)


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (None, 0),
        (tried(SAME, OPEN), 0),
        (tried(SAME, OTHER), 4),
        (tried(OTHER, measured=3), 3),
        (tried(OTHER, measured=1), 1),
    ],
)
def test_the_status_says_what_lacks_before_what_differs(found, seen, status):
    """A table that this machine could not fill is no answer, whatever else it says."""
    assert status_of(found, seen) == status


def test_what_is_lost_counts_where_nothing_differs(found, tmp_path):
    """As without a measurement."""
    lossy = migrated("granian --interface wsgi --workers 2 shop:app", "gunicorn", {})
    assert lossy.status == status_of(lossy, tried(SAME)) == 4


def test_rows_that_differ_are_marked(found):
    """By a word, in each form."""
    text = FORMS["text"](found, tried(SAME, OTHER, OPEN))
    table = text.partition("BOTH SERVERS, COMPARED")[2].splitlines()
    assert [line[:7].strip() for line in table[2:5]] == ["", "differs", ""]
    markdown = FORMS["markdown"](found, tried(SAME, OTHER))
    assert "| differs | HEAD | 200, 5 bytes \\| body | 200, 0 bytes |" in markdown
    assert "|  | worker processes | 2 | 2 |" in markdown


def test_json_has_the_table(found):
    """With its status, and null where nothing follows from a row."""
    report = json.loads(FORMS["json"](found, tried(OTHER, OPEN)))
    assert [contrast["differs"] for contrast in report["measured"]["contrasts"]] == [True, None]
    assert report["status"] == 4


def test_nothing_is_said_of_a_test_that_was_not_made(found):
    """No form has an empty table."""
    for form in FORMS.values():
        assert "measured" not in form(found, None)
        assert "put to the test" not in form(found, None).lower()
