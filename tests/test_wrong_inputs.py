"""
Every wrong input that a reader of this project tried, and the words that its answer must hold.

An answer says what is wrong, where, and what to do. It goes to standard error and is no traceback,
and the exit status is the one that the help promises.
"""

from __future__ import annotations

import socket
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lab.bench import profiles
from lab.bench.profiles import described
from lab.bench.servers import readiness
from lab.bench.servers.last_words import reason
from lab.model.profile import PrivateCopy
from studies.selftest.cases import PLANTED
from tests.kit import in_process
from tests.kit.lab_process import BIN, ROOT, SMALL, environment, run
from tests.locust.web_ui import LOCUST

HTTP = "http-socket = 127.0.0.1:$(PORT)\n"

FILES = {
    "site_of_mine.py": "notcallable = 3\n\n\ndef make_app():\n    pass\n",
    "broken.py": "import json\n\n\ndef load():\n    json.loads('{')\n\n\nload()\n",
    "failing.py": "def application(environ, start):\n    raise RuntimeError('no database')\n",
    "old.ini": "[uwsgi]\nhttp = 127.0.0.1:5000\nmodule = site_of_mine:app\n",
    "other.ini": "[uwsgi]\nmodule = other:app\n",
    "other.py": "def app(environ, start):\n    start('200 OK', [])\n    return [b'other']\n",
    "leaving.py": "import sys\n\nsys.exit('no settings')\n",
    "emperor.ini": f"[uwsgi]\n{HTTP}emperor = /etc/uwsgi\n",
    "nochdir.ini": f"[uwsgi]\n{HTTP}module = somewhere_else:app\nneed-app = true\n",
    "doc.md": "```ini\n[uwsgi]\n```\n",
    "strict.ini": f"[uwsgi]\nstrict = true\n{HTTP}proccesses = 4\n",
}
"""What lies in the folder in which a person types."""


@pytest.fixture
def lab(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command, and gives exit status, output and errors."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCESSES", "2")
    monkeypatch.setattr(readiness, "PATIENCE", 0.2)
    return partial(in_process.lab, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("run tunned", 2, ["tunned: the profile does not exist; did you mean tuned?", "lab list"]),
        ("run oldd", 2, ["oldd: the profile does not exist; `lab list` shows all"]),
        ("run old", 2, ["did you mean ./old.ini?"]),
        ("run listen,tuned", 2, ["listen,tuned: separate names by spaces: listen tuned"]),
        ("rnu", 2, ["lab: no such command 'rnu'. Did you mean 'run'?"]),
        ("run --windw 3", 2, ["lab: no such option '--windw'", "'--window'", "--help"]),
        ("run --app shop", 2, ["as in shop.wsgi:application"]),
        ("run --app a:b --chdir /nonexistent", 2, ["--chdir /nonexistent: no such folder"]),
        ("run --python /nonexistent", 2, ["--python /nonexistent: it is not there; name your"]),
        ("run --python .", 2, ["--python .: it has no bin/python: name a virtual environment's"]),
        ("run --uwsgi /nonexistent", 2, ["--uwsgi /nonexistent: there is no such program"]),
        ("run --cwd /nonexistent", 2, ["--cwd /nonexistent: no such folder"]),
        ("run --env-file /nonexistent", 2, ["--env-file /nonexistent: cannot be read: No such"]),
        ("run --env PORT=1", 2, ["--env PORT: the lab sets it, for each trial anew; leave it out"]),
        ("run --env UWSGI_THREADS=1", 2, ["uWSGI takes it for an option: it goes with an ini"]),
        ("run --env NOT_SET", 2, ["--env NOT_SET: it has no value here; export it, or say NOT_"]),
        ("stress --env 1=2", 2, ["--env 1: expected NAME=VALUE, or NAME for the value that"]),
        ("run --path 9000", 2, ["--path '9000': a request target begins with /"]),
        ("run --rate 50", 2, ["write 50% for a share", "or 50/s for requests per second"]),
        ("run --rate 2000,80", 2, ["write 80% for a share", "or 80/s"]),
        ("run --rate abc", 2, ["as in 2000, or 50%,80%"]),
        ("run --rate 50%%", 2, ["as in 2000, or 50%,80%"]),
        ("run --rate 50%,", 2, ["--rate '50%,': a rate is missing beside a comma"]),
        ("run --rate -5", 2, ["as in 2000, or 50%,80%"]),
        ("run --smallest 20", 2, ["--smallest: '20' is no percentage above 0% and up to 100%"]),
        ("run --smallest 0%", 2, ["--smallest: '0%' is no percentage above 0% and up to 100%"]),
        ("run --window 3x", 2, ["--window: '3x' is no duration; write 3, 2.5s, 500ms, 1m or 1h"]),
        ("run --window 0", 2, ["--window 0: between 0.1 and 600 seconds"]),
        ("run --blocks 0", 2, ["--blocks: '0': a whole number from 1 to 1,000"]),
        ("run --connections 0", 2, ["--connections: '0': a whole number from 1 to 10,000"]),
        ("run --seed x", 2, ["lab: --seed: 'x': a whole number from 0 to"]),
        ("stress --rate x", 2, ["lab: --rate: 'x': a number from 1 to 1,000"]),
        ("run --fail-if cpu(tuned)>1", 2, ["divide it by another profile's: cpu(tuned/baseline)"]),
        ("run --fail-if latency(a/b)>1", 2, ["there is no metric latency; there are throughput"]),
        ("run --check (", 2, ["--check '(' is not a regular expression", "position 0"]),
        ("run --app a:b --method POST", 2, ["POST /: POST may write", "say --writes"]),
        ("run --app a:b --requests no.har", 2, ["no.har: cannot be read: No such file"]),
        ("run --requests no.har", 2, ["--requests describes an application of yours"]),
        ("run --app a:b --status 999", 2, ["--status: '999': a whole number from 200 to 599"]),
        ("run --app a:b --workload hello", 2, ["--workload hello and --app a:b", "leave out one"]),
        ("run --app a:b --workload fib", 2, ["--workload fib and --app a:b", "leave out one"]),
        ("run tuned tuned", 2, ["profile tuned is named twice: name it once"]),
        ("run --generator ab", 2, ["add --load article"]),
        ("run --load walkthrough --rate 50", 2, ["this --load counts its requests"]),
        ("run ./emperor.ini", 2, ["emperor.ini:3: emperor = /etc/uwsgi: this is an Emperor's"]),
        ("run ./old.ini:prod", 2, ["old.ini: it has no section [prod]"]),
        ("run ./old.ini --keep cron", 2, ["--keep cron: no configuration of yours has it"]),
        ("run ./old.ini --drop cron", 2, ["--drop cron: no configuration of yours has it"]),
        ("run ./old.ini --chdir none", 2, ["--chdir none: no such folder"]),
        ("run tuned --chdir .", 2, ["--chdir describes an application of yours: it goes with"]),
        ("run ./strict.ini", 2, ["strict.ini:4: uWSGI has no option", "did you mean processes?"]),
        ("run ./missing.ini", 2, ["missing.ini: the file does not exist"]),
        ("run tuned --minutes 0", 2, ["--minutes 0: write a number of minutes above 0"]),
        ("run tuned --seed -1", 2, ["--seed: '-1'", "from 0 to 18,446,744,073,709,551,616"]),
        ("run tuned --fail-if cpu(foo/tuned)>1", 2, ["foo is not in this run; write one of"]),
        ("run ./failing.py", 2, ["names no application: --app failing:application"]),
        ("lint doc.md", 2, ["doc.md: is a document: save the configuration"]),
        ("report", 1, ["results: holds no run yet; make one with: lab run --quick"]),
        ("report nosuch", 2, ["nosuch: there is no such run, neither here nor in results; make"]),
        (f"report nosuch --results {ROOT}/docs/runs", 2, ["the latest there: workers-two-cores, "]),
        ("claims nosuch", 2, ["nosuch: there is no such run"]),
        ("claims --run ladder", 2, ["--run: leave out RUN, --markdown and --json; it makes runs"]),
        ("claims --blocks 5", 2, ["--blocks says how runs are made: add --run, or leave it out"]),
        ("claims --run --budget x", 2, ["--budget: 'x' is no duration; write 3, 2.5s"]),
        ("claims --run --budget -1s", 2, ["--budget: '-1s' is below 0; write 3, 2.5s"]),
        ("claims --run --results old.ini", 2, ["--results old.ini: is a file, not a folder"]),
        ("claims --results old.ini", 2, ["--results old.ini: is a file, not a folder"]),
        ("claims --results nosuch", 2, ["--results nosuch: the folder does not exist"]),
        ("claims old.ini", 2, ["old.ini: is no run's folder: it has no run.json"]),
        ("claims --run --blocks 0", 2, ["--blocks: '0': a whole number from 1 to 1,000"]),
        ("claims --run --server-cores x", 2, ["--server-cores x: no list of CPUs; write 0,2-3"]),
        ("migrate x.ini", 2, ["--to: uwsgi, gunicorn, granian, uvicorn or hypercorn"]),
        ("compare nosuch", 2, ["missing argument 'AFTER'; usage: lab compare", "BEFORE AFTER"]),
        (f"compare ladder rungs --results {ROOT}/docs/runs", 2, ["they differ in", "plan.window"]),
        (f"report {ROOT}/docs/runs/hello --html /nonexistent/x", 2, ["there is no folder /nonexi"]),
        ("stress --window 3", 2, ["lab: no such option '--window'"]),
        ("stress --method PUT", 2, ["--method describes an application of yours: it goes"]),
        ("stress --fault nuke", 2, ["no fault 'nuke'; there are none, reload"]),
        ("selftest nosuch", 2, ['no case "nosuch"; there are "accept queue"']),
    ],
)  # fmt: skip
def test_a_wrong_command_is_answered_before_a_server_starts(lab, words, status, said):
    """In a line of the lab's own style, whoever noticed it."""
    code, out, errors = lab(*words.split())
    assert (code, out) == (status, ""), errors
    assert errors.startswith("lab: ")
    assert [part for part in said if part not in errors] == []
    assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["gunicorn-sync", "granian"])
def test_another_server_is_explained_as_well(lab, profile):
    """By its own words; gunicorn's own end, which follows from them, is not the reason."""
    code, _, errors = lab("run", profile, "--app", "failing:application")
    assert code == 1
    assert "RuntimeError: no database" in errors
    assert "HaltServer" not in errors


@pytest.mark.costly
@pytest.mark.parametrize("profile", ["tuned", "gunicorn-sync", None])
@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("nosuch:app", "(--chdir names another folder)"),
        ("site_of_mine:nope", "has no `nope`. WSGI applications in it: make_app (a factory: --app"),
        ("site_of_mine:notcallable", "site_of_mine:notcallable is no WSGI application: it is int."),
        ("site_of_mine:make_app", "say --app 'site_of_mine:make_app()'"),
        ("broken:app", "broken.py:5  json.loads('{')"),
        ("leaving:app", "leaving:app ended its process while it was loaded in "),
    ],
)
def test_an_application_that_cannot_be_loaded_is_told_before_a_server_starts(
    lab, profile, app, said
):
    """Whichever server it is for, or for all by default: in a paragraph, and where its log is."""
    code, out, errors = lab("run", *filter(None, [profile]), "--app", app)
    assert (code, out) == (1, "")
    first, *lines = errors.splitlines()
    assert first.startswith(f"lab: --app {app}: ")
    assert said in errors
    logs = list(Path("results").glob("*/application.log"))
    assert not logs or lines[-1] == f"Its whole log: {logs[0]}"


@pytest.mark.parametrize("profile", ["tuned", "baseline"])
def test_why_an_application_does_not_answer_is_read_first(lab, profile):
    """Then how it looked from outside, and where the log is; the log itself is not."""
    code, out, errors = lab("run", profile, "--app", "failing:application")
    assert (code, out) == (1, ""), errors
    announced, cpus, *lines = errors.splitlines()
    assert "1 profile, 10 blocks" in announced
    assert cpus.startswith("CPUs: ")
    assert lines[0] == f"lab: profile {profile}: RuntimeError: no database"
    assert "failing.py, line 2, in application" in lines[1]
    (log,) = Path("results").glob(f"*/{profile}.log")
    assert lines[-1] == f"Its whole log: {log}"
    assert "Python main interpreter initialized" in log.read_text()
    assert len(lines) <= 5


def test_each_run_that_cannot_begin_has_a_log_of_its_own(lab):
    """Two of them at once do not write over each other's."""
    last_lines = [lab("run", "tuned", "--app", f"{name}:app")[2].splitlines()[-1] for name in "ab"]
    logs = sorted(Path("results").glob("*/application.log"))
    assert sorted(last_lines) == [f"Its whole log: {log}" for log in logs]
    for name, log in zip("ab", logs, strict=True):
        assert f"No module named '{name}'" in log.read_text()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "tuned baseline --app pong:app --check zzz",
            ["answers / with 200 'Pong!'; --check 'zzz' is found nowhere in its body: change"],
        ),
        (
            "./pong.ini ./other.ini",
            ["profile other", "answers / with 200 'other'; expected is 'Pong!'"],
        ),
    ],
)
def test_what_never_answers_as_asked_is_told_once(lab, words, said):
    """Before the first trial: a run would fail in each of them, for as long as it was to take."""
    Path("pong.py").write_text(
        "def app(environ, start):\n"
        "    start('200 OK', [('Content-Length', '5')])\n    return [b'Pong!']\n"
    )
    Path("pong.ini").write_text(f"[uwsgi]\n{HTTP}module = pong:app\nchdir = {Path.cwd()}\n")
    code, out, errors = lab("run", *words.split())
    assert (code, out) == (1, "")
    assert [part for part in said if part not in errors] == []
    assert errors.count("answers /") == 1
    assert not list(Path("results").glob("*/run.json"))


def test_an_application_that_answers_is_not_explained_by_its_log(lab):
    """What it logs has then nothing to do with it: the reply says all."""
    Path("chatty.py").write_text(
        "import traceback\n\n\ndef application(environ, start):\n    try:\n        1 / 0\n"
        "    except ZeroDivisionError:\n        traceback.print_exc()\n"
        "    start('404 Not Found', [('Content-Length', '0')])\n    return []\n"
    )
    code, _, errors = lab("run", "tuned", "--app", "chatty:application")
    assert code == 1
    message = "with 404 ''; expected is status 200: give a path that it serves (--path), or"
    assert message in errors.splitlines()[2]
    assert "ZeroDivisionError" not in errors
    assert "ZeroDivisionError" in next(Path("results").glob("*/tuned.log")).read_text()


def test_an_ini_without_chdir_is_told_where_its_module_was_looked_for(lab):
    """And what to write into it."""
    code, out, errors = lab("run", "./nochdir.ini", *SMALL)
    assert (code, out) == (1, "")
    assert errors.startswith(f"lab: {Path.cwd()}/nochdir.ini: somewhere_else cannot be imported in")
    assert f"looked for in {Path.cwd()} (name another by --chdir PATH, or by `chdir`" in errors


def write(folder, lines):
    """Return an ini of these lines, read."""
    path = folder / "mine.ini"
    path.write_text(f"[uwsgi]\n{HTTP}{lines}")
    return profiles.with_reading(str(path))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("proccesses = 4\n", ":3: proccesses = 4: uWSGI has no such option and ignores the line"),
        ("my-own-word = 4\n", "my-own-word = 4: uWSGI has no such option"),
        ("plugins = \nproccesses = 4\n", "write processes"),
        ("name = app\nmodule = %(name).hello:app\n", None),
        ("plugins = x\nword-of-a-plugin = 4\n", None),
        ("processes = 4\nthreads = 2\nmaster = true\nvacuum = true\n", None),
    ],
)
def test_a_mistyped_option_of_an_ini_is_a_warning(tmp_path, lines, said):
    """A placeholder is none, nor is what only a plugin that the ini loads can know."""
    profile, reading = write(tmp_path, lines)
    warnings = profiles.warnings(profile, reading=reading)
    assert len(warnings) == (said is not None)
    assert said is None or said in warnings[0]


def test_the_warning_stands_before_the_run(lab):
    """And ends nothing: a person may know better. It may be why an application is not found."""
    warning = f"warning: {Path.cwd()}/mine.ini:3: proccesses = 4: uWSGI has no such option"
    for app in ("failing:application", "nosuch:app"):
        Path("mine.ini").write_text(
            f"[uwsgi]\n{HTTP}proccesses = 4\nchdir = {Path.cwd()}\nmodule = {app}\n"
        )
        _, _, errors = lab("run", "./mine.ini", *SMALL)
        assert warning in errors
    assert errors.splitlines()[-1].startswith(warning)


def test_what_the_server_makes_of_a_text_for_a_number_is_said_of_a_profile_of_ours(tmp_path):
    """It is measured as uWSGI takes it; of its other lines nothing is said."""
    path = tmp_path / "ours.ini"
    path.write_text(f"[uwsgi]\n{HTTP}threads = two\nvacum = true\n")
    profile, reading = profiles.with_reading(str(path), ours=True)
    (line,) = profiles.warnings(profile, reading=reading)
    assert "threads = two: uWSGI reads a number here, and takes this for 0" in line


@pytest.mark.slow
def test_the_warning_stands_before_a_stress_test_as_well(lab):
    """Its preflight is the one of a run: where an import fails, a warning may say why."""
    Path("mine.ini").write_text(f"[uwsgi]\n{HTTP}proccesses = 4\nmodule = nosuch:app\n")
    _, _, errors = lab("stress", "./mine.ini")
    assert errors.splitlines()[-1].startswith(
        f"warning: {Path.cwd()}/mine.ini:3: proccesses = 4: uWSGI has no such option"
    )


def test_no_profile_of_this_project_is_warned_of():
    """Nor a planted one: a false alarm costs the trust in all others."""
    inis = [*ROOT.glob("profiles/*.ini"), *PLANTED.glob("*.ini")]
    profiles_read = [
        replace(described(str(ini)), private_copy=PrivateCopy())
        for ini in inis
        if ini.stem != "production"
    ]
    assert len(profiles_read) > 30
    assert [line for profile in profiles_read for line in profiles.warnings(profile)] == []


@pytest.mark.costly
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--profiles tunned", "tunned: the profile does not exist; did you mean tuned?"),
        ("--profiles", "--profiles needs a name: one that `lab list` prints"),
        ("--profiles tuned --profiles tuned", "profile tuned is named twice: name it once"),
        pytest.param(
            "--profiles baseline,tuned",
            "baseline,tuned: separate names by spaces: baseline tuned",
            marks=pytest.mark.slow,
        ),
        ("--rate -4", "--rate '-4': write requests per second, as in 2000, or 50%,80%"),
        pytest.param("--rate 50", "write 50% for a share", marks=pytest.mark.slow),
        pytest.param("--profile tuned", "as in --profiles tuned", marks=pytest.mark.slow),
        ("--workload hello --app a:b", "leave out one"),
        pytest.param("--blocks 0", "--blocks: '0': a whole number from", marks=pytest.mark.slow),
        pytest.param(
            "--python /nonexistent",
            "--python /nonexistent: it is not there; name your",
            marks=pytest.mark.slow,
        ),
        ("-H http://127.0.0.1:1 --env A=1", "--host and --env, which is for servers that"),
        pytest.param(
            "--window 0", "--window 0: between 0.1 and 600 seconds", marks=pytest.mark.slow
        ),
        pytest.param(
            "-H http://127.0.0.1:1 --profiles tuned",
            "leave out --host to compare them",
            marks=pytest.mark.slow,
        ),
        (
            "-H http://127.0.0.1:1 --fail-if cpu(a/b)>1",
            "--host and --fail-if, which is for",
        ),
    ],
)
def test_a_wrong_command_of_locust_is_answered_alone(tmp_path, words, said):
    """Before Locust's test begins, so that no empty table stands around the answer."""
    done = run(*LOCUST, "--headless", *words.split(), cwd=tmp_path)
    *before, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert said in last
    assert "ERROR/lab: " in last
    assert len(before) <= 1, before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("setting", "profile", "said"),
    [
        ("PROCESSES=abc", "tuned", "PROCESSES='abc': expected a number from 1 to 1024"),
        ("PORT=abc", "tuned", "PORT='abc': expected a number from 1 to 65535"),
        ("FIB_MAX_DIGITS=abc", "tuned", "FIB_MAX_DIGITS"),
        ("SOCKET=/nonexistent/x", "production", "/nonexistent"),
    ],
)
def test_a_wrong_setting_ends_the_service_before_it_answers(setting, profile, said):
    """With the variable, its value, and what may stand there."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
    done = subprocess.run(
        [BIN / "fibonacci", "serve", profile],
        cwd=ROOT, env=environment() | {"PORT": port} | dict([setting.split("=")]),
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert said in done.stdout + done.stderr


START = "*** Operational MODE: preforking ***\n"
NOT_LOADED = "unable to load app 0 (mountpoint='') (callable not found or import error)\n"
DATED = "Sun Nov 22 10:09:12 2026 - "
TRACE = 'Traceback (most recent call last):\n  File "{}", line 7, in load\n    go()\nOops: {}\n'
PACKAGE = "/venv/lib/python3.11/site-packages/flask/app.py"


@pytest.mark.parametrize(
    ("log", "text", "frame"),
    [
        (f"{START}ImportError: no\n{NOT_LOADED}", "ImportError: no", ""),
        (f"{DATED}ImportError: no\n{DATED}{NOT_LOADED}", "ImportError: no", ""),
        (TRACE.format("/srv/a.py", "x") + NOT_LOADED, "Oops: x", "/srv/a.py, line 7, in load"),
        (TRACE.format(PACKAGE, "x") + NOT_LOADED, "Oops: x", ""),
        (TRACE.format("/srv/a.py", "first") + TRACE.format("/srv/b.py", "second") + NOT_LOADED,
         "Oops: second", "/srv/b.py, line 7, in load"),
        (f"ImportError: no\n{NOT_LOADED}Traceback (most recent call last):\nKeyError: 'x'\n",
         "ImportError: no", ""),
        ("a\nbind(): Permission denied [core/socket.c line 230]\n",
         "bind(): Permission denied [core/socket.c line 230]", ""),
        *((f"{line}\nunlink(): No such file or directory [core/uwsgi.c line 1687]\n", line, "")
          for line in ("invalid logvar syntax, must be key=value", 'log encoder "x" not found',
                       "group nosuch not found.", "user nosuch not found.")),
        ("Failed to find attribute 'nope' in 'site'.\n[ERROR] Reason: App failed to load.\n",
         "Failed to find attribute 'nope' in 'site'.", ""),
        ("Invalid value for timeout: thirty\n\n\nError: invalid literal for int()\n",
         "Invalid value for timeout: thirty", ""),
        ("usage: gunicorn [OPTIONS]\ngunicorn: error: unrecognized arguments: --nope\n",
         "gunicorn: error: unrecognized arguments: --nope", ""),
        ("Usage: granian [OPTIONS] APP\n\nError: No such option '--worker'.\n",
         "Error: No such option '--worker'.", ""),
    ],
)  # fmt: skip
def test_the_reason_is_found_in_a_log(log, text, frame):
    """The exception that kept the application from loading, and the last frame of one's own."""
    the_reason = reason(log)
    assert (the_reason.text, the_reason.frame) == (text, frame)


def test_a_python_that_cannot_read_itself_is_told_as_such():
    """As that of a user whom an ini names by `uid`, where root's folder has the environment."""
    message = "ModuleNotFoundError: No module named 'encodings'"
    the_reason = reason(f"Fatal Python error: init_fs_encoding: no codec\n{message}\n\n")
    assert the_reason.text.startswith(
        f"{message}\nPython cannot read its own library: the user of uWSGI's `uid`"
    )


def test_a_log_that_says_nothing_has_no_reason():
    """An exception that is long past is not the reason either."""
    assert reason("") is None
    assert reason("spawned uWSGI worker 1\n") is None
    past = TRACE.format("/srv/a.py", "logged") + "a line\n" * 20 + START + NOT_LOADED
    assert reason(past) is None
