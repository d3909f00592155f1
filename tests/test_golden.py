"""What `lab` prints for the stored runs, its commands and the examples of its rules."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import pytest

from tests.kit.golden import stored
from tools import golden

DIGESTS = Path(__file__).parent / "golden"


@pytest.fixture
def short():
    """Return a folder with a short name, which no message cuts."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.mark.parametrize("group", ["help", "report", "lint", "migrate"])
def test_the_outputs_are_as_stored(short, group):
    """
    Byte for byte: a change that only moves code is proved by this.

    Of reports what a terminal shows; tests/test_stored.py compares what is stored beside a run.
    """
    golden.write_examples(short / "examples")
    process = golden.started(golden.ROOT, short / "outputs", group, short / "examples")
    assert process.wait() == 0
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(short / 'outputs')}"
        for path in sorted((short / "outputs").glob("*/*"))
    ]
    path = DIGESTS / f"{group}.sha256"
    before = stored(path, "\n".join(lines) + "\n").splitlines()
    changed = sorted({line.split()[1] for line in set(lines) ^ set(before)})
    assert not changed, (
        f"{len(changed)} outputs changed: {', '.join(changed[:5])}. What changed prints "
        "`.venv/bin/python -m tools.golden COMMIT .`, COMMIT before yours; if it is meant, "
        f"`GOLDEN='{path.name}' .venv/bin/python -m pytest tests/test_golden.py` stores it."
    )
