"""Servers that end kept connections without a word: what of it counts against them."""

from __future__ import annotations

import pytest

from tests.hygiene.test_lies import last_trial, row
from tests.kit.lab_process import ROOT, run

# tests/load/test_kept_connections.py has the rule itself, on real sockets, by default.
pytestmark = pytest.mark.slow

SERVER = ROOT / "tests" / "hygiene" / "dropping.py"

SIZES = ("--workload", "hello", "--connections", "8", "--blocks", "1", "--window", "0.5",
         "--warmup", "0.1", "--no-confirm")  # fmt: skip

KINDS = {"kept": ("never", 0), "closes": ("close", 49), "resets": ("reset", 299),
         "once": ("behind", 1)}  # fmt: skip
"""Name -> how its connections end, and after how many replies."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of one run of them all."""
    folder = tmp_path_factory.mktemp("dropped")
    for name, (end, replies) in KINDS.items():
        (folder / f"{name}.toml").write_text(
            f'summary = "End connections: {end}"\nkeepalive = {str(name != "once").lower()}\n'
            f'run = [["{{python}}", "{SERVER}", "{{port}}", "{end}", "{replies}"]]\n'
        )
    done = run("lab", "run", *(str(folder / f"{name}.toml") for name in KINDS), *SIZES, cwd=folder)
    assert "Traceback" not in done.stderr, done.stderr
    return folder


@pytest.mark.parametrize(
    ("name", "kind", "withheld"),
    [("closes", "closed", {"p99", "cpu"}), ("resets", "reset", {"p99"})],
)
def test_requests_without_an_answer_are_errors_and_the_trial_is_not_valid(
    folder, name, kind, withheld
):
    """A connection in use has no excuse: one in 50 voids all figures, one in 300 the p99."""
    (window,) = last_trial(folder, name)["windows"]
    assert window["errors"].keys() == {kind}
    assert window["retried"] == 0
    # The last request of each connection, but for what the window's edges cut off.
    assert abs(window["errors"][kind] - window["ok"] / KINDS[name][1]) <= 8
    summary_row = row(folder, name)
    assert summary_row["valid"] == 0
    assert not withheld & summary_row["values"].keys()
    (finding,) = (
        candidate for candidate in summary_row["findings"] if candidate["gate"] == "errors"
    )
    assert f"{window['errors'][kind]:,} {kind}" in finding["reason"]
    assert withheld <= set(finding["withholds"])


def test_a_server_that_keeps_no_connection_loses_nothing(folder):
    """That it does not say so costs a request sent again now and then, and no trial."""
    (window,) = last_trial(folder, "once")["windows"]
    assert window["errors"] == {}
    assert "errors" not in {finding["gate"] for finding in row(folder, "once")["findings"]}


def test_a_server_that_keeps_them_has_nothing_sent_again(folder):
    """Nor any error."""
    (window,) = last_trial(folder, "kept")["windows"]
    assert (window["errors"], window["retried"]) == ({}, 0)
