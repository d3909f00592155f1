"""What an application of the user's runs in: their environment, their uWSGI, their variables."""

import json
import platform
from dataclasses import asdict, replace

import pytest

from lab.analysis.comparable import MismatchError, require_comparable
from lab.bench.machine.programs import binary
from lab.bench.machine.runtime import (
    command_of,
    environment_of,
    program,
    python_serving,
    with_home,
)
from lab.bench.store.encoding import decode, encode
from lab.bench.trials.available import look
from lab.cli.options.runtime import runtime
from lab.errors import MissingError, UsageError
from lab.model.runtime import OURS, Runtime, Variables
from tests.kit import builders as make
from tests.kit.environments import empty, pretended
from tests.kit.lab_process import BIN, PACED, SITES, SMALL, compare
from tests.kit.uwsgi_options import confirmed

HERE = ".".join(platform.python_version_tuple()[:2])
SITE = """
import os, sys

def application(environ, start):
    body = f"{sys.prefix} {os.environ['SECRET']} {os.environ.get('FROM_FILE')}".encode()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""

MODE = """
import os, sys

def application(environ, start):
    body = f"NAME {sys.prefix} {os.environ.get('MODE')}".encode()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.fixture
def written(tmp_path):
    """Return a function that makes variables of the text of a file and of what `--env` says."""

    def written(text, *env):
        (tmp_path / ".env").write_text(text)
        return dict(runtime(env=env, env_file=tmp_path / ".env").variables.reveal())

    return written


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=b", "b"),
        ("export A=b", "b"),
        ("  A = b c  ", "b c"),
        ("A='b c'", "b c"),
        ('A="b \' c"', "b ' c"),
        ('A="b', '"b'),
        ("A=$HOME/b #c", "$HOME/b #c"),
        ("A=b=c%40", "b=c%40"),
        ("A=", ""),
        ("# A=b\n\n", None),
        ("A", "of the caller"),
        ("NOBODY_HAS_THIS", None),
        ("PORT=8000\nUWSGI_THREADS=9\nWSGI_APP=x:y", None),
    ],
)
def test_a_line_of_an_environment_file(written, monkeypatch, line, value):
    """One pair of quotes goes, nothing is expanded; what tells a trial where it is stays out."""
    monkeypatch.setenv("A", "of the caller")
    assert written(line) == ({} if value is None else {"A": value})


def test_what_is_typed_wins_over_the_file(written, monkeypatch):
    """And a name alone has the caller's value."""
    monkeypatch.setenv("B", "caller's")
    assert written("A=file\nB=file\nC=file", "A=typed", "B") == {
        "A": "typed", "B": "caller's", "C": "file",
    }  # fmt: skip


@pytest.mark.parametrize("env", ["SEC RET=hunter2", "1=hunter2", "hunter 2"])
def test_no_message_has_a_value(env, written):
    """Not even where it stands in place of a name."""
    with pytest.raises(UsageError) as caught:
        runtime(env=[env])
    assert "hunter2" not in str(caught.value)
    with pytest.raises(UsageError, match=r"\.env:2: expected NAME=VALUE") as caught:
        written("A=b\nhunter2 is it\n")
    assert "hunter2" not in str(caught.value)


def test_no_writer_of_fields_can_write_a_value():
    """Names and a hash is what a run stores, and what is read back."""
    given = replace(OURS, variables=runtime(env=["B=hunter2", "A=x"]).variables)
    texts = repr(given), encode(given).decode(), json.dumps(asdict(given), default=str)
    assert not any("hunter2" in text for text in texts)
    back = decode(encode(given), Runtime, None)
    assert back == given
    assert back.variables.names == ("A", "B")
    assert back.variables.reveal() == {}


def test_the_hash_tells_values_apart():
    """The same for the same ones in any order; another one without this machine's own salt."""
    one, same, other = (
        runtime(env=env).variables.digest
        for env in (["A=1", "B=2"], ["B=2", "A=1"], ["A=1", "B=3"])
    )
    assert one == same != other
    assert runtime().variables == Variables()


def test_runs_with_other_values_are_not_compared():
    """The names may be the same; where the environment lies is no difference."""
    before, after, elsewhere = (
        make.altered(
            make.plan(make.profile("a"), make.profile("b")),
            workload=replace(make.FIB, runtime=runtime(python, env=[f"KEY={value}"])),
        )
        for value, python in (("1", None), ("2", None), ("1", BIN.parent))
    )
    runs = [make.run(plan, ()) for plan in (before, after, elsewhere)]
    with pytest.raises(MismatchError, match=r"runtime\.variables\.digest"):
        require_comparable(runs[0], runs[1])
    assert require_comparable(runs[0], runs[2]) == ()


def test_a_value_that_is_resolved_is_hidden_in_the_options(tmp_path):
    """Its variable stands there, by which uWSGI finds it again; a number is no secret."""
    path = tmp_path / "mine.ini"
    path.write_text(
        "[uwsgi]\nhttp-socket = :$(PORT)\nenv = DB=u:$(SECRET)@h\nprocesses = $(COUNT)\n"
    )
    given = runtime(env=["SECRET=hunter2", "COUNT=4"])
    options = dict(confirmed(path, given))
    assert (options["env"], options["processes"]) == ("DB=u:$(SECRET)@h", "4")


def test_the_environments_own_uwsgi_serves(tmp_path):
    """Whatever its version; it finds the packages by its own place."""
    venv = pretended(tmp_path / "v", "2.7.1", "uwsgi", "gunicorn")
    given = Runtime(python=venv)
    assert command_of(given, "uwsgi", "a.ini") == (f"{venv}/bin/uwsgi", "a.ini")
    assert command_of(given, "env", "A=b", "uwsgi", "x")[2] == f"{venv}/bin/uwsgi"
    assert program(given, "gunicorn") == f"{venv}/bin/gunicorn"


def test_our_uwsgi_serves_an_environment_of_its_own_version(tmp_path):
    """Which it is told of; another minor version is refused in one line."""
    same = pretended(tmp_path / "same", f"{HERE}.99")
    assert command_of(Runtime(python=same), "uwsgi", "a.ini") == (
        binary(), "--home", str(same), "a.ini",
    )  # fmt: skip
    other = pretended(tmp_path / "other", "3.5.2")
    with pytest.raises(MissingError) as caught:
        program(Runtime(python=other), "uwsgi")
    assert str(caught.value) == (
        f"{other} has Python 3.5, this uwsgi {HERE}: {other}/bin/pip install uwsgi, or --uwsgi PATH"
    )
    installation = look("tuned", Runtime(python=other))
    assert installation.missing == str(caught.value)


def test_a_uwsgi_that_is_named_serves(tmp_path):
    """Before the environment's own; and alone it serves the environment that it lies in."""
    venv = pretended(tmp_path / "v", f"{HERE}.1", "uwsgi")
    named = pretended(tmp_path / "w", f"{HERE}.1", "uwsgi") / "bin" / "uwsgi"
    given = Runtime(python=venv, uwsgi=named)
    assert command_of(given, "uwsgi") == (str(named), "--home", str(venv))
    assert python_serving(Runtime(uwsgi=named), "uwsgi") == f"{tmp_path}/w/bin/python"
    assert python_serving(Runtime(uwsgi=tmp_path / "uwsgi"), "uwsgi") is None


def test_a_peer_is_the_environments_own(tmp_path):
    """One of the lab's would serve the lab's packages; a program that is no Python is anybody's."""
    venv = empty(tmp_path / "v")
    with pytest.raises(
        MissingError, match=f"{venv} has no gunicorn: {venv}/bin/pip install gunicorn"
    ):
        program(Runtime(python=venv), "gunicorn")
    missing = look("gunicorn-sync", Runtime(python=venv)).missing
    assert missing == f"needs gunicorn ({venv}/bin/pip install gunicorn), which is not installed"
    missing = look("gunicorn shop:app", Runtime(python=venv)).missing
    assert missing == f"{venv} has no gunicorn: {venv}/bin/pip install gunicorn"
    assert program(Runtime(python=venv), "sh").endswith("/sh")


def test_an_ini_names_its_environment_unless_the_user_does(tmp_path):
    """By any of its names; of two the last counts."""
    options = [("home", "/srv/a"), ("virtualenv", str(tmp_path))]
    assert with_home(OURS, options).python == tmp_path
    assert with_home(Runtime(python=tmp_path / "b"), options).python == tmp_path / "b"
    assert with_home(OURS, []) is OURS


def test_nothing_of_the_labs_environment_leaks_into_the_users(tmp_path, monkeypatch):
    """Its folder comes first where commands are looked up; variables in the order that is said."""
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UWSGI_THREADS", "PORT", "A"):
        monkeypatch.setenv(name, "caller's")
    given = Runtime(python=tmp_path, variables=Variables.of({"A": "mine", "PORT": "1"}, ""))
    variables = environment_of(given, PORT="61000")
    assert not {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UWSGI_THREADS"} & variables.keys()
    assert variables["PATH"].startswith(f"{tmp_path}/bin:")
    assert (variables["A"], variables["PORT"]) == ("mine", "61000")
    assert environment_of(OURS)["PYTHONPATH"] == "caller's"


def test_a_python_that_is_no_environments_is_refused(tmp_path):
    """A folder without one, and another file than its python."""
    venv = empty(tmp_path / "v")
    assert runtime(venv).python == runtime(venv / "bin" / "python3").python == venv
    for path in (tmp_path, venv / "pyvenv.cfg"):
        with pytest.raises(UsageError, match="name a virtual environment"):
            runtime(path)


def test_a_run_with_a_secret_stores_its_name_alone(tmp_path):
    """No file of the results has the value, while the server's own environment does."""
    (tmp_path / "shop.py").write_text(SITE)
    (tmp_path / ".env").write_text("FROM_FILE=hunter2-too\n")
    venv = empty(tmp_path / "v")
    compare(
        "lab", "run", "tuned", "--app", "shop:application", "--python", "v",
        "--env", "SECRET=hunter2", "--env-file", ".env", "--check", f"^{venv} hunter. hunter..too$",
        *PACED, cwd=tmp_path,
    )  # fmt: skip
    files = [path for path in (tmp_path / "results").rglob("*") if path.is_file()]
    assert [path.name for path in files if b"hunter2" in path.read_bytes()] == []
    (stored,) = (json.loads(path.read_text()) for path in files if path.name == "run.json")
    assert "--env SECRET --env-file .env" in stored["command"]
    (variables,) = [arm["workload"]["runtime"]["variables"] for arm in stored["plan"]["arms"]]
    assert variables["names"] == ["FROM_FILE", "SECRET"]
    assert len(variables["digest"]) == 32
    (environment,) = stored["environments"].values()
    assert environment["runtime"]["python"].startswith(HERE)


def test_each_ini_is_served_in_its_own_environment(tmp_path):
    """Its `home` and its variables; a profile of ours beside them is served in the first one's."""
    for name, more in (("before", "env = MODE=old\n"), ("after", "")):
        venv = empty(tmp_path / name / "venv")
        (tmp_path / name / "shop.py").write_text(MODE.replace("NAME", name))
        (tmp_path / f"{name}.ini").write_text(
            f"[uwsgi]\nhttp-socket = :8080\nchdir = %d{name}\nmodule = shop\nhome = {venv}\n{more}"
        )
    compare(
        "lab", "run", "before.ini", "after.ini", "tuned", *PACED,
        "--check", "^(before .*/before/venv old|after .*/after/venv None)$", cwd=tmp_path,
    )  # fmt: skip
    (stored,) = (tmp_path / "results").glob("*/run.json")
    (environment,) = json.loads(stored.read_text())["environments"].values()
    stored_runtime = environment["runtime"]
    assert stored_runtime["python"].startswith(HERE)
    assert (
        [*stored_runtime["others"]["python"]]
        == [*stored_runtime["others"]["distributions"]]
        == ["after"]
    )


@pytest.mark.slow
def test_every_server_of_an_environment_serves_its_packages(tmp_path):
    """As this one's: uWSGI, gunicorn and granian of its own, and Flask."""
    done = compare(
        "lab", "run", "tuned", "gunicorn-sync", "granian", "--app", "flask_site:application",
        "--chdir", str(SITES), "--path", "/where/Ulm", "--python", str(BIN.parent), *SMALL,
        cwd=tmp_path,
    )  # fmt: skip
    (stored,) = (tmp_path / "results").glob("*/run.json")
    run_header = json.loads(stored.read_text())
    assert run_header["skipped"] == {}
    (environment,) = run_header["environments"].values()
    assert {"flask", "granian", "gunicorn"} <= environment["runtime"]["distributions"].keys()
    assert environment["runtime"]["uwsgi"].startswith("2.")
    assert "Python 3." in done.stdout
