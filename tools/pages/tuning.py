"""What `lab tune --dry-run` prints of the configuration on a page."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lab.bench.machine.project import lab_command
from lab.cli.tune.allowed import tries
from lab.cli.tune.missing import missing
from lab.cli.tune.moves import Facts, ground_of
from lab.cli.tune.text import as_text
from lab.config.configuration import Known
from lab.config.reading import read
from tools.pages.migration import configuration


def shown(page: str) -> str:
    """Return the command that prints what a page's configuration lacks, and its output."""
    name, text = configuration(page)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        config = read(str(path), Known(), container=False)
        facts = Facts(cores=2, connections=64, threads=False)
        tried = [*tries(ground_of(path.name, config, cpus=2), facts)]
        output = as_text(missing(config, tried))
    output = output.replace(f"{folder}/", "").replace(
        f"{lab_command()} lint --explain", ".venv/bin/lab lint --explain"
    )
    return f"```console\n$ .venv/bin/lab tune {path.name} --dry-run\n{output}```\n"
