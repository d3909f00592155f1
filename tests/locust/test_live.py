"""The table of profiles while a comparison goes on."""

from __future__ import annotations

import json

from tests.kit.lab_process import ROOT, run

CODE = """
import json
from dataclasses import replace
from lab.experiment import Prepared
from lab.locust.live import Live
from tests.kit import builders as make

run = make.ladder_run({"baseline": (2000, 4e-4), "tuned": (8000, 1e-4), "bare": (16000, 6e-5)})
*own, bare = run.plan.profiles
plan = make.altered(run.plan, profiles=(*own, replace(bare, reply="Pong!")))
live = Live(Prepared(plan, {}, 60.0, None), ["lab", "run"], "engine")
for trial in run.trials:
    live.finished(trial)
print(json.dumps(list(live.rows())))
"""
# In a process of its own: to import Locust patches the sockets of the one that does.


def test_a_reference_line_is_a_row_without_a_ratio():
    """It is measured and not compared: no step leads to it."""
    done = run("python", "-c", CODE, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    first, tuned, bare = json.loads(done.stdout)
    assert first["cpu_ratio"].startswith("A/A")
    assert tuned["cpu_ratio"].endswith("better")
    assert (bare["name"], bare["trials"]) == ("bare", "10 of 10")
    assert (bare["throughput_ratio"], bare["cpu_ratio"], bare["limited_by"]) == ("-", "-", "-")
