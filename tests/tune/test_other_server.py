"""`lab tune --server`: what the user's configuration becomes for another server."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lab.cli.migrate.migration import migrated
from lab.cli.options.table import Job
from lab.cli.startable import startable
from lab.cli.tune import tuning
from lab.cli.tune.tuning import TuneJob
from lab.errors import ProfileError
from tests.kit.lab_process import run

APP = """\
import os


def application(environ, start_response):
    body = os.environ.get("GREETING", "none").encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""
INI = """\
[uwsgi]
http-socket = 127.0.0.1:8000
module = shop
chdir = %d
processes = 2
master = true
harakiri = 30
env = GREETING=hello there
env = PORT=8000
"""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Return a folder with an application and its ini, as the current one."""
    (tmp_path / "shop.py").write_text(APP)
    (tmp_path / "uwsgi.ini").write_text(INI)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_other_server_has_the_variables_that_the_ini_names(shop):
    """But for those by which a trial says where it listens."""
    job = Job(profiles=("uwsgi.ini",), env=("MINE=1",))
    startable_job = startable(migrated("uwsgi.ini", "granian", {}), "uwsgi.ini", job, shop)
    assert startable_job.env == ("MINE=1", "GREETING=hello there")
    assert startable_job.profiles[0].startswith("granian --interface wsgi")
    assert startable_job.cwd == shop


def test_the_other_server_has_the_environment_that_the_ini_names(shop):
    """One that is not here is named, with what to say."""
    job, made = Job(profiles=("uwsgi.ini",)), shop / "venv"
    (shop / "uwsgi.ini").write_text(f"{INI}virtualenv = {made}\n")
    with pytest.raises(ProfileError, match=r"venv, which is not here: --python PATH"):
        startable(migrated("uwsgi.ini", "gunicorn", {}), "uwsgi.ini", job, shop)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
    assert startable(migrated("uwsgi.ini", "gunicorn", {}), "uwsgi.ini", job, shop).python == made


@pytest.mark.parametrize("program", ["gunicorn", "granian"])
def test_moves_go_out_from_what_it_becomes(shop, program):
    """What is handed out is a file; what is left out of the ini is in neither."""
    job = Job(profiles=("uwsgi.ini",), drop=("harakiri",), path=("/",))
    wanted = TuneJob("uwsgi.ini", job, 1.0, servers=(program,))
    ground = tuning._ground(wanted, job)
    other_ground = tuning._other(wanted, program, ground, job, shop / "results")
    assert other_ground.ground.program == program
    assert other_ground.ground.number("workers") == 2
    steps = [(step, ()) for step in other_ground.ground.steps({"workers": "3"})]
    text = other_ground.ground.handed_out(steps)
    assert "3" in text
    assert "harakiri" not in text
    assert other_ground.elsewhere.file in {"gunicorn.conf.py", "granian.sh"}
    assert not other_ground.workload.runtime.drop


@pytest.mark.slow
@pytest.mark.peers
@pytest.mark.parametrize("program", ["gunicorn", "granian"])
def test_it_races_beside_the_users_own(shop, program):
    """And answers as that does, by its variables; what it loses is told if it wins."""
    small = ("--path", "/", "--minutes", "3", "--window", "0.2", "--warmup", "0.1")
    done = run("lab", "tune", "uwsgi.ini", *small, "--server", program, "--only", "log",
               "--drop", "env", cwd=shop)  # fmt: skip
    assert done.returncode in {0, 3, 4}, done.stderr
    (folder,) = shop.glob("results/tune-*")
    assert f"served by {program}" in (folder / "effects.md").read_text()
