"""
What a command prints, as plain text: for a terminal, a pipe, and an installation without `rich`.

No line is broken, because most of them are pasted or searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lab.model.document import Block, Diff, Listing, Table

GAP, WIDE_GAP = 2, 4
"""Blanks between two columns of a table; of one without heads."""


def render(blocks: Iterable[Block]) -> str:
    """Return the blocks with an empty line between two; the text ends with a newline."""
    return "\n\n".join("\n".join(_lines(block)) for block in blocks) + "\n"


def aligned(rows: Sequence[Sequence[str]], gap: int = GAP) -> list[str]:
    """
    Return a line for each row, its cells in columns.

    >>> aligned([("a", "1"), ("bcd", "")])
    ['a    1', 'bcd']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [(" " * gap).join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _lines(block: Block) -> Iterator[str]:
    match block:
        case str():
            yield block
        case Listing(name, text):
            first, _, rest = text.rstrip("\n").partition("\n")
            # A copy of a script runs only if its first line is the one that names its interpreter.
            yield from (
                (first, f"# {name}", rest)
                if first[:2] == "#!"
                else (f"# {name}", text.rstrip("\n"))
            )
        case Diff(title, lines):
            yield from (title.upper(), *(f"  {line}" for line in lines)) if title else lines
        case Table():
            yield from [block.title.upper()] * bool(block.title)
            yield from _rows(block)


def _rows(table: Table) -> Iterator[str]:
    rows = [[cell.text for cell in row] for row in table.rows]
    heads = [column.title for column in table.columns]
    if table.between:
        yield from (f"  {table.between.join(row)}" for row in rows)
    else:
        yield from aligned([heads, *rows]) if any(heads) else aligned(rows, WIDE_GAP)
