"""`lab tune` with real servers: what it writes, what it refuses, how it goes on after a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from lab.bench.store.folder import write_json
from lab.cli.options.table import Job
from lab.cli.tune.measure import TuneState
from lab.cli.tune.moves import ground_of
from lab.cli.tune.tuning import TuneJob, _option_digests
from lab.config.configuration import Known
from lab.config.reading import read
from lab.model.digest import digest_of
from tests.kit.lab_process import BIN, run

APP = """\
import time


def application(environ, start_response):
    time.sleep(0.01)
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]
"""
INI = """\
[uwsgi]
; the shop
http-socket = 127.0.0.1:8000
module = shop
chdir = %d
processes = 1
threads = 2
master = true
need-app = true
"""
SMALL = ("--path", "/", "--minutes", "1", "--window", "0.2", "--warmup", "0.1")
STATUSES = {0, 3, 4}
"""Of a tune that was measured: what it says depends on what else the machine does."""


@pytest.fixture
def shop(tmp_path):
    """Return a folder with an ini whose workers mostly wait."""
    (tmp_path / "shop.py").write_text(APP)
    (tmp_path / "uwsgi.ini").write_text(INI)
    return tmp_path


def tune(folder, *words):
    """Run the command in a folder."""
    return run("lab", "tune", "uwsgi.ini", *words, cwd=folder)


@pytest.mark.slow
def test_a_tune_writes_what_it_proved(shop):
    """A copy with the user's lines, which starts, or nothing; the user's file stays."""
    done = tune(shop, *SMALL, "--format", "json")
    assert done.returncode in STATUSES, done.stderr
    document = json.loads(done.stdout)
    assert document["status"] == done.returncode
    assert (shop / "uwsgi.ini").read_text() == INI
    assert (shop / document["folder"] / "effects.md").is_file()
    written = shop / "uwsgi.tuned.ini"
    assert written.exists() == (done.returncode == 0)
    if written.exists():
        assert "; the shop\n" in written.read_text()
        assert run("lab", "lint", "uwsgi.tuned.ini", "--select", "UW0", cwd=shop).returncode == 0
        back = subprocess.run(
            ("patch", "-R", "-o", "-", written, shop / document["folder"] / "tuned.diff"),
            capture_output=True,
            text=True,
            check=True,
        )
        assert back.stdout == INI


@pytest.mark.slow
def test_a_killed_tune_goes_on(shop):
    """What was measured before SIGKILL is there after it, and no server is left."""
    words = (BIN / "lab", "tune", "uwsgi.ini", *SMALL)
    with subprocess.Popen(words, cwd=shop, stderr=subprocess.DEVNULL, text=True) as process:
        while not (trials := [*shop.glob("results/tune-*/race-1/*/trials.ndjson")]):
            assert process.poll() is None
            time.sleep(0.1)
        while trials[0].read_bytes().count(b"\n") < 3:
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    (folder,) = shop.glob("results/tune-*")
    before = trials[0].read_bytes().splitlines()[:3]
    done = tune(shop, *SMALL, "--resume", str(folder.relative_to(shop)))
    assert done.returncode in STATUSES, done.stderr
    last = max(folder.glob("race-1/*/trials.ndjson"))
    assert last.read_bytes().splitlines()[:3] == before
    assert (folder / "effects.md").is_file()


@pytest.mark.slow
def test_both_files_are_compared_elsewhere(shop):
    """As the result says: it holds for one machine and one load."""
    (shop / "uwsgi.tuned.ini").write_text(INI.replace("threads = 2", "threads = 4"))
    small = ("--blocks", "2", "--window", "0.2", "--warmup", "0.1")
    done = run("lab", "run", "uwsgi.ini", "uwsgi.tuned.ini", "--path", "/", *small, cwd=shop)
    assert done.returncode in {0, 3}, done.stderr
    assert "uwsgi.tuned" in done.stdout


def test_a_result_that_is_there_is_not_overwritten(shop):
    """It is refused before anything is measured."""
    (shop / "uwsgi.tuned.ini").write_text("mine\n")
    done = tune(shop, *SMALL)
    assert (done.returncode, "uwsgi.tuned.ini exists" in done.stderr) == (2, True)
    assert (shop / "uwsgi.tuned.ini").read_text() == "mine\n"


def test_a_group_that_is_none_is_named(shop):
    """With those that there are."""
    done = tune(shop, *SMALL, "--without", "wrkers")
    assert done.returncode == 2
    assert "--without wrkers: there is no such group; workers, queue, " in done.stderr


def test_a_group_is_not_both_changed_and_left(shop):
    """What was meant is for the user to say."""
    done = tune(shop, "--dry-run", "--only", "log,workers", "--without", "workers")
    assert done.returncode == 2
    assert "--only and --without both name workers" in done.stderr


def test_a_tune_of_something_else_is_not_gone_on_with(shop):
    """Its trials are of another configuration."""
    folder = shop / "results" / "tune-1"
    folder.mkdir(parents=True)
    state = {"format": 2, "configuration": "another", "asked": {}, "seed": 1, "finished": []}
    (folder / "tune.json").write_text(json.dumps(state))
    done = tune(shop, *SMALL, "--resume", "results/tune-1")
    assert done.returncode == 2
    assert "uwsgi.ini has changed since then" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--busy", "40", "--connections", "200"), "--busy and --connections both set"),
        (("--server", "granian", "--resume", "results/tune-1"), "has changed since then"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_written(shop, words, said):
    """Nothing in the folder of an earlier tune is touched."""
    folder = shop / "results" / "tune-1"
    folder.mkdir(parents=True)
    state = {"format": 2, "configuration": "another", "asked": {}, "seed": 1, "finished": []}
    (folder / "tune.json").write_text(json.dumps(state))
    done = tune(shop, *SMALL, *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert [path.name for path in folder.iterdir()] == ["tune.json"]


@pytest.mark.parametrize("words", [("--path", "/other"), ("--rate", "20"), ("--env", "A=2")])
def test_a_tune_that_was_asked_otherwise_is_not_gone_on_with(shop, words):
    """Its trials answer another question; what differs is named, and no value."""
    typed = ("--path", "/", "--env", "A=1")
    given = TuneJob("uwsgi.ini", Job(path=("/",), env=("A=1",)), 1.0)
    ground = ground_of("uwsgi.ini", read(str(shop / "uwsgi.ini"), Known()), 2)
    folder = shop / "results" / "tune-1"
    folder.mkdir(parents=True)
    texts = tuple((str(file), text) for file, text in ground.config.texts.items())
    state = TuneState(TuneState.FORMAT, digest_of(texts), _option_digests(given, ground), 1)
    write_json(folder / "tune.json", state)
    done = run("lab", "tune", str(shop / "uwsgi.ini"), *typed, *words, "--minutes", "1",
               "--resume", "results/tune-1", cwd=shop)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith(f"it had another {words[0]}")
