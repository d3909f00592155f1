"""docs/reference/lint.md says what the rules say."""

from tools.pages import lint


def test_the_page_is_current():
    """After a change of the rules: python -m tools.pages."""
    assert lint.PAGE.read_text(encoding="utf-8") == lint.render()
