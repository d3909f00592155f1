"""Faults planted in real servers under load: what is done to them, and what is counted."""

import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lab.bench import profiles
from lab.bench.machine.programs import find_command
from lab.bench.servers.runner import ServerRunner
from lab.bench.store.folder import read_json
from lab.bench.trials import runner
from lab.bench.trials.plan import arm_of
from lab.cli.stress import counting, faults, target, trial
from lab.cli.stress import run as stress_run
from lab.cli.stress.faults import FAULTS
from lab.cli.stress.overlay import can_be_added, overlay
from lab.cli.stress.result import Counts, FaultOutcome, StressResult
from lab.cli.stress.run import PROFILES, WAITING, Wishes, choose, stress
from lab.cli.stress.target import program
from lab.cli.stress.trial import measure
from lab.errors import Interrupted, ResultsError, UsageError
from lab.model.plan import Load
from lab.model.profile import PrivateCopy
from tests.kit import builders as make
from tests.kit.lab_process import descendants, run, started, until
from tests.kit.uwsgi_options import confirmed
from tools.pages.files import RUNS

from .conftest import CLEAN
from .planted import FREE, SHORT, plant, trial_of

needs_nginx = pytest.mark.skipif(find_command("nginx") is None, reason="nginx is not installed")


@pytest.fixture
def twice(monkeypatch):
    """Kill two workers, the second one at once."""
    monkeypatch.setattr(faults, "KILLS", 2)
    monkeypatch.setattr(faults, "KILL_EVERY", 0.0)


def test_without_a_fault_nothing_is_lost():
    """Nor wrong; a busy machine may be late."""
    outcome = plant("none", "tuned")
    assert (outcome.counts.lost, outcome.counts.wrong, outcome.replaced) == (0, 0, 0)
    assert outcome.killed is None
    assert outcome.counts.attempted >= 15
    assert outcome.planted == ()


@pytest.mark.slow
def test_a_trial_that_was_disturbed_before_its_fault_is_made_again(monkeypatch):
    """So often at the most; what is late then is not the fault's doing."""
    monkeypatch.setattr(counting, "LATE", 0.001)  # 12 ms are late
    monkeypatch.setattr(runner, "REPEATS", 1)
    made = []
    monkeypatch.setattr(trial, "ServerRunner", lambda: made.append(1) or ServerRunner())
    outcome = plant("none", "tuned")
    assert outcome.disturbed
    assert len(made) == 2


@pytest.mark.slow
def test_killed_workers_are_replaced_and_what_they_did_is_lost(twice):
    """Of a server without a front: at most one request for each kill, and no other."""
    outcome = plant("kill", "tuned")
    assert (outcome.replaced, outcome.killed, len(outcome.planted)) == (2, 2, 2)
    assert outcome.burst.attempted == 2 * faults.BUSY
    assert 1 <= outcome.counts.lost <= 2
    assert sum(outcome.series.lost) == outcome.counts.lost
    assert set(outcome.counts.errors) <= {"closed", "reset"}


@pytest.mark.slow
@needs_nginx
def test_behind_nginx_a_killed_worker_costs_nothing(monkeypatch):
    """The other instance answers what the dead one was at."""
    monkeypatch.setattr(faults, "KILLS", 1)
    outcome = plant("kill", "production")
    assert (outcome.replaced, outcome.killed) == (1, 1)
    assert (outcome.counts.lost, outcome.counts.wrong) == (0, 0)


@pytest.mark.costly
def test_a_server_that_dies_loses_every_later_request(monkeypatch):
    """Without a master nobody replaces the only worker; the trial ends all the same."""
    monkeypatch.setattr(faults, "REPLACEMENT", 0.3)
    outcome = plant("kill", "baseline", timeout=1.0)
    assert len(outcome.planted) == 1
    assert (outcome.replaced, outcome.killed) == (0, 1)
    assert "no worker was left at the end" in outcome.note
    assert outcome.steady.lost > 10
    assert outcome.series.at[0] < outcome.planted[0]
    assert outcome.series.lost[0] == 0


def test_a_stopped_server_turns_clients_away():
    """Who is refused after the stop is not lost: a balancer would have asked another server."""
    outcome = plant("drain", "baseline")
    assert outcome.note == ""
    (stop,) = outcome.planted
    assert outcome.series.at[0] < stop
    assert outcome.series.turned_away[0] == 0
    assert outcome.counts.turned_away > 0
    assert outcome.series.at[-1] >= round(stop + SHORT.stopped, 3)
    assert "unfinished" not in outcome.counts.errors


@pytest.mark.slow
def test_a_server_in_use_reloads_without_a_loss():
    """SIGHUP to a uWSGI master: workers finish, and the socket stays open meanwhile."""
    outcome = plant("reload", "tuned")
    assert outcome.effect
    assert outcome.replaced == 2
    assert (outcome.counts.lost, outcome.counts.wrong) == (0, 0)


def test_without_a_master_no_worker_is_recycled():
    """The option is obeyed by the master alone, and the table must not call that a success."""
    outcome = trial_of("recycle", "baseline")
    assert not outcome.possible
    assert outcome.problem == "not possible: only a master does it, and there is none"


@pytest.mark.slow
def test_where_the_log_names_no_worker_the_children_are_meant(monkeypatch):
    """As of any other server; how many came in the end is then unknown, and not 0."""
    monkeypatch.setattr(target, "_SPAWNED", re.compile("no such line"))
    monkeypatch.setattr(faults, "KILLS", 1)
    outcome = plant("kill", "tuned")
    assert outcome.effect
    assert (outcome.replaced, outcome.killed) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["chain-reload", "recycle"])
def test_workers_of_an_ini_that_logs_elsewhere_are_found(tmp_path, fault):
    """The copy that is tested logs to where the lab reads."""
    ini = tmp_path / "elsewhere.ini"
    tuned = profiles.read("tuned").path
    ini.write_text(f"[uwsgi]\nini = {tuned}\nlogto2 = {tmp_path / 'log'}\n")
    outcome = plant(fault, str(ini))
    assert (outcome.effect, outcome.note, outcome.replaced) == (True, "", 2)


def test_an_application_that_is_wrong_at_times_is_tried_once(tmp_path):
    """It would be so again; what is felt of a fault then is not the fault's."""
    (tmp_path / "at_times.py").write_text(
        "import itertools\n"
        "asked = itertools.count()\n"
        "def app(environ, start_response):\n"
        "    bad = next(asked) % 3 == 2\n"
        "    start_response('500 Bad' if bad else '200 OK', [('Content-Length', '3')])\n"
        "    return [b'12\\n']\n"
    )
    (control, *_) = FAULTS
    subject = replace(WAITING, app="at_times:app", apps={}, chdir=tmp_path)
    outcome = measure(
        control, arm_of(profiles.read("baseline"), subject, Load(64, rate=50.0)), FREE
    )
    assert outcome.counts.wrong > 0
    assert outcome.disturbed
    assert outcome.tries == 1


@pytest.mark.slow
def test_a_burst_that_is_over_too_early_proves_nothing(monkeypatch):
    """An application that answers at once has no request in flight when its server is stopped."""
    monkeypatch.setattr(target, "HEAD_START", 0.6)
    outcome = plant("drain", "baseline")
    assert outcome.note == "no request of the burst was in flight: ask for what takes longer"
    assert outcome.idle
    # Of the steady load one request may have been.
    assert outcome.effect is not outcome.counts.clean


def test_the_accept_queue_needs_an_answer_that_takes_no_time():
    """With any other it would be the workers that clients wait for."""
    outcome = trial_of("accept-queue", "tuned")
    assert not outcome.possible
    assert outcome.problem.endswith("it needs a path that is known to take no time")


def test_a_trial_that_fails_keeps_the_end_of_the_log():
    """The reason is the server's own; the first line alone would not tell it."""
    (none, *_) = FAULTS
    broken = replace(WAITING, app="app.no_such_module:app", apps={})
    outcome = measure(none, arm_of(profiles.read("tuned"), broken, Load(64, rate=50.0)), FREE)
    assert outcome.problem == "failed: ModuleNotFoundError: No module named 'app.no_such_module'"
    assert "No module named 'app.no_such_module'" in outcome.log


def test_each_request_that_can_be_under_way_has_a_connection(monkeypatch):
    """With fewer, those that are due would queue in the generator while a server hangs."""
    loads = []

    def measured(fault, arm, _conditions):
        loads.append(arm.load)
        return FaultOutcome(fault.name, problem="x")

    monkeypatch.setattr(stress_run, "measure", measured)
    stress(Wishes(profiles=("tuned",), faults=("none",)), Console(quiet=True), lambda _: None)
    (load,) = loads
    assert load.connections >= load.rate * load.timeout


def test_a_fault_of_uwsgi_is_not_possible_elsewhere():
    """It is said, and no server is started."""
    outcome = trial_of("chain-reload", "gunicorn-sync")
    assert not outcome.possible
    assert outcome.problem.startswith("not possible: it adds options to an ini of uWSGI")
    assert outcome.counts is None


def test_a_uwsgi_without_a_file_takes_no_options():
    """There is nowhere to write them."""
    production = profiles.read("production")
    bare = make.started_by(production, ("uwsgi", "--http-socket", ":{port}", "--ini=a.ini"))
    assert not can_be_added(bare)
    assert can_be_added(production)
    assert can_be_added(profiles.read("tuned"))


@pytest.mark.slow
def test_a_peer_replaces_a_killed_worker(twice):
    """Its workers are the children of its command; no log names them."""
    outcome = plant("kill", "gunicorn-sync")
    assert outcome.effect
    assert (outcome.replaced, outcome.killed, len(outcome.planted)) == (2, 2, 2)


def test_a_server_that_ends_with_its_worker_has_replaced_none(monkeypatch):
    """granian without --respawn-failed-workers: its master serves nobody, and is no new worker."""
    monkeypatch.setattr(faults, "REPLACEMENT", 0.5)
    outcome = plant("kill", "granian-asgi", timeout=1.0)
    assert (outcome.replaced, outcome.killed) == (0, 1)
    assert "no worker was left at the end" in outcome.note


@pytest.mark.slow
def test_an_event_loop_is_reloaded_with_requests_in_flight():
    """It waits for all of the burst at once, so they have to take longer than the head start."""
    outcome = plant("reload", "uvicorn")
    assert (outcome.effect, outcome.idle, outcome.note) == (True, False, "")


@pytest.mark.slow
def test_a_peer_is_drained():
    """It ends when it is asked to, and turns away who comes later."""
    outcome = plant("drain", "gunicorn-sync")
    assert outcome.note == ""
    assert outcome.counts.turned_away > 0


def test_options_are_added_after_the_profile_s_own(tmp_path):
    """To the profile of a uWSGI, and to each uWSGI that a profile of several programs runs."""
    options = (("max-worker-lifetime", "3"), ("touch-chain-reload", "{folder}/file"))
    tuned = overlay(profiles.read("tuned"), options, tmp_path)
    *_, first, second = confirmed(tuned.path)
    assert first == ("max-worker-lifetime", "3")
    assert second == ("touch-chain-reload", "{here}/file")
    mine = replace(profiles.read("tuned"), private_copy=PrivateCopy())
    assert overlay(mine, options, tmp_path).options == (*mine.options, *options)
    both = overlay(profiles.read("production"), options, tmp_path)
    nginx, *instances = both.commands
    assert nginx == profiles.read("production").commands[0]
    paths = [str(tmp_path / f"{index}-production.ini") for index in (1, 2)]
    assert [words[-1] for words in instances] == paths
    assert program(instances[0]) == "uwsgi"


def test_a_file_in_the_trial_s_folder_is_found(tmp_path):
    """One that the profile fills in; the changed one has another name."""
    filled = make.started_by(profiles.read("production"), ("uwsgi", "{folder}/a.ini"))
    ((_, path),) = overlay(filled, (("processes", "3"),), tmp_path).commands
    assert path == str(tmp_path / "0-a.ini")
    assert f"ini = {tmp_path / 'a.ini'}\n" in Path(path).read_text()


def test_the_control_is_always_among_the_faults():
    """Whatever is asked for; and what there is not is refused with what there is."""
    assert [fault.name for fault in choose(["kill"])] == ["none", "kill"]
    with pytest.raises(UsageError, match="no fault 'kil'; there are none, reload,"):
        choose(["kil"])


@pytest.mark.costly
def test_ctrl_c_leaves_nothing_behind_and_prints_what_was_finished(tmp_path):
    """Neither server nor generator; a table with the first row, and no word against the machine."""
    short = (
        "import sys; from functools import partial; import lab.cli, lab.cli.stress.command as door;"
        "from lab.cli.stress.trial import Pace;"
        "door.Wishes = partial(door.Wishes, pace=Pace(0.2, 0.2, 0.4));"
        "sys.argv = ['lab', 'stress', 'tuned', '--fault', 'kill']; lab.cli.main()"
    )
    output = tmp_path / "output"
    with started("python", "-c", short, cwd=tmp_path) as lab:
        until(lambda: "none on tuned: " in output.read_text(), "the first trial")
        until(lambda: len(descendants(lab.pid)) >= 4, "server and generator")
        below = descendants(lab.pid)
        os.kill(lab.pid, signal.SIGINT)
        assert lab.wait(timeout=30) == 130
    until(lambda: not [process for process in below if process.is_running()], "their end")
    table = output.read_text().partition("Effect on clients")[2]
    assert re.search(r"^none +\S.* of \d+, ", table, re.MULTILINE)
    assert "interrupted by SIGINT; 1 trial finished, only shown above (no --output)" in table


def test_an_error_while_keeping_does_not_hide_what_ended_the_test(monkeypatch):
    """Both are said, the first one first."""
    made = iter([FaultOutcome("none", problem="x")])

    def measured(*_):
        for outcome in made:
            return outcome
        raise Interrupted("SIGINT")

    def keep(_result):
        raise ResultsError("it.json", "cannot be written")

    monkeypatch.setattr(stress_run, "measure", measured)
    with pytest.raises(Interrupted) as raised:
        stress(Wishes(profiles=("tuned",)), Console(quiet=True), keep)
    assert raised.value.__notes__ == ["lab: it.json: cannot be written"]


@pytest.fixture
def answers(monkeypatch):
    """Let every trial end at once with these counts; return which were made."""
    made = []

    def give(control, other):
        def measured(fault, arm, _conditions):
            made.append((fault.name, arm.name))
            return FaultOutcome(fault.name, steady=control if fault.name == "none" else other)

        monkeypatch.setattr(stress_run, "measure", measured)
        return made

    return give


@pytest.mark.parametrize("felt", [Counts(9, 1, 0, 0), Counts(9, 0, 1, 0), Counts(9, 0, 0, 1)])
def test_without_a_clean_control_no_fault_is_tried(answers, felt):
    """Its row would mean nothing, and take ten seconds or more."""
    made = answers(felt, CLEAN)
    wishes = Wishes(profiles=("tuned",), faults=("kill", "drain"))
    stress_result = stress(wishes, Console(quiet=True), lambda _: None)
    assert made == [("none", "tuned")]
    (tuned,) = stress_result.profiles
    assert [outcome.fault for outcome in tuned.outcomes] == ["none", "kill", "drain"]
    assert [outcome.made for outcome in tuned.outcomes] == [True, False, False]


def test_a_clean_control_lets_the_faults_be_tried(answers):
    """Whatever another fault did."""
    made = answers(CLEAN, Counts(9, 9, 0, 0))
    wishes = Wishes(profiles=("tuned",), faults=("kill", "drain"))
    stress(wishes, Console(quiet=True), lambda _: None)
    assert [fault for fault, _ in made] == ["none", "kill", "drain"]


@pytest.mark.slow
@pytest.mark.timeout(660)
def test_the_whole_command(tmp_path):
    """Table, stored result and figure of every fault on two profiles."""
    command = ("lab", "stress", "tuned", "baseline", "--output", "it.json", "--figure", "it.svg")
    done = run(*command, cwd=tmp_path, timeout=600)
    assert done.returncode in (0, 3), done.stderr
    stress_result = read_json(tmp_path / "it.json", StressResult)
    assert [profile.name for profile in stress_result.profiles] == ["tuned", "baseline"]
    for profile in stress_result.profiles:
        assert [outcome.fault for outcome in profile.outcomes] == list(stress_result.faults)
        assert all(
            outcome.counts is not None or not outcome.possible for outcome in profile.outcomes
        )
    assert (tmp_path / "it.json").stat().st_size < 300_000
    assert "<svg" in (tmp_path / "it.svg").read_text()
    assert re.search(r"^kill +\S", done.stdout, re.MULTILINE)


def test_the_stored_result_can_be_believed():
    """Its controls are clean, no trial was disturbed, and it begins with the usual profiles."""
    today = {fault.name: fault.summary for fault in FAULTS}
    stored = read_json(RUNS / "stress.json", StressResult)
    assert stored.status() == 0
    assert stored.disturbed() == ()
    assert [profile.name for profile in stored.profiles][: len(PROFILES)] == list(PROFILES)
    assert stored.faults == today


@pytest.mark.parametrize("profile", ["production", "tuned"])
def test_the_stored_recycling_is_of_one_generation(profile):
    """Every worker came to its end once, and the load was over before the next end."""
    outcome = read_json(RUNS / "stress.json", StressResult).outcome(profile, "recycle")
    assert outcome.replaced == len(outcome.planted) >= 2
    first, last = outcome.planted[0], outcome.planted[-1]
    assert last - first <= faults.TURNS
    assert outcome.series.at[-1] < first + faults.LIFETIME
    felt = [
        at
        for at, slowest in zip(outcome.series.at, outcome.series.slowest, strict=True)
        if slowest is not None and slowest >= counting.LATE
    ]
    assert all(first <= at <= last + 3.0 for at in felt)


def test_the_stored_faults_were_felt_where_nothing_protects_from_them():
    """A fault that hurts nobody may not have been planted at all."""
    stored = read_json(RUNS / "stress.json", StressResult)
    assert stored.outcome("tuned", "slow-clients").counts.late > 0
    assert stored.outcome("tuned", "kill").counts.lost > 0
    assert stored.outcome("baseline", "reload").counts.lost > 0
    assert not stored.outcome("baseline", "recycle").possible
