"""--bind: where the servers of a run listen."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from lab.bench import profiles
from lab.bench.trials import hosts
from lab.bench.trials.announcement import announcement
from lab.bench.trials.conduct import Measurement, prepare
from lab.bench.workloads import workload
from lab.cli.options.execution import application
from lab.cli.options.table import Job
from lab.errors import ProfileError, UsageError
from lab.model.runtime import LOOPBACK
from tests.kit.lab_process import ROOT, SMALL, compare, run, trials
from tests.kit.running import running

FIB = workload("fib")
ELSEWHERE = replace(FIB, runtime=replace(FIB.runtime, bind="127.0.0.2"))


@pytest.mark.parametrize("name", ["baseline", "tuned", "listen"])
def test_servers_listen_there_and_nowhere_else(name):
    """Whichever front end they have."""
    with running(name, ELSEWHERE) as server:
        assert server.address[0] == "127.0.0.2"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, server.address[1]), 5.0).close()


@pytest.mark.slow
def test_a_run_of_the_lab_is_loaded_there(tmp_path):
    """Its trials are those of any other run, and the command that repeats it says where."""
    compare("lab", "run", "tuned", "--bind", "127.0.0.2", *SMALL, cwd=tmp_path)
    assert all(trial["windows"] for trial in trials(tmp_path))


def test_a_profile_that_would_listen_on_loopback_anyway_is_refused(tmp_path):
    """And told how to obey."""
    ini = tmp_path / "mine.ini"
    ini.write_text(
        f"[uwsgi]\nhttp-socket = 127.0.0.1:$(PORT)\nchdir = {ROOT}\nmodule = app.wsgi:app\n"
    )
    with (
        pytest.raises(ProfileError, match=r"does not obey BIND; write `http-socket = \$\(BIND\)"),
        running(profiles.read(str(ini)), ELSEWHERE),
    ):
        pass


@pytest.mark.parametrize(
    "text",
    ["here", "0.0.0.0", "::1", "127.0.0.1:80", "224.0.0.1", "ff02::1", "255.255.255.255"],
)
def test_what_is_no_address_is_refused(text):
    """Workers on other hosts are told one address, so it has to be one."""
    with pytest.raises(UsageError, match="write one IPv4 address of this machine"):
        application(Job(bind=text))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("lab", "run", "tuned"), "--bind '': write one IPv4 address"),
        (("locust", "-f", str(ROOT / "loadtests"), "--headless"), "argument --bind: '' is none"),
    ],
    ids=["lab", "locust"],
)
def test_no_address_at_all_is_refused(tmp_path, command, said):
    """By both: it is what a shell makes of a variable that is not set."""
    done = run(*command, "--bind", "", cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


def test_an_address_of_another_machine_is_refused():
    """With what the kernel says to it, and how to see those that there are."""
    with pytest.raises(UsageError, match=r"--bind 192\.0\.2\.1: Cannot assign requested"):
        application(Job(bind="192.0.2.1"))


@pytest.mark.parametrize(("bind", "warned"), [("127.0.0.2", False), ("192.0.2.1", True)])
def test_who_can_be_reached_from_the_network_is_warned(monkeypatch, bind, warned):
    """In a line before the first trial."""
    monkeypatch.setattr("lab.cli.options.execution.own_address", str)
    the_workload = application(Job(bind=bind))
    lines = list(announcement(prepare(Measurement(profiles=("tuned",), pin=False), the_workload)))
    warning = f"warning: the servers of this run are reachable from the network at {bind}"
    assert (warning in lines) is warned


def test_a_process_knows_where_it_runs():
    """Twice the same, and a host tells what it is without a server to reach."""
    assert hosts.location() == hosts.location()
    facts = hosts.describe(LOOPBACK)
    assert facts["network"]["mtu"] > 1000
    assert facts["kernel"]["release"]
