"""`lab migrate --measure`: what it starts, with real servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from lab.cli.migrate import measure
from lab.cli.migrate.measure import TrialSettings
from lab.cli.migrate.migration import migrated
from lab.cli.options.table import Job
from lab.errors import MissingError, ServerStartError, UsageError
from tests.kit.lab_process import ROOT, run

APP = """\
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""
INI = "[uwsgi]\nhttp-socket = :8000\nmodule = shop\nmaster = true\nprocesses = 2\n"

SHORT = {"blocks": 2, "window": 0.3, "warmup": 0.1, "path": ("/",)}


@pytest.fixture
def ini(tmp_path):
    """Return the path of an ini beside its application."""
    (tmp_path / "shop.py").write_text(APP)
    path = tmp_path / "uwsgi.ini"
    path.write_text(INI)
    return path


def trying(configuration, to, *, drop=(), chdir=None, quick=None, **options):
    """Return what is put to the test."""
    migration = migrated(str(configuration), to, {}, drop=drop, chdir=chdir)
    return TrialSettings(
        str(configuration), migration, Job(drop=drop, chdir=chdir, **options), None, quick
    )


@pytest.mark.parametrize(
    "words",
    [
        ("--blocks", "2"),
        ("--slow-path", "/slow"),
        ("--quick-path", "/"),
        ("--app", "a:b"),
        ("--no-pin",),
    ],
)
def test_what_only_a_measurement_takes_needs_one(ini, words):
    """It would be passed over in silence."""
    done = run("lab", "migrate", str(ini), "--to", "granian", *words, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.endswith(" goes with --measure\n")


def test_what_says_no_application_is_refused(tmp_path):
    """Before anything starts."""
    (tmp_path / "uwsgi.ini").write_text("[uwsgi]\nhttp-socket = :8000\nworkers = 2\n")
    with pytest.raises(UsageError, match="names no application: --app MODULE:CALLABLE"):
        measure.tried(trying(tmp_path / "uwsgi.ini", "granian"))


def test_a_server_that_is_not_installed_is_named(ini, tmp_path):
    """With what installs it, before anything is measured: an environment without granian."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    with pytest.raises(MissingError, match=r"has no granian|needs granian"):
        measure.tried(trying(ini, "granian", python=tmp_path / "venv", **SHORT))


def test_what_is_left_out_of_the_old_copy_is_left_out_of_the_new_one(ini, tmp_path):
    """Users and folders of production, which a trial has not."""
    ini.write_text(f"{INI}uid = www-data\nchdir = /srv/shop\n")
    migration = trying(ini, "gunicorn", drop=("uid",), chdir=tmp_path).migration
    assert "www-data" not in migration.text
    assert f'chdir = "{tmp_path}"' in migration.text


@pytest.mark.parametrize("value", ["$(N)", "%(%k * 1)"])
def test_a_shell_says_what_the_words_of_a_command_are_here(ini, value):
    """What the machine decides is a number then."""
    ini.write_text(INI.replace("processes = 2", f"processes = {value}"))
    migration = trying(ini, "granian").migration
    script = ("sh", "-c", migration.script)
    done = subprocess.run(
        script, env={**os.environ, "N": "3"}, capture_output=True, text=True, check=True
    )
    words = done.stdout.split("\0")
    assert words[words.index("--workers") + 1].isdecimal()
    assert words[-2:] == ["shop:application", ""]


@pytest.mark.peers
def test_a_server_that_does_not_start_is_told_of_at_once(ini, tmp_path, monkeypatch):
    """As of an application that imports uwsgi: before a run that takes minutes."""
    monkeypatch.setattr(measure, "made", lambda *_: pytest.fail("the run began"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(f"import uwsgi\n{APP}")
    with pytest.raises(ServerStartError, match="No module named 'uwsgi'"):
        measure.tried(trying(ini, "gunicorn", **SHORT))


@pytest.mark.peers
@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_both_are_put_to_the_test(ini, tmp_path, monkeypatch, to):
    """By a run, by faults, by single questions; the folder of the run is there."""
    monkeypatch.chdir(tmp_path)
    few = {name: measure.FAULTS[name] for name in ("none", "kill", "accept-queue")}
    monkeypatch.setattr(measure, "FAULTS", few)
    comparison = measure.tried(trying(ini, to, quick="/quick", **SHORT))
    rows = {contrast.question: contrast for contrast in comparison.contrasts}
    assert (tmp_path / comparison.folder / "run.json").exists()
    assert rows["HEAD"].before == "200, 5 bytes of body"
    assert rows["HEAD"].after == "200, 0 bytes of body"
    assert rows["HEAD"].differs
    assert rows["SIGTERM"].differs
    assert rows["worker processes"].after == "2"
    assert "6 of 6 replaced" in rows[few["kill"]].after
    assert "500 right, longest wait " in rows["500 connections at once, each for /quick"].after
    imports = rows["imports of the application"]
    assert imports.before == "1, before its workers are forked"
    assert imports.after == (imports.before if to == "gunicorn" else "2, one in each worker")
    assert imports.differs is (to == "granian")
    both = rows["requests in your code at once, so connections to a database at most"]
    assert (both.before, both.after, both.differs) == ("2, on 2 workers",) * 2 + (False,)
    assert {"requests/s", "CPU per request, µs", "p99, ms", "memory (PSS), MB"} <= rows.keys()


@pytest.mark.slow
@pytest.mark.peers
def test_the_command_prints_the_table(ini):
    """As JSON alone on standard output, with how far it is on the other."""
    words = ("--measure", "--blocks", "2", "--window", "0.3", "--warmup", "0.1", "--path", "/")
    done = run(
        "lab", "migrate", str(ini), "--to", "gunicorn", *words, "--format", "json",
        cwd=ini.parent, timeout=280,
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert report["status"] == done.returncode
    assert done.returncode in (3, 4)
    assert "part 3 of 3" in done.stderr
    assert {contrast["question"] for contrast in report["measured"]["contrasts"]} >= {
        "HEAD",
        "SIGTERM",
    }
