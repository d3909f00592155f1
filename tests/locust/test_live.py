"""What the web UI is told of a comparison while it goes on."""

from __future__ import annotations

import json

import pytest

from tests.kit.lab_process import ROOT, run

CODE = """
import json
from dataclasses import replace
from lab.bench.trials.conduct import PreparedRun
from lab.locust import live as module
from lab.model.plan import Role
from lab.bench.trials.plan import arm_of
from tests.kit import builders as make

module.PAUSE_FACTOR = 0  # the builders' trials take no time

def begun(plan):
    return module.Live(PreparedRun(plan, {}, 60.0, None), ["lab", "run"], "engine")

def play(live, trials, look):
    for trial in trials:
        live.stage(trial.slot, 0, "start")
        live.finished(trial)
        look(live)

run = make.ladder_run(
    {"baseline": (2000, 4e-4), "tuned": (8000, 1e-4), "bare": (16000, 6e-5)}, blocks=5
)
*own, bare = run.plan.profiles
plan = make.altered(run.plan, profiles=(*own, replace(bare, reply="Pong!")))
ours = make.serving(replace(run, plan=plan), {"baseline": "a:b", "tuned": "c:d", "bare": "e:f"})
other = begun(ours.plan)
*most, last = run.trials
play(other, most, lambda live: None)
list(other.rows())  # what is asked for is computed at the end of the next trial
play(other, [last], lambda live: None)
watched, unwatched = begun(plan), begun(plan)
play(watched, run.trials, lambda live: (list(live.rows()), live.pages.get()))
play(unwatched, run.trials, lambda live: live.progress())
(page,) = watched.pages.get().values()

pair = make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}, blocks=2)
def at(trial, name, rate):
    arm = trial.slot.arm
    load = replace(arm.load, rate=rate)
    again = arm_of(arm.profile, arm.workload, load, {"rate": name})
    return replace(trial, slot=replace(trial.slot, arm=replace(again, role=arm.role)))
rates = {"50%": 1000.0, "80%": 1600.0}
trials = [at(trial, *rate) for trial in pair.trials for rate in rates.items()]
arms = {t.slot.arm.name: t.slot.arm for t in trials if t.slot.arm.role is Role.PROFILE}
several = begun(replace(pair.plan, arms=tuple(arms.values())))
play(several, trials, lambda live: (list(live.rows()), live.pages.get()))

print(json.dumps({
    "rows": list(watched.rows()),
    "other": list(other.rows()),
    "figures": list(watched.figures()),
    "progress": watched.progress(),
    "editions": [watched.conclusions.version, watched.pages.version],
    "unwatched": [unwatched.conclusions.version, unwatched.pages.version, unwatched.progress()],
    "page": page,
    "several": [[row["name"] for row in several.rows()], list(several.pages.get())],
}))
"""
# In a process of its own: to import Locust patches the sockets of the one that does.


@pytest.fixture(scope="module")
def told():
    """Return what was told of runs that were played."""
    done = run("python", "-c", CODE, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.costly
def test_a_reference_line_is_a_row_without_a_ratio(told):
    """It is measured and not compared: no step leads to it."""
    first, tuned, bare = told["rows"]
    assert first["cpu_ratio"].startswith("noise check ")
    assert tuned["cpu_ratio"].endswith("better")
    assert (bare["name"], bare["trials"]) == ("bare", "5 of 5")
    assert (bare["throughput_ratio"], bare["cpu_ratio"], bare["limited_by"]) == ("-", "-", "-")


def test_a_ratio_to_another_application_is_marked(told):
    """Who looks at the tab alone does not take it for the settings' doing."""
    assert tuple("another" in row["throughput_ratio"] for row in told["other"]) == (
        False, True, False,
    )  # fmt: skip
    assert told["other"][1]["cpu_ratio"].endswith("better, another application")
    assert not any("another" in str(row) for row in told["rows"])


def test_figures_are_in_full_or_absent(told):
    """For programs: no unit in a cell, and None where nothing is known."""
    _, tuned, bare = told["figures"]
    assert float(tuned["throughput [1/s]"]) == pytest.approx(8000, rel=0.05)
    assert tuned["cpu low"] < tuned["cpu ratio"] < tuned["cpu high"]
    assert (tuned["cpu n"], tuned["cpu verdict"]) == (5, "better")
    assert (bare["cpu ratio"], bare["cpu n"], bare["cpu verdict"]) == (None, None, None)


def test_rows_follow_each_trial_and_the_report_each_block(told):
    """The report is that of the whole blocks so far, so it does not say that the run ended."""
    assert told["editions"] == [20 - 1, 5 - 1]
    assert "4 blocks of 2 s" in told["page"]
    assert "Ended early" not in told["page"]


def test_nothing_is_computed_while_nobody_looks(told):
    """The process that would do it makes the load; what is left is known all the same."""
    assert told["unwatched"][:2] == [0, 0]
    assert told["unwatched"][2].startswith("20 of 20 trials, about ")


def test_several_rates_have_rows_and_pages_of_their_own(told):
    """Named after the rate, as the run's own files are."""
    rows, pages = told["several"]
    assert rows == ["a@50%", "b@50%", "a@80%", "b@80%"]
    assert pages == ["report.html", "report-50pct.html", "report-80pct.html"]
