"""Comments that say that something is meant so."""

import pytest

from lab.config import servers
from lab.config.configuration import Known
from lab.lint.examples import example
from lab.lint.judge import Chosen, judged
from tests.kit.linting import codes

ORPHANS = "no-orphans = true"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ORPHANS, ["UW205"]),
        (f"; lab: ignore[UW205] they shall end\n{ORPHANS}", []),
        (f"; lab: ignore[uw205] they shall end\n{ORPHANS}", []),
        ("threads = 2\n; lab: ignore-file[uw3]", ["UW900"]),
        (f"# lab:ignore[UW2]\n\n; more\n{ORPHANS}", []),
        (f"; lab: ignore[UW204, UW205]\n{ORPHANS}", ["UW900"]),
        (f"; lab: ignore[UW205]\nthreads = 2\n{ORPHANS}", ["UW900", "UW205"]),
        (f"{ORPHANS}\n; lab: ignore[UW205]", ["UW205", "UW900"]),
        (f"{ORPHANS}\n; lab: ignore-file[UW205] of another's", []),
        ("threads = 2\n; lab: ignore-file[UW3]", ["UW900"]),
        (f"; lab: ignore[]\n{ORPHANS}", ["UW205"]),
        ("; lab: ignore-file[UW301] a supervisor\nprocesses = $(W)", []),
    ],
)
def test_a_comment_above_a_line_or_of_a_file(text, found):
    """By code or its beginning; one that suppresses nothing is found itself."""
    assert [code for code in codes(text) if code in {"UW204", "UW205", "UW900"}] == found


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        (Chosen(("UW204",)), {"UW204"}),
        (Chosen(("UW2",), ("UW204",)), {"UW205"}),
        (Chosen((), ("UW",)), set()),
        (Chosen(("UW204", "UW9")), {"UW204"}),
    ],
)
def test_rules_are_chosen_by_code_or_its_beginning(chosen, found):
    """What suppresses a rule that is not asked is not called unused."""
    config = example("UW", f"; lab: ignore[UW207]\ndie-on-term = true\n{ORPHANS}")
    assert {flaw.code for flaw in judged(config, chosen)} == found


@pytest.mark.parametrize("environ", [{}, {"PROCESSES": "4"}])
def test_a_comment_in_a_branch_that_is_not_taken_is_not_called_unused(environ):
    """Nothing was looked for there: by another variable it is read, and the comment is needed."""
    text = (
        "if-env = PROCESSES\nprocesses = %(_)\nendif =\n"
        "if-not-env = PROCESSES\n; lab: ignore[UW320] a host of its own\nprocesses = %k\nendif ="
    )
    known = Known(container=True, environ=environ)
    assert not {"UW320", "UW900"} & set(codes(text, known=known))


@pytest.fixture
def lint(tmp_path):
    """Return a function that writes base.ini and main.ini, and returns what one of them has."""

    def codes(base, main="ini = %dbase.ini", named="main.ini"):
        for name, text in (("base.ini", base), ("main.ini", main)):
            (tmp_path / name).write_text(f"[uwsgi]\n{text}\n")
        path = tmp_path / named
        return [flaw.code for flaw in judged(servers.of_file(path).read(path, Known()))]

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
