"""What Locust's log says of trials."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.kit.lab_process import ROOT, environment

CODE = """
import logging
from dataclasses import replace
from types import SimpleNamespace
from locust.stats import RequestStats
from lab.analysis.gates.machine import MACHINE
from lab.locust.shape import _Rows
from lab.model.finding import Finding
from tests.kit import builders as make

logging.basicConfig(format="%(message)s", level="WARNING")
rows = _Rows(SimpleNamespace(stats=RequestStats(), runner=None), ["a", "b"], None)
trial = next(t for t in make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}).trials
             if t.slot.arm.name == "a" and t.slot.block == 0)
for withholds in (None, None, frozenset({"p99"}), frozenset()):
    finding = Finding(MACHINE, "other programs used 0.60 cores", "Stop other work.", withholds)
    rows.finished(replace(trial, windows=()), [finding])
"""
# In a process of its own: to import Locust patches the sockets of the one that does.

LOG = """\
01 a, block 1: this trial does not count: other programs used 0.60 cores. Stop other work.
01 a, block 1: this trial does not count: other programs used 0.60 cores
01 a, block 1: no p99: other programs used 0.60 cores
"""


@pytest.mark.costly
def test_a_finding_says_what_does_not_count_and_once_what_to_do():
    """A remark, which withholds nothing, stands in the report alone."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, env=environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.stderr == LOG
