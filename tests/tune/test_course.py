"""The course of a tune on a surface: what it hands out, and that a kill changes nothing of it."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace

import pytest

from lab.bench.store import environment
from lab.bench.trials import conduct, runner
from lab.bench.trials.runner import Silent
from lab.cli.options.execution import application, understand
from lab.cli.options.table import Job
from lab.cli.tune.blocks import Goal
from lab.cli.tune.climb import BACK
from lab.cli.tune.measure import Measurer, TuneState, nothing, state_of
from lab.cli.tune.moves import Facts, ground_of
from lab.cli.tune.picture import draw
from lab.cli.tune.report import as_text, rows
from lab.cli.tune.result import TuneResult
from lab.cli.tune.search import Search
from lab.config.configuration import Known
from lab.config.reading import read
from lab.config.uwsgi import is_on
from lab.config.uwsgi.steps import DIRECT, FRONT, KEPT
from lab.errors import UsageError
from lab.report.svg import standalone
from tests.kit import builders
from tests.tune.surfaces import Setting, Surface

INI = """\
[uwsgi]
http = 127.0.0.1:8000
module = shop
chdir = %d
processes = 2
threads = 2
master = true
"""
APP = """\
def application(environ, start_response):
    start_response("200 OK", [])
    return [b"hello"]
"""
NOISE, SECONDS = 0.01, 3.0
GOAL = Goal()


class Killed(BaseException):
    """What ends the process in the middle of a trial."""


class Machine:
    """Makes the trials of a surface, the same for the same slot; ends at one of them if told."""

    def __init__(self, surface):
        self.surface, self.made, self.ends_at = surface, 0, None
        self.changed = lambda made, _at: made
        """What a test has otherwise of a trial."""

    def run_together(self, plan, slots, _attempt, parts, _observer):
        """Return trials as `lab.bench.trials.runner.run_together` does."""
        return [self.trial(plan, slot, parts) for slot in slots]

    def trial(self, plan, slot, parts):
        """Return the trial of a slot."""
        self.made += 1
        if self.made == self.ends_at:
            raise Killed
        at = setting_of(slot.arm.profile.options)
        draw = random.Random(f"{plan.seed}/{slot.block}/{slot.arm.name}/{slot.arm.role}")
        rate = math.exp(self.surface.log_rate(at) + draw.gauss(0, NOISE))
        made = builders.paced(rate, self.surface.cost(at))
        readings = {**made.readings, "server.pss": self.surface.memory(at) * 1e6,
                    "server.cores": float(self.surface.cores)}  # fmt: skip
        began = 1.8e9 + SECONDS * (slot.block * len(plan.block) + slot.position)
        made = replace(made, slot=slot, digest=slot.arm.profile.digest, readings=readings,
                       environment=parts.environment, started_at=began)  # fmt: skip
        return self.changed(made, at)


def setting_of(options):
    """Return the point of a surface that options stand for."""
    values = dict(options)
    front = DIRECT if DIRECT in values else KEPT if "http-keepalive" in values else "http"
    return Setting(
        front,
        int(values["processes"]),
        int(values["threads"]),
        queue="listen" in values,
        logs="disable-logging" not in values,
        lock=is_on(values, "thunder-lock"),
    )


@pytest.fixture(scope="module")
def surroundings():
    """Return what a run depends on, which no test here changes."""
    return environment.read_environment()


@pytest.fixture
def machine(monkeypatch, surroundings):
    """Return a machine that waits: workers are what it lacks."""
    monkeypatch.setattr(environment, "read_environment", lambda: dict(surroundings))
    surface = Surface(3)
    surface.cores, surface.handler, surface.wait = 2, 400e-6, 0.02
    made = Machine(surface)
    monkeypatch.setattr(runner, "run_together", made.run_together)
    monkeypatch.setattr(conduct, "with_replies", lambda plan, *_: plan)
    return made


@pytest.fixture
def tune(tmp_path):
    """Return what tunes an ini, or goes on with it."""
    (tmp_path / "shop.py").write_text(APP)
    (tmp_path / "uwsgi.ini").write_text(INI)
    name = str(tmp_path / "uwsgi.ini")
    job = Job(profiles=(name,), window=2.0, warmup=0.5)
    ground = ground_of(name, read(name, Known()), cpus=2)

    def tuned(goal=GOAL, folder="tune", minutes=10.0, *, minimal=False, threads=True, cores=2):
        results = tmp_path / folder
        options = replace(understand(job).options, results=results, confirm=False)
        state = state_of(results) if results.exists() else TuneState(TuneState.FORMAT, "", {}, 7)

        def conducted(prepared, options, files):
            return conduct.conduct(prepared, options, Engine(), Silent(), files)

        made = Measurer(
            grounds={ground.program: ground},
            goal=goal,
            options=options,
            workloads={ground.program: application(job)},
            minutes=minutes,
            conducted=conducted,
            files=nothing,
            state=state,
        )
        facts = Facts(cores, 64, threads=threads)
        search = Search(made, facts, lambda _: True, frozenset(), minimal, lambda _: None)
        return search.discover()

    tuned.ground = ground
    return tuned


class Engine:
    """A generator that is never asked."""

    name = "engine"

    def hosts(self, _address):
        """Return no other machine."""
        return {}


def test_an_ini_whose_workers_are_asleep_gets_more_places(machine, tune):
    """The winner is proven by fresh trials, and each change taken back by itself."""
    discovery = tune()
    assert discovery.proven.better
    assert discovery.proven.comparison.ratio.value > 2
    assert int(discovery.proven.values["threads"]) > 2
    assert discovery.taken_back["threads"].ratio.value < 0.8


def test_what_is_handed_out_was_proved_by_trials_of_its_own(machine, tune):
    """None of them is one of the race's."""
    discovery = tune()
    profiles = {
        observation.trial.slot.arm.profile.name
        for observation in discovery.proven.summary.observations
    }
    assert profiles == {"uwsgi", "uwsgi~tuned"}


def test_the_picture_shows_what_raced_and_what_was_taken(machine, tune):
    """In words, too; none of it is claimed."""
    discovery = tune()
    tuned = TuneResult(
        {"uwsgi": tune.ground}, "throughput", discovery, "results/tune", "2026-11-26", {}
    )
    picture = draw(tuned)
    taken = [attempt for attempt in discovery.attempts if tuned.takes(attempt)]
    assert taken
    assert "as it was" not in map(tuned.settings_text, (attempt.values for attempt in taken))
    assert picture.description.count(", in the result") == len(taken)
    assert tuned.change(taken[0]) in picture.description
    back = [attempt for attempt in discovery.attempts if attempt.group == BACK]
    assert back
    for attempt in back:  # what was to be taken out is in the result
        assert "without" in tuned.change(attempt)
        assert not tuned.takes(attempt)
    outcomes = {row[1]: row[4] for row in rows(tuned)}
    assert all(outcomes[tuned.change(attempt)] == "not better" for attempt in back)
    for axes in picture.figure.axes:  # each is told from the others, in later races as well
        names = [text.get_text() for text in axes.get_yticklabels()]
        assert len({*names}) == len(names)
    assert standalone("effects", picture).startswith("<svg")


@pytest.mark.parametrize("threads", [True, False])
def test_many_processes_are_said_to_take_more_memory_than_threads(machine, tune, threads):
    """Where the application may run in threads, these are what is found."""
    discovery = tune(threads=threads)
    tuned = TuneResult(
        {"uwsgi": tune.ground}, "throughput", discovery, "results/tune", "2026-11-26", {}
    )
    assert discovery.proven.better
    assert bool(re.search("\nCheaper +--threads-safe", as_text(tuned))) is not threads


def test_a_change_above_the_limit_of_memory_is_not_taken(machine, tune):
    """It leaves the race at once, with the limit as its reason."""
    most = 1.2 * machine.surface.memory(setting_of_values({}))
    discovery = tune(Goal(memory=most * 1e6))
    assert discovery.proven.better
    assert machine.surface.memory(setting_of_values(discovery.proven.values)) <= most
    over = [attempt for attempt in discovery.attempts if "above" in attempt.why]
    assert over
    assert all(attempt.gain.blocks <= 2 for attempt in over)


def setting_of_values(values):
    """Return the point that values stand for, over the ini's."""
    return Setting("http", int(values.get("workers", 2)), int(values.get("threads", 2)),
                   queue=False, logs=True, lock=False)  # fmt: skip


def outcome(discovery):
    """Return what has to be the same, killed or not."""
    gains = [(attempt.step, dict(attempt.values), attempt.gain) for attempt in discovery.attempts]
    return discovery.proven.values, discovery.proven.comparison, gains, dict(discovery.taken_back)


@pytest.mark.costly
def test_a_tune_that_is_killed_and_resumed_comes_to_the_same(machine, tune):
    """In a race, in the proof, in the last step."""
    whole = outcome(tune(folder="whole"))
    made = machine.made
    for share in (0.2, 0.75, 0.97):
        machine.made, machine.ends_at = 0, max(2, int(share * made))
        with pytest.raises(Killed):
            tune(folder=f"killed at {share}")
        assert outcome(tune(folder=f"killed at {share}")) == whole
        assert machine.made <= made + 2  # what was measured is not measured again


def test_a_time_that_holds_no_tune_is_refused_with_the_least(machine, tune):
    """As soon as a trial's length is known: a race and a proof need some trials."""
    with pytest.raises(UsageError, match=r"--minutes 1 holds 20 trials .* needs 70: --minutes 4"):
        tune(minutes=1.0)
    assert machine.made == 4


def failing(made, when):
    """Return a trial whose server fails a tenth of its requests, where it is so."""
    window = replace(made.windows[0], errors={"status": made.windows[0].ok // 10})
    return replace(made, windows=(window,)) if when else made


def test_a_winner_whose_server_fails_is_not_handed_out(machine, tune):
    """However fast it is in the trials that count."""
    proof = {"tuned": 0}

    def every_second(made, _at):
        tuned = made.slot.arm.name.endswith("~tuned")
        proof["tuned"] += tuned
        return failing(made, tuned and proof["tuned"] % 2)

    machine.changed = every_second
    discovery = tune()
    assert not discovery.proven.better
    assert discovery.proven.broken.startswith("its server failed in ")


def test_changes_that_do_not_go_together_give_way_to_all_but_one(machine, tune):
    """As two that each hold a limit: the champion of both does not count, and nobody beats it."""
    surface = machine.surface
    surface.wait, surface.handler, surface.log = 0.0, 100e-6, 20e-6
    machine.changed = lambda made, at: failing(made, at.front == DIRECT and not at.logs)
    first, second, *_ = tune().rounds
    assert {FRONT, "access-log"} <= first.winner.keys()
    assert len({FRONT, "access-log"} & second.winner.keys()) == 1
    assert second.winner.items() < first.winner.items()
    assert second.winner.items() <= first.winner.items()


def test_a_p99_that_no_trial_tells_is_no_p99_that_is_kept(machine, tune):
    """It is refused at the first look, with what to do."""
    with pytest.raises(UsageError, match="a longer --window"):
        tune(Goal(p99=0.2))


def test_where_the_load_is_the_limit_cpu_decides(machine, tune):
    """What was measured of requests/s then is the load's."""

    def at_its_limit(made, _at):
        (window,) = made.windows
        return replace(made, windows=(replace(window, cpu=window.wall),))

    machine.changed = at_its_limit
    assert tune().proven.comparison.metric == "capacity"


def test_what_one_core_does_not_tell_is_said(machine, tune):
    """With the option that tries it all the same."""
    machine.surface.cores, machine.surface.wait = 1, 0.0
    discovery = tune(cores=1)
    tuned = TuneResult(
        {"uwsgi": tune.ground}, "throughput", discovery, "results/tune", "2026-11-26", {}
    )
    assert not [attempt for attempt in discovery.attempts if attempt.group == "workers"]
    assert "the server has one core here" in as_text(tuned)
    assert "--only workers" in as_text(tuned)
