"""
A report for a terminal or a pipe.

Rules under headers are the only lines drawn, so that a pasted or piped table stays whole; colour
only repeats what a word says. No word is broken, for most are names that a reader types again: a
table that is wider than the page goes on below, with its first column once more.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from lab.analysis.conclusion import Conclusion
from lab.model.document import Column, Document, Meaning, Table
from lab.report.console import Console
from lab.report.edge import PIPED_WIDTH, cleaned
from lab.report.tables import document

GAP = 2
"""Columns between two of a table."""

MOST_NAMES = 0.4
"""Share of the width that names may take before a sentence, in a table without heads."""

STYLES = {
    Meaning.PLAIN: "",
    Meaning.GOOD: "green",
    Meaning.BAD: "red",
    Meaning.WARNING: "yellow",
    Meaning.MUTED: "dim",
}


def columns(console: Console) -> int:
    """Return how wide *console* is: as a terminal or COLUMNS says, else at least 100 columns."""
    if console.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
        return console.width
    return max(console.width, PIPED_WIDTH)


def show_document(content: Document, console: Console) -> None:
    """Print *content* on *console*, as wide as `columns` says."""
    content = cleaned(content)
    if console.is_terminal:
        _write(content, console)
    else:
        console.file.write(render_document(content, columns(console)))


def render(conclusion: Conclusion, width: int = PIPED_WIDTH) -> str:
    """Return the report as plain text of *width* columns, without spaces at the ends of lines."""
    return render_document(document(conclusion), width)


def render_document(content: Document, width: int = PIPED_WIDTH) -> str:
    """Return *content* as `render` does; wider, where a name and one column beside it are."""
    content, stream = cleaned(content), io.StringIO()
    widest = max((_narrowest(table) for table in content.tables), default=0)
    wide = max(width, widest)
    _write(content, Console(file=stream, width=wide, color_system=None, force_terminal=False))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _write(content: Document, console: Console) -> None:
    def write(*parts: RenderableType) -> None:
        for part in parts:
            console.print(part, markup=False, highlight=False)

    paragraphs = filter(None, (content.headline, *content.context))
    write(Text(content.title, style="bold"), *map(Text, paragraphs))
    if content.banners:
        write("", _marked("!", content.banners, "bold yellow"))
    for table in content.tables:
        write("", Text(table.title, style="bold"), *_grids(table, console.width))
    if content.notes:
        write("", _marked("*", content.notes, ""))
    for lines in filter(None, (content.legend, content.footer)):
        write("", *(Text(line, style="dim") for line in lines))
    if content.commands:
        write("")
    for line in content.commands:
        console.print(Text(line), markup=False, highlight=False, soft_wrap=True)


def _grids(table: Table, width: int) -> Iterator[RenderableType]:
    """Yield the table, in as many parts as it takes to be no wider than *width*."""
    least, most = _widths(table)
    heads = any(column.title for column in table.columns)
    if not heads:
        most[0] = max(least[0], min(most[0], int(width * MOST_NAMES)))
    parts: list[list[int]] = [[0]]
    for position in range(1, len(table.columns)):
        used = sum(least[index] + GAP for index in parts[-1])
        if len(parts[-1]) > 1 and used + least[position] > width:
            parts.append([0])
        parts[-1].append(position)
    for number, part in enumerate(parts):
        if number:
            yield ""
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
        grid.show_header = heads
        spare = width - GAP * (len(part) - 1) - sum(least[index] for index in part)
        granted = _granted([most[index] - least[index] for index in part], spare)
        for position, more in zip(part, granted, strict=True):
            column = table.columns[position]
            justify: Literal["left", "right"] = "right" if column.number else "left"
            size = least[position] + more
            grid.add_column(Text(_header(column)), justify=justify, width=size, overflow="fold")
        for row in table.rows:
            cells = (row[position] for position in part)
            grid.add_row(*(Text(cell.text, style=STYLES[cell.meaning]) for cell in cells))
        yield grid


def _header(column: Column) -> str:
    return f"{column.title}\n{column.unit}" if column.unit else column.title


def _widths(table: Table) -> tuple[list[int], list[int]]:
    """Return how wide each column is at least, no word of it broken, and at most: in one line."""
    least, most = [], []
    for position, column in enumerate(table.columns):
        texts = (*_header(column).split("\n"), *(row[position].text for row in table.rows))
        most.append(max(map(cell_len, texts)))
        words = (word for text in texts for word in text.split())
        least.append(most[-1] if column.number else max(map(cell_len, words), default=0))
    return least, most


def _narrowest(table: Table) -> int:
    """Return how wide a page must be to hold the first column and any other beside it."""
    least, _ = _widths(table)
    return least[0] + max((GAP + width for width in least[1:]), default=0)


def _granted(wishes: Sequence[int], spare: int) -> list[int]:
    """
    Share *spare* columns out, the smallest wish first: names keep to one line, and prose folds.

    >>> _granted([40, 3, 0], 20)
    [17, 3, 0]
    """
    granted = list(wishes)
    for place, (wish, position) in enumerate(sorted((w, n) for n, w in enumerate(wishes))):
        granted[position] = min(wish, max(0, spare) // (len(wishes) - place))
        spare -= granted[position]
    return granted


def _marked(mark: str, texts: Iterable[str], style: str) -> Grid:
    """Return texts with *mark* before each, and their further lines indented."""
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for text in texts:
        grid.add_row(Text(mark, style=style), Text(text, style=style))
    return grid
