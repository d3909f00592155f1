"""docs/how-to/tune.md: its example is what the command prints."""

from __future__ import annotations

import re

from tests.kit.lab_process import BIN, run
from tools.pages.files import DOCS
from tools.pages.migration import ini

PAGE = "how-to/tune"


def test_the_example_is_what_the_command_prints(tmp_path):
    """Its status is the one that the page names."""
    page = (DOCS / f"{PAGE}.md").read_text()
    typed, printed = re.search(
        r"```console\n\$ \.venv/bin/lab (tune .*)\n((?s:.*?))```", page
    ).groups()
    (tmp_path / "uwsgi.ini").write_text(ini(PAGE))
    done = run("lab", *typed.split(), cwd=tmp_path)
    assert done.stdout.replace(str(BIN / "lab"), ".venv/bin/lab") == printed
    assert done.returncode == 4, done.stderr
