"""Run `lab` in this process, where a test may change what it finds."""

import sys

import pytest

from lab.cli import main


def lab(monkeypatch, capsys, *words):
    """Return the exit status of a command, its output and its errors."""
    monkeypatch.setattr(sys, "argv", ["lab", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, *capsys.readouterr()
