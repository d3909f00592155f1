"""The table of docs/production.md, from a stored result; `lab report --readme` puts it there."""

from __future__ import annotations

from lab.report import markdown
from lab.stress.result import Result
from lab.stress.show import banners, notes, table


def render(result: Result) -> str:
    """Return the table in Markdown, and below it a line for each cell that needs words."""
    blocks = [f"> **Warning:** {text}\n" for text in banners(result)]
    blocks.append(markdown.render_table(table(result)))
    if lines := notes(result):
        blocks.append("".join(f"- {line}\n" for line in lines))
    return "\n".join(blocks)
