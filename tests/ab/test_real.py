"""Two versions of somebody else's application, from the package index."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.ab.test_ab import SMALL, ab

TOGETHER = ("flask<2.4", "werkzeug<2.4")
"""The last of which httpbin 0.10.0 can be imported."""


@pytest.mark.slow
def test_two_environments_are_compared_and_what_differs_is_listed(tmp_path):
    """By --python twice, with one folder for both."""
    for version in ("0.10.0", "0.10.2"):
        place = tmp_path / version
        subprocess.run((sys.executable, "-m", "venv", place), check=True)
        done = subprocess.run(
            (place / "bin" / "pip", "install", "-q", f"httpbin=={version}", *TOGETHER),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if "No matching distribution" in done.stderr:
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stderr
    done = ab(tmp_path, ".", ".", "--python", "0.10.0", "--python", "0.10.2",
              "--app", "httpbin:app", "--path", "/html", *SMALL[2:])  # fmt: skip
    assert done.returncode in {0, 3}, done.stderr
    assert "old: . with 0.10.0; new: . with 0.10.2\n" in done.stderr
    assert "httpbin 0.10.0 -> 0.10.2" in done.stderr
