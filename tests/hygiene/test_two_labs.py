"""Several labs on one machine at once: slower, and never mixed."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from tests.hygiene.conftest import write_peer
from tests.kit.lab_process import started

SIZES = ("--connections", "4", "--blocks", "1", "--window", "0.1", "--warmup", "0.1", "--app",
         "any:app")  # fmt: skip


@pytest.mark.slow
def test_labs_at_once_do_not_mix(tmp_path):
    """
    Two in one folder and one in another: each has its own run, of replies of its own servers.

    Each lab's servers answer with that lab's name, and it takes nothing else for right. A port that
    two servers shared would refuse the second, or give its replies to the wrong lab.
    """
    names = {"first": tmp_path, "second": tmp_path, "third": tmp_path / "other"}
    (tmp_path / "other").mkdir()
    labs = []
    with ExitStack() as stack:
        for name, folder in names.items():
            peer = write_peer(tmp_path / name, "none", body=f"I-am-{name}")
            wishes = (peer, *SIZES, "--check", f"^I-am-{name}$")
            labs.append(stack.enter_context(started("lab", "run", *wishes, cwd=folder)))
        assert {lab.wait(60) for lab in labs} <= {0, 3}
    runs = list(tmp_path.glob("results/*")) + list(tmp_path.glob("other/results/*"))
    assert len(runs) == 3
    owners = set()
    for folder in runs:
        header = json.loads((folder / "run.json").read_text())
        (owner,) = (name for name in names if f"^I-am-{name}$" in header["command"])
        owners.add(owner)
        assert header["plan"]["arms"][0]["profile"]["path"] == str(tmp_path / owner / "none.toml")
        lines = [json.loads(line) for line in (folder / "trials.ndjson").read_text().splitlines()]
        assert sum(trial["attempt"] == 0 for trial in lines) == 2
        for trial in lines:
            assert trial["failure"] is None
            (window,) = trial["windows"]
            assert window["ok"] > 0
            assert window["errors"] == {}
        assert (folder / "report.md").exists()
    assert owners == set(names)
