"""Backing services in a run: asked before each trial, started again, recorded."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from lab.bench.load.process import EngineGenerator
from lab.bench.machine import project
from lab.bench.profiles.backing import read
from lab.bench.store.folder import read_run
from lab.bench.trials import runner
from lab.bench.trials.conduct import Measurement, conduct, prepare
from lab.bench.trials.runner import Silent, run
from lab.errors import BackingError
from lab.model.backing import BackingRole
from lab.model.plan import Load
from lab.model.request import Expectation
from lab.model.sizes import Sizes
from lab.model.workload import Workload
from tests.kit.lab_process import descendants
from tests.kit.scripted import Script, plan

OUTBOUND = Workload(
    "outbound-fast",
    "/",
    Expectation(body=b"Pong!"),
    app="loadtests.workloads.outbound:app",
    backing=("upstream",),
    words=(("delay", "0"),),
)


class Scripted:
    """A backing service that writes down when it is asked, and says what it is told to."""

    pid = 77
    service = read(project.backing() / "upstream.toml")

    def __init__(self, script, *answers):
        self.script = script
        self.answers = list(answers)

    def check(self):
        """Answer as told."""
        self.script.events.append("ask the upstream")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def made(script, *answers):
    """Run a plan of one profile, twice in its block, with a service that answers so."""
    service = Scripted(script, *answers)
    parts = replace(script.parts(), backing=(service,))
    run(plan("a"), parts, script)


def test_it_is_asked_before_each_server_starts():
    """And the trial that had a new one says so, and counts."""
    script = Script()
    made(script, False, True)
    indices = [i for i, event in enumerate(script.events) if event == "ask the upstream"]
    assert [script.events[i + 1].split(" on ")[0] for i in indices] == ["start a", "start a"]
    assert [trial.facts.get("restarted") for trial in script.trials] == [None, "upstream"]
    assert all(trial.windows for trial in script.trials)


def test_probes_are_told_of_it():
    """Its processes, and what they are for."""
    script, subjects = Script(), []
    parts = replace(script.parts(), backing=(Scripted(script, False),))
    parts = replace(parts, facts=lambda subject: subjects.append(subject) or {})
    the_plan = plan("a")
    runner.run_trial(the_plan, runner.Slot(0, 0, the_plan.arms[0]), 0, parts, Silent())
    assert subjects[0].backing == ((77, BackingRole.UPSTREAM),)


def test_one_that_does_not_come_back_ends_the_run():
    """What was measured is recorded; the servers that need it are not blamed."""
    script = Script()
    with pytest.raises(BackingError, match="backing service upstream: gone"):
        made(script, False, BackingError("upstream", "gone", "its log"))
    assert len(script.trials) == 1


class Killing(Silent):
    """Kills the upstream after the first trial."""

    def __init__(self):
        self.pids = []

    def finished(self, trial, findings):
        """Kill it once."""
        ours = [] if self.pids else descendants(os.getpid())
        for process in ours:
            if str(project.backing() / "upstream.py") in process.cmdline():
                self.pids.append(process.pid)
                process.kill()


@pytest.mark.costly
def test_an_upstream_that_is_killed_is_there_in_the_next_trial(tmp_path, monkeypatch):
    """Of a whole run: its servers ask it, its folder names it, and no trial is lost."""
    monkeypatch.setattr(runner, "REPEATS", 0)
    options = Measurement(
        profiles=("tuned",),
        load=Load(connections=4),
        sizes=Sizes(blocks=1, window=0.3, warmup=0.1),
        results=tmp_path,
        confirm=False,
    )
    prepared, killing = prepare(options, OUTBOUND), Killing()
    outcome = conduct(prepared, options, EngineGenerator(), killing, lambda _found: ())
    assert len(killing.pids) == 1
    the_run = read_run(outcome.folder)
    assert [trial.facts.get("restarted") for trial in the_run.trials] == [None, "upstream"]
    for trial in the_run.trials:
        assert trial.total("ok") > 0
        assert trial.windows[0].errors == {}
        assert 0 < trial.readings["upstream.busiest"] <= 1
    stored = json.loads((outcome.folder / "run.json").read_text())["plan"]["backing"]
    assert [service["name"] for service in stored] == ["upstream"]
    assert stored[0]["release"].startswith("Python 3")
    assert stored[0]["digest"] == read(project.backing() / "upstream.toml").digest
