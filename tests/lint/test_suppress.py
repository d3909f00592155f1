"""Comments that say that something is meant so."""

import pytest

from lab.settings.lint.judge import Chosen, judged
from lab.settings.lint.read import example
from tests.kit.linting import codes

ORPHANS = "no-orphans = true"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ORPHANS, ["UW205"]),
        (f"; lab: ignore[UW205] they shall end\n{ORPHANS}", []),
        (f"# lab:ignore[UW2]\n\n; more\n{ORPHANS}", []),
        (f"; lab: ignore[UW204, UW205]\n{ORPHANS}", ["UW900"]),
        (f"; lab: ignore[UW205]\nthreads = 2\n{ORPHANS}", ["UW900", "UW205"]),
        (f"{ORPHANS}\n; lab: ignore[UW205]", ["UW205", "UW900"]),
        (f"{ORPHANS}\n; lab: ignore-file[UW205] of another's", []),
        ("threads = 2\n; lab: ignore-file[UW3]", ["UW900"]),
        (f"; lab: ignore[]\n{ORPHANS}", ["UW205"]),
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
