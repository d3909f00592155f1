"""
The one console: its own styles and cursor movements act on a terminal, and those of others do not.

It makes visible by itself what it is given, and so needs of the edge (`lab.report.edge`) only that
no line of what it lays out is a command to the runner of CI.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import IO, Any, TextIO, cast

from rich.console import Console as RichConsole
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from lab.model.wording import visible, without_commands
from lab.report.edge import Edge, beyond


class Console(RichConsole):
    """Rich's, on standard output, standard error or a file."""

    def __init__(
        self, *, file: IO[str] | None = None, stderr: bool = False, **options: Any
    ) -> None:
        stream = beyond(file or (sys.stderr if stderr else sys.stdout))
        edge = cast(TextIO, Edge(stream, without_commands))
        super().__init__(file=edge, stderr=stderr, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return *text* as rich does, which would drop some of what acts before it is rendered."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what *renderable* is made of; all that is printed comes through here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
