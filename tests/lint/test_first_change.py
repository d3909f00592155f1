"""What CONTRIBUTING.md begins with, done as a newcomer would."""

import os
import re
import shutil
import subprocess
import sys

from lab.lint.rules.rule import RULES
from tests.kit.lab_process import ROOT

LAB = (sys.executable, "-P", "-c", "from lab.cli import main; main()")


def test_the_first_change_of_contributing_works(tmp_path):
    """The rule that it shows, in a copy of the lab, finds what it shows, in these words."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    command, output = re.search(r"lab (lint --select .*?)\n(.*?)```", page, re.DOTALL).groups()
    shutil.copytree(ROOT / "lab", tmp_path / "lab", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "lab/lint/rules/names.py").write_text(code)
    (tmp_path / "x.ini").write_text("[uwsgi]\nauto-procname = true\n")
    done = subprocess.run(
        [*LAB, *command.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == (output, 1)


def test_its_code_is_free():
    """A code that is taken would end the newcomer's first command."""
    assert "UW328" not in RULES
