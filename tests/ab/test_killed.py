"""`lab ab` is ended at any moment: nothing goes on, nothing is left, and the next run works."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import pytest

from tests.ab.test_ab import APP, INI, SMALL, ab, git
from tests.ab.test_checkout import content
from tests.kit.environments import put_uv
from tests.kit.lab_process import alive, descendants, started, trials, until

SLOW = pytest.mark.slow

WAITING = "import os, pathlib, time\npathlib.Path(os.environ['MARK']).touch()\ntime.sleep(30)\n"
"""What an application does while it is imported."""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Return a repository with two versions, and where a lab keeps what it makes."""
    work, mark = tmp_path / "shop", tmp_path / "mark"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    for name, text in (("one", APP), ("two", f"{APP}# the same\n"), ("slow", WAITING + APP)):
        (work / "shop.py").write_text(text)
        (work / "uwsgi.ini").write_text(INI)
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", name)
        git(work, "tag", name)
    for name in ("temporary", "cache", "out"):
        (tmp_path / name).mkdir()
    put_uv(tmp_path, monkeypatch)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    return SimpleNamespace(folder=tmp_path, work=work, mark=mark)


def moment(shop, name):
    """Return the words by which a run gets to a moment, and whether it is there."""
    temporary, mark = shop.folder / "temporary", shop.mark
    measured = shop.work / "ignored"
    marked = ("one", "two", "--install", f"touch {mark}; sleep 30")
    usual = ("one", "two")
    return {
        "checkout": (usual, lambda: list(temporary.glob("lab-*/a"))),
        "installation": (marked, mark.exists),
        "setup": (("one", "two", "--setup", f"touch {mark}; sleep 30 & wait"), mark.exists),
        "first start": (("one", "slow", "--env", f"MARK={mark}"), mark.exists),
        "trial": (usual, lambda: len(trials(measured)) >= 1),
        "report": (usual, lambda: len(trials(measured)) >= 6),
    }[name]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("trial", "SIGKILL"),
        *(
            pytest.param(name, sent, marks=SLOW)
            for name in ("checkout", "installation", "setup", "first start", "trial", "report")
            for sent in ("SIGKILL", "SIGINT")
            if (name, sent) != ("trial", "SIGKILL")
        ),
    ],
)
def test_nothing_is_left_and_the_next_run_works(shop, name, sent):
    """No process, no temporary folder, no half environment, and the repository as it was."""
    results = ("--results", str(shop.work / "ignored" / "results"))
    (shop.work / ".git" / "info" / "exclude").write_text("ignored\noutput\n")
    (shop.work / "ignored").mkdir()
    before = git(shop.work, "status", "--short"), content(shop.work / ".git")
    words, is_there = moment(shop, name)
    command = ("lab", "ab", *words, "--config", "uwsgi.ini", *SMALL, *results)
    with started(*command, cwd=shop.work) as lab:
        until(is_there, name)
        below = descendants(lab.pid)
        lab.send_signal(getattr(signal, sent))
        lab.wait(15)
        until(lambda: not alive(below), f"the end of {alive(below)}", 5.0)
    until(lambda: not list((shop.folder / "temporary").iterdir()), "its folders' end", 15.0)
    assert content(shop.work / ".git") == before[1]
    assert git(shop.work, "status", "--short") == before[0]
    done = ab(shop.work, "one", "two", "--config", "uwsgi.ini", *SMALL, *results,
              "--install", "true")  # fmt: skip
    assert done.returncode in {0, 3}, done.stderr
    assert not [path for path in (shop.folder / "cache").iterdir() if path.is_dir()]
