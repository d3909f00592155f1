"""What `lab` prints for the stored runs, its commands and the examples of its rules."""

from __future__ import annotations

import hashlib
import os
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tools import golden

DIGESTS = Path(__file__).parent / "golden"

FORMS = ("first", "full")
"""Forms of a report; of two others the stored ones are compared, in tests/test_stored.py."""


@pytest.mark.parametrize("group", ["help", "report", "lint", "migrate"])
def test_the_outputs_are_as_stored(tmp_path, monkeypatch, group):
    """Byte for byte: a change that only moves code is proved by this."""
    monkeypatch.chdir(tmp_path)
    for variable, value in golden.ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)
    golden.write_examples(tmp_path / "examples")
    lines = [
        f"{hashlib.sha256(golden.output(folder, words).encode()).hexdigest()}  {name}"
        for name, folder, words in golden.cases(golden.ROOT, [tmp_path / "examples"], FORMS)
        if name.startswith(f"{group}/")
    ]
    path = DIGESTS / f"{group}.sha256"
    if fnmatch(path.name, os.environ.get("GOLDEN", "")):
        path.write_text("\n".join(lines) + "\n")
    stored = path.read_text().splitlines()
    changed = sorted({line.split()[1] for line in set(lines) ^ set(stored)})
    assert not changed, (
        f"{len(changed)} outputs changed: {', '.join(changed[:5])}. What changed prints "
        "`.venv/bin/python -m tools.golden HEAD .`; if it is meant, "
        f"`GOLDEN='{path.name}' .venv/bin/python -m pytest tests/test_golden.py` stores it."
    )
