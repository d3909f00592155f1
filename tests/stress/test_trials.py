"""Faults planted in real servers under load: what is done to them, and what is counted."""

import os
import re
import shutil
import signal

import pytest

from lab import profiles, run_tables
from lab.errors import UsageError
from lab.model import Load
from lab.servers import adapter
from lab.stress import counting, figure, planting, trial
from lab.stress.faults import FAULTS
from lab.stress.overlay import overlay, program
from lab.stress.result import read
from lab.stress.run import PROFILES, WAITING, choose
from lab.stress.trial import Pace, Setting, measure
from tests.lab_process import descendants, run, start, until

SHORT = Pace(before=0.3, after=0.3, whole=0.8)

needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")


@pytest.fixture(autouse=True)
def two_workers(monkeypatch):
    """As `lab stress` has it, on a machine of any size."""
    monkeypatch.setenv("PROCESSES", "2")


def plant(fault, profile, **load):
    """Return what clients felt of a fault."""
    (chosen,) = (each for each in FAULTS if each.name == fault)
    steady = Load(64, rate=50.0, timeout=load.get("timeout", 10.0))
    found = measure(chosen, profiles.read(profile), Setting(WAITING, steady, None, pace=SHORT))
    assert found.problem is None, found.problem
    return found


def test_without_a_fault_nothing_is_lost():
    """Nor wrong; a busy machine may be late."""
    found = plant("none", "tuned")
    assert (found.counts.lost, found.counts.wrong, found.replaced) == (0, 0, 0)
    assert found.counts.attempted >= 30
    assert found.planted == ()


def test_a_trial_that_was_disturbed_before_its_fault_is_made_again(monkeypatch):
    """So often at the most; what is late then is not the fault's doing."""
    monkeypatch.setattr(counting, "LATE", 0.001)  # 12 ms are late
    monkeypatch.setattr(trial, "REPEATS", 1)
    made = []
    monkeypatch.setattr(trial, "adapter", lambda profile: made.append(1) or adapter(profile))
    found = plant("none", "tuned")
    assert found.disturbed
    assert len(made) == 2


def test_killed_workers_are_replaced_and_what_they_did_is_lost(monkeypatch):
    """Of a server without a front: at most one request for each kill, and no other."""
    monkeypatch.setattr(planting, "KILLS", 2)
    monkeypatch.setattr(planting, "KILL_EVERY", 0.0)
    found = plant("kill", "tuned")
    assert found.replaced >= 2
    assert len(found.planted) == 2
    assert found.burst.attempted == 2 * planting.BUSY
    assert found.counts.lost <= 2
    assert set(found.counts.errors) <= {"closed", "reset"}


@needs_nginx
def test_behind_nginx_a_killed_worker_costs_nothing(monkeypatch):
    """The other instance answers what the dead one was at."""
    monkeypatch.setattr(planting, "KILLS", 2)
    monkeypatch.setattr(planting, "KILL_EVERY", 0.0)
    found = plant("kill", "production")
    assert found.replaced >= 2
    assert (found.counts.lost, found.counts.wrong) == (0, 0)


def test_a_server_that_dies_loses_every_later_request(monkeypatch):
    """Without a master nobody replaces the only worker; the trial ends all the same."""
    monkeypatch.setattr(planting, "REPLACEMENT", 0.3)
    found = plant("kill", "baseline", timeout=1.0)
    assert len(found.planted) == 1
    assert found.replaced == 0
    assert "0 of 1 killed workers were replaced; in the end there was none" in found.note
    assert found.steady.lost > 10
    assert sum(found.series.lost[:1]) == 0


def test_a_stopped_server_turns_clients_away():
    """Who is refused after the stop is not lost: a balancer would have asked another server."""
    found = plant("drain", "tuned")
    assert found.note == ""
    assert found.counts.wrong == 0
    assert found.counts.lost + found.counts.turned_away == sum(found.counts.errors.values())
    assert found.counts.turned_away == found.counts.errors.get("refused", 0)


def test_an_idle_server_reloads_without_a_loss():
    """SIGHUP to a uWSGI master: workers finish, and the socket stays open meanwhile."""
    found = plant("reload", "tuned")
    assert found.effect
    assert found.replaced == 2
    assert (found.counts.lost, found.counts.wrong) == (0, 0)


def test_without_a_master_no_worker_is_recycled(monkeypatch):
    """The option is obeyed by the master alone, and the table must not call that a success."""
    monkeypatch.setattr(planting, "LIFETIME", -3)
    found = plant("recycle", "baseline")
    assert not found.effect
    assert found.note.startswith("no worker was replaced")


def test_a_fault_of_uwsgi_is_not_possible_elsewhere():
    """It is said, and no server is started."""
    (chain,) = (each for each in FAULTS if each.name == "chain-reload")
    setting = Setting(WAITING, Load(64, rate=50.0), None, pace=SHORT)
    found = measure(chain, profiles.read("gunicorn-sync"), setting)
    assert not found.possible
    assert found.problem.startswith("not possible: an option of uWSGI")
    assert found.counts is None


def test_options_are_added_after_the_profile_s_own(tmp_path):
    """To the profile of a uWSGI, and to each uWSGI that a profile of several programs runs."""
    options = (("max-worker-lifetime", "3"), ("touch-chain-reload", "{folder}/file"))
    tuned = overlay(profiles.read("tuned"), options, tmp_path)
    *_, first, second = profiles.read(str(tuned.path)).options
    assert first == ("max-worker-lifetime", "3")
    assert second == ("touch-chain-reload", "{here}/file")
    both = overlay(profiles.read("production"), options, tmp_path)
    nginx, *instances = both.commands
    assert nginx == profiles.read("production").commands[0]
    assert [words[-1] for words in instances] == [str(tmp_path / "production.ini")] * 2
    assert program(instances[0]) == "uwsgi"


def test_the_control_is_always_among_the_faults():
    """Whatever is asked for; and what there is not is refused with what there is."""
    assert [fault.name for fault in choose(["kill"])] == ["none", "kill"]
    with pytest.raises(UsageError, match="no fault 'kil'; there are none, reload,"):
        choose(["kil"])


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    """Neither server nor generator; what was finished is printed."""
    lab = start("lab", "stress", "tuned", "--fault", "kill", cwd=tmp_path)
    until(lambda: len(descendants(lab.pid)) >= 4, "server and generator")
    below = descendants(lab.pid)
    os.kill(lab.pid, signal.SIGINT)
    assert lab.wait(timeout=30) == 130
    until(lambda: not [each for each in below if each.is_running()], "their end")


@pytest.mark.slow
def test_the_whole_command(tmp_path):
    """Table, stored result and figure of every fault on two profiles."""
    command = ("lab", "stress", "tuned", "baseline", "--output", "it.json", "--figure", "it.svg")
    done = run(*command, cwd=tmp_path, timeout=600)
    assert done.returncode in (0, 3), done.stderr
    found = read(tmp_path / "it.json")
    assert [profile.name for profile in found.profiles] == ["tuned", "baseline"]
    for profile in found.profiles:
        assert [each.fault for each in profile.outcomes] == list(found.faults)
        assert all(each.counts is not None for each in profile.outcomes)
    assert (tmp_path / "it.json").stat().st_size < 300_000
    assert "<svg" in (tmp_path / "it.svg").read_text()
    assert re.search(r"^kill +\S", done.stdout, re.MULTILINE)


def test_the_stored_figure_is_that_of_the_stored_result():
    """`lab report --readme` draws it again."""
    stored = read(run_tables.RUNS / "stress.json")
    assert (run_tables.IMAGES / "stress.svg").read_text() == figure.svg(stored)


def test_the_stored_result_can_be_believed():
    """Its controls are clean, no trial was disturbed, and it has all three profiles."""
    stored = read(run_tables.RUNS / "stress.json")
    assert stored.status() == 0
    assert stored.disturbed() == ()
    assert [profile.name for profile in stored.profiles] == list(PROFILES)
    assert list(stored.faults) == [fault.name for fault in FAULTS]
