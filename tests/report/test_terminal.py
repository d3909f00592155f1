"""How a report fits a page: whole names, at the width that was asked for."""

import io
import re

import pytest
from rich.console import Console

from lab.model.document import Cell, Column, Document, Table, texts
from lab.report import terminal

NAMES = ("max-worker-lifetime-delta", "processes-threads / max-worker-lifetime-delta")


def content(*columns, rows):
    """Return a document of one table."""
    table = Table("Measured", columns, tuple(tuple(map(Cell, row)) for row in rows))
    return Document("title", (), (), (table,), (), (), ())


WIDE = content(
    Column("profile", number=False),
    *(Column(f"column {letter}", "ms") for letter in "abcdef"),
    *texts(("evidence",)),
    rows=[(name, *["1,000,000"] * 6, "words that fold where they must") for name in NAMES],
)


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_line_is_wider_than_the_page_and_no_word_is_broken(width):
    """At any width: every word of every cell is found again, in one piece."""
    text = terminal.render_document(WIDE, width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    assert words.count("max-worker-lifetime-delta") % 2 == 0
    assert not [word for word in words if word.startswith("max-") and not word.endswith("-delta")]
    assert words.count("1,000,000") == 12


def test_a_table_that_is_too_wide_goes_on_below_with_the_names_once_more():
    """Each part has the first column, so that no number stands without its profile."""
    parts = terminal.render_document(WIDE, 60).split("Measured\n")[1].split("\n\n")
    assert len(parts) > 1
    assert all(re.search(r"^profile ", part, re.MULTILINE) for part in parts)
    assert re.findall(r"column (\w)", " ".join(parts)) == list("abcdef")
    assert len(terminal.render_document(WIDE, 200).split("Measured\n")[1].split("\n\n")) == 1


def test_a_page_too_narrow_for_a_name_is_made_wide_enough():
    """A broken name is of use to nobody; a long line can be scrolled to."""
    text = terminal.render_document(WIDE, 20)
    assert "max-worker-lifetime-delta" in text
    assert max(map(len, text.splitlines())) > 20


@pytest.mark.parametrize(
    ("columns", "width"), [("80", 80), ("60", 60), ("132", 132), ("", 100), ("wide", 100)]
)
def test_a_pipe_is_as_wide_as_columns_says(monkeypatch, columns, width):
    """As `COLUMNS=80 lab report | less` asks; without it 100."""
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal.columns(Console(file=io.StringIO())) == width
    stream = io.StringIO()
    terminal.show_document(WIDE, Console(file=stream))
    assert stream.getvalue() == terminal.render_document(WIDE, width)
