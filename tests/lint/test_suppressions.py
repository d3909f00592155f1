"""Comments that say that something is meant so."""

import pytest

from lab.settings.lint.config import Known
from lab.settings.lint.judge import judged
from lab.settings.lint.read import reader_of


@pytest.fixture
def lint(tmp_path):
    """Return a function that writes base.ini and main.ini, and returns what one of them has."""

    def codes(base, main="ini = %dbase.ini", named="main.ini"):
        for name, text in (("base.ini", base), ("main.ini", main)):
            (tmp_path / name).write_text(f"[uwsgi]\n{text}\n")
        path = tmp_path / named
        return [flaw.code for flaw in judged(reader_of(path)(path, Known()))]

    return codes


def test_what_is_included_has_its_own_comments(lint):
    """They count for whoever includes it, and are needed for none of them."""
    assert lint("evil-reload-on-rss = 9") == ["UW325", "UW503"]
    assert lint("; lab: ignore[UW325,UW5] why\nevil-reload-on-rss = 9") == []
    assert lint("; lab: ignore[UW325,UW5] why\nmax-vars = 9") == []


def test_a_file_speaks_for_what_it_includes(lint):
    """Another file may not want it so."""
    meant = "; lab: ignore-file[UW325,UW503] why\nini = %dbase.ini"
    assert lint("evil-reload-on-rss = 9", meant) == []
    assert lint("evil-reload-on-rss = 9", meant, "base.ini") == ["UW325", "UW503"]


def test_an_included_file_does_not_speak_for_others(lint):
    """Nor does a comment for one line."""
    main = "; lab: ignore[UW325,UW503] why\nini = %dbase.ini\nevil-reload-on-rss = 9"
    assert "UW325" in lint("; lab: ignore-file[UW325] why", main)


def test_a_comment_that_is_not_needed_is_found_where_it_stands(lint):
    """In the file that was named."""
    assert lint("max-vars = 9", "; lab: ignore[UW325] why\nini = %dbase.ini") == ["UW900"]
