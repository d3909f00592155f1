"""A firewall that tracks connections, and has no room for more: its drops are no server's."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.analysis.gates import judge
from lab.analysis.gates.network import TRACKING
from lab.bench.store.folder import read_run
from tests.kit import tracked
from tests.kit.lab_process import BIN, ROOT
from tests.kit.namespaces import made_host, why_none

RULE = "iptables -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT"
LEFT = 2500
"""Entries for the lab's first connections; the load needs as many in half a second or in four."""
LARGE = 1 << 20
"""Entries of a table that takes too long to fill, and hundreds of MB."""


@pytest.fixture
def measured(tmp_path):
    """Return what measures tuned on a host of its own, and returns the run of its first trial."""
    if reason := why_none():
        pytest.skip(reason)
    if shutil.which("iptables") is None:
        pytest.skip("needs iptables: apt-get install iptables")
    if not Path("/proc/self/net/stat/nf_conntrack").exists():
        pytest.skip("this kernel tracks no connections, or does not count them in /proc/net/stat")
    if tracked.read("max") > LARGE:
        pytest.skip(f"the table has room for {tracked.read('max'):,} connections")

    def measure(*commands):
        with made_host("127.0.0.1") as host:
            for command in commands:
                words = [*host.inside, *command.split()]
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                if done.returncode:
                    pytest.skip(f"{command}: {done.stderr.strip()}")
            words = [*host.inside, str(BIN / "lab"), "run", "tuned", "--blocks", "1"]
            words += ["--warmup", "0.2", "--window", "4", "--connection", "close"]
            words += ["--results", str(tmp_path)]
            subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
        (trials,) = tmp_path.glob("*/trials.ndjson")
        # With a full table the next server cannot even be asked whether it is there.
        trials.write_text(trials.read_text().splitlines(keepends=True)[0])
        return trials.parent

    return measure


@pytest.mark.slow
def test_a_full_table_voids_the_trial(measured):
    """The reason names connection tracking, and the report says so."""
    folder = measured(RULE, f"{sys.executable} {ROOT / 'tests/kit/tracked.py'} {LEFT}")
    (trial,) = read_run(folder).trials
    assert trial.readings["tcp.conntrack_drop"] >= 1
    (finding,) = (finding for finding in judge(trial) if finding.gate is TRACKING)
    assert finding.withholds is None
    words = [BIN / "lab", "report", folder]
    report = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    assert "connection tracking" in report
    assert "net.netfilter.nf_conntrack_max" in report


@pytest.mark.slow
def test_without_the_rule_the_trial_counts(measured):
    """As many connections, on a host that tracks none."""
    (trial,) = read_run(measured()).trials
    assert trial.total("ok") > 0
    assert trial.readings["tcp.conntrack_drop"] == 0
    assert TRACKING not in {finding.gate for finding in judge(trial)}
