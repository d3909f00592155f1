"""
A report for a terminal or a pipe.

Rules under headers are the only lines drawn, so that a pasted or piped table stays whole; colour
only repeats what a word says.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from lab.analysis.summary import Summary
from lab.report.tables import Document, Meaning, Table, document

PIPED_WIDTH = 100
"""Columns where there is no terminal to ask: rich assumes 80, which folds the tables."""

STYLES = {
    Meaning.PLAIN: "",
    Meaning.GOOD: "green",
    Meaning.BAD: "red",
    Meaning.WARNING: "yellow",
    Meaning.MUTED: "dim",
}


def show(summary: Summary, console: Console) -> None:
    """Print the report on *console*, at its width; at least 100 columns where it is no terminal."""
    show_document(document(summary), console)


def show_document(content: Document, console: Console) -> None:
    """Print *content* as `show` does."""
    if console.is_terminal:
        _write(content, console)
    else:
        console.file.write(render_document(content, max(console.width, PIPED_WIDTH)))


def render(summary: Summary, width: int = PIPED_WIDTH) -> str:
    """Return the report as plain text of *width* columns, without spaces at the ends of lines."""
    return render_document(document(summary), width)


def render_document(content: Document, width: int = PIPED_WIDTH) -> str:
    """Return *content* as `render` does."""
    stream = io.StringIO()
    _write(content, Console(file=stream, width=width, color_system=None, force_terminal=False))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _write(content: Document, console: Console) -> None:
    def write(*parts: RenderableType) -> None:
        for part in parts:
            console.print(part, markup=False, highlight=False)

    said = filter(None, (content.headline, *content.context))
    write(Text(content.title, style="bold"), *map(Text, said))
    if content.banners:
        write("", _marked("!", content.banners, "bold yellow"))
    for table in content.tables:
        write("", Text(table.title, style="bold"), _grid(table))
    if content.notes:
        write("", _marked("*", content.notes, ""))
    for lines in filter(None, (content.legend, content.footer)):
        write("", *(Text(line, style="dim") for line in lines))


def _grid(table: Table) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for position, column in enumerate(table.columns):
        # Numbers and the names before them stay whole; reasons and verdicts may fold.
        header = f"{column.title}\n{column.unit}" if column.unit else column.title
        grid.add_column(
            Text(header),
            justify="right" if column.number else "left",
            no_wrap=column.number or position == 0,
            overflow="fold",
        )
    for row in table.rows:
        grid.add_row(*(Text(cell.text, style=STYLES[cell.meaning]) for cell in row))
    return grid


def _marked(mark: str, texts: Iterable[str], style: str) -> Grid:
    """Return texts with *mark* before each, and their further lines indented."""
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for text in texts:
        grid.add_row(Text(mark, style=style), Text(text, style=style))
    return grid
