"""A report as Markdown, for a README, a pull request or a CI job's summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from lab.model.document import Block, Diff, Document, Listing, Table
from lab.model.wording import visible, without_commands

if TYPE_CHECKING:
    from lab.analysis.sweep import RunConclusion

WARNING = "> **Warning:** "
LANGUAGES = {".py": "python", ".sh": "sh", ".env": "sh", ".ini": "ini"}
"""Ending of a file -> what its block is called."""


def render(run_conclusion: RunConclusion) -> str:
    """Return a run's report as Markdown (GitHub's, with tables), those of all values."""
    from lab.report.sweep import documents  # noqa: PLC0415 - no other page is of a run

    return "\n".join(map(render_document, documents(run_conclusion)))


def render_document(content: Document) -> str:
    """Return *content* as `render` does."""
    blocks = [f"# {escaped(content.title)}"]
    blocks += [escaped(line) for line in (content.headline, *content.context) if line]
    blocks += [warnings([text]).rstrip("\n") for text in content.banners]
    for table in content.tables:
        blocks.append(_headed(table.title, render_table(table).rstrip("\n")))
    if content.notes:
        blocks.append("\n".join(f"- {escaped(text)}" for text in content.notes))
    blocks += [escaped(line) for line in content.legend]
    blocks += [escaped(line) for line in content.footer]
    return without_commands("\n\n".join(blocks)) + "\n"


def render_blocks(title: str, blocks: Iterable[Block]) -> str:
    """Return a page of what a command prints."""
    return without_commands("\n\n".join((f"# {escaped(title)}", *map(_block, blocks)))) + "\n"


def _block(block: Block) -> str:
    match block:
        case str():
            return escaped(block)
        case Listing(name, text):
            language = LANGUAGES.get(PurePath(name).suffix, "")
            return f"`{name}`:\n\n{fenced(text.rstrip(), language)}"
        case Diff(title, lines):
            return _headed(title, fenced("\n".join(lines), "diff"))
        case Table():
            return _headed(block.title, render_table(block).rstrip("\n"))


def _headed(title: str, text: str) -> str:
    return f"## {escaped(title)}\n\n{text}" if title else text


def fenced(text: str, language: str = "") -> str:
    """Return *text* as a block that is no Markdown, with a fence that nothing in it ends."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def warnings(banners: Iterable[str]) -> str:
    """Return a quoted paragraph for each of *banners*, with an empty line after it."""
    return "".join(f"{WARNING}{escaped(text)}\n\n" for text in banners)


def render_table(table: Table) -> str:
    """Return *table* without its title; it ends with a newline."""
    return "".join(f"{row}\n" for row in _rows(table))


def _rows(table: Table) -> Iterator[str]:
    headers = (", ".join(filter(None, (column.title, column.unit))) for column in table.columns)
    yield _row(headers)
    yield _row("---:" if column.number else "---" for column in table.columns)
    for row in table.rows:
        yield _row(cell.text for cell in row)


def _row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(escaped(text) for text in texts)} |"


def escaped(text: str) -> str:
    """
    Return *text* with the characters escaped that would end a cell or strike words through.

    It stays in its line: the next one could begin with anything, such as a heading.
    """
    text = " ".join(visible(text).split("\n"))
    for character in "\\|~<":
        text = text.replace(character, f"\\{character}")
    return text
