"""A run that is ended from outside leaves no process behind and keeps every finished trial."""

from __future__ import annotations

import signal

import pytest

from tests.kit.lab_process import SMALL, alive, descendants, run, started, trials, until

SLOW = pytest.mark.slow
"""Some of them only: tests/hygiene/test_moments.py sends each signal at other moments."""


@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=SLOW) for name in ("SIGINT", "SIGTERM")), "SIGKILL"]
)
# Without and with a master process.
@pytest.mark.parametrize("profile", ["baseline", pytest.param("tuned", marks=SLOW)])
def test_nothing_is_left_and_nothing_measured_is_lost(tmp_path, monkeypatch, name, profile):
    """Whatever ends the lab, servers, generator and their files are gone within two seconds."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with started("lab", "run", profile, *SMALL, "--blocks", "50", cwd=tmp_path) as lab:
        until(lambda: len(trials(tmp_path)) >= 1, "the first trial")
        below = until(lambda: len(found := descendants(lab.pid)) >= 3 and found, "a server")
        lab.send_signal(getattr(signal, name))
        code = lab.wait(5)
        until(lambda: not alive(below), f"the end of {alive(below)}", 2.0)
    assert code == (-signal.SIGKILL if name == "SIGKILL" else 130)
    assert not list(temporary.iterdir())
    kept = trials(tmp_path)
    assert kept
    report = run("lab", "report", cwd=tmp_path)
    assert profile in report.stdout, report.stderr
