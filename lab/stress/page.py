"""The table of docs/production.md, from a stored result; `lab report --readme` puts it there."""

from __future__ import annotations

from lab.report import markdown
from lab.stress.result import StressResult
from lab.stress.show import banners, legend, notes, table


def render(result: StressResult) -> str:
    """Return what the words mean, the table in Markdown, and a line for each cell that needs it."""
    blocks = [f"> **Warning:** {text}\n" for text in banners(result)]
    blocks.append("".join(f"- {line}\n" for line in legend(result)))
    blocks.append(markdown.render_table(table(result)))
    if lines := notes(result):
        blocks.append("".join(f"- {line}\n" for line in lines))
    return "\n".join(blocks)
