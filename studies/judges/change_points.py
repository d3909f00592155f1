"""
Change points, by Apache Otava, in an environment of its own.

    python3 -m venv .judges && .judges/bin/pip install --require-hashes -r requirements/judges.txt

It is maintained (0.8 of May 2026) and wants an older numpy than the lab's tests have, so it runs as
a program beside: `detect.py`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from lab.errors import LabError

BASE, HEAD = 20, 10
"""Trials: a history of the old version, and the new one's."""

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".judges" / "bin" / "python"
DETECT = Path(__file__).with_name("detect.py")

INSTALLING = (
    "python3 -m venv .judges && .judges/bin/pip install --require-hashes -r requirements/judges.txt"
)


class Otava:
    """A running Otava, asked a line at a time."""

    def __init__(self, python: Path = PYTHON) -> None:
        """
        Start it.

        Raises:
            LabError: Its environment was not made.
        """
        if not python.exists():
            raise LabError(
                f"Apache Otava is not installed; make its environment:\n    {INSTALLING}"
            )
        self._process = subprocess.Popen(
            (str(python), "-I", str(DETECT)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._process.communicate()

    def worse(self, base: Sequence[float], head: Sequence[float]) -> bool:
        """
        Return whether costs change for the worse where the head begins.

        By the defaults of `otava analyze`: windows of 50, p below 0.001, any magnitude. Source:
        Apache Otava 0.8, docs/BASICS.md, and docs/MATH.md.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([[*base], [*head]]) + "\n")
        self._process.stdin.flush()
        return bool(json.loads(self._process.stdout.readline()))
