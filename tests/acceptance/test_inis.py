"""The inis of tests/inis: each can be compared, or is refused in a line before any trial."""

import getpass
import re
import shutil
import sys

import pytest

from lab.bench.servers.fetch import fetch
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.conduct import prepare
from lab.bench.trials.replies import try_out
from lab.cli import main
from lab.cli.options.execution import application, understand
from lab.cli.options.table import Job
from tests.kit.lab_process import ROOT

INIS = ROOT / "tests" / "inis"
EXPECTED = {
    path.stem: re.search(r"^; Here: (.+)$", path.read_text(), re.MULTILINE)[1]
    for path in INIS.glob("*.ini")
}
RUNNING = sorted(name for name, outcome in EXPECTED.items() if outcome == "runs")
REFUSED = sorted(EXPECTED.keys() - set(RUNNING))

OTHERS = r"www-data|\bnobody\b|\bnogroup\b"
"""Users and groups as whom a server may not be able to read this Python."""

STAND_IN = '''
"""What the inis serve here in place of what they are written for."""


def application(_environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"fine\\n"]


app = application


def create_app():
    return application
'''
MODULES = ("wsgi.py", "awx/wsgi.py", "mysite/wsgi.py", "netbox/wsgi.py", "searx/webapp.py")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the inis and stand-ins for their applications, run by who tests."""
    shutil.copytree(INIS, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("*.ini"):
        path.write_text(
            re.sub(r"www-data|\bnobody\b|\bnogroup\b", getpass.getuser(), path.read_text())
        )
    for module in MODULES:
        path = tmp_path / module
        path.parent.mkdir(exist_ok=True)
        path.write_text(STAND_IN)
    (tmp_path / "static").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


def test_there_are_some_of_both():
    """Each file says in its first lines whose pattern it follows, and what is to come of it."""
    assert len(EXPECTED) >= 20
    assert RUNNING
    assert REFUSED
    for path in INIS.glob("*.ini"):
        assert path.read_text().startswith("; Pattern: "), path


@pytest.mark.costly
@pytest.mark.parametrize("name", RUNNING)
def test_it_is_served_from_a_private_copy(folder, name):
    """And answers where it is asked; nothing is written where the ini lies."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    job = Job(profiles=(str(folder / f"{name}.ini"),), blocks=1)
    (arm, *_) = prepare(understand(job).options, application(job)).plan.arms
    try_out(arm.profile, arm.workload, ServerRunner(), fetch)
    after = {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert after == before


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_before_any_trial(folder, name, monkeypatch, capsys):
    """With the reason first, and the exit status of a wrong use, or of a server that failed."""
    words = ["lab", "run", str(folder / f"{name}.ini"), "--blocks", "1"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    lines = capsys.readouterr().err.splitlines()
    assert ended.value.code in {1, 2}
    reason = next(line for line in lines if line.startswith("lab: "))
    assert EXPECTED[name].removeprefix("refused: ") in reason
    assert name in reason
    assert not list(folder.rglob("trials.ndjson"))
