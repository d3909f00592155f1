"""What a request costs, in instructions: exact enough to be a test."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "studies" / "instructions.py"


@pytest.mark.costly
def test_the_default_path_costs_what_is_stored():
    """At 9000 and at 100 digits the service takes the stored instructions a request, to 2 %."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--check"], capture_output=True, text=True, check=False
    )
    if done.returncode == 3:  # no valgrind, or figures of other builds of Python only
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
