"""What `lab migrate` prints of the ini that stands on a page."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from lab.cli.migrate.migration import migrated
from lab.cli.migrate.text import as_text
from lab.config.servers import TRANSLATABLE
from lab.errors import UsageError
from tools.pages.files import DOCS

BLOCK = re.compile(r"^```(ini|dockerfile)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAMES = {"ini": "uwsgi.ini", "dockerfile": "Dockerfile"}
"""Language of a block -> the name of its file."""


def configuration(page: str) -> tuple[str, str]:
    """
    Return the file name and the text of the first configuration of a page.

    Args:
        page: Its place below docs, without its suffix.

    Raises:
        UsageError: It has none.
    """
    block = BLOCK.search((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    if block is None:
        raise UsageError(f"docs/{page}.md has no configuration")
    return NAMES[block[1]], block[2]


def ini(page: str) -> str:
    """Return the text of the first configuration of a page, an ini."""
    return configuration(page)[1]


def shown(page: str, server: str) -> str:
    """Return the command that translates the first ini of a page, and what it prints."""
    if server not in TRANSLATABLE:
        raise UsageError(f"there is no {server} to migrate to, only {', '.join(TRANSLATABLE)}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "uwsgi.ini"
        path.write_text(ini(page), encoding="utf-8")
        output = as_text(migrated(str(path), server, {}))
    return f"```console\n$ .venv/bin/lab migrate {path.name} --to {server}\n{output}```\n"
