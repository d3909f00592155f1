"""A copy of `lab` that a test extends by a module or a server, and runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.kit.lab_process import ROOT


def copied(tree: Path) -> Path:
    """Copy the package `lab` into a folder, and return the copy's `config`."""
    shutil.copytree(ROOT / "lab", tree / "lab", ignore=shutil.ignore_patterns("__pycache__"))
    return tree / "lab" / "config"


def runner(tree: Path, folder: Path) -> Callable[..., str]:
    """Return a function that runs the `lab` of *tree* in a folder, and returns what it prints."""

    def run(*words: str) -> str:
        code = "import sys; from lab.cli import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    return run
