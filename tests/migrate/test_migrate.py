"""`lab migrate`: what it reads, what it writes, how it ends."""

from __future__ import annotations

import ast
import json
import subprocess

import pytest

from lab.cli.migrate.migration import migrated
from lab.config.gunicorn.reader import assignments
from lab.errors import ProfileError, UsageError
from tests.kit.lab_process import ROOT, run

INI = """\
[uwsgi]
socket = /run/shop.sock
chmod-socket = 660
module = shop.wsgi
chdir = /srv/shop
master = true
processes = 4
"""


@pytest.fixture
def ini(tmp_path):
    """Return the path of an ini as many have it."""
    path = tmp_path / "uwsgi.ini"
    path.write_text(INI)
    return path


def of_text(tmp_path, text, to, name="uwsgi.ini", environ=()):
    """Return what a configuration of that text becomes."""
    path = tmp_path / name
    path.write_text(text)
    return migrated(str(path), to, dict(environ))


def settings(migration):
    """Return the settings of a gunicorn.conf.py that was written."""
    return assignments(migration.text)


def command(migration):
    """Return the command of a script that was written, without its comments."""
    return migration.text.rpartition("exec ")[2].replace("\\\n", " ").split()


def test_what_is_written_is_python(ini):
    """And says what each line was."""
    migration = migrated(str(ini), "gunicorn", {})
    ast.parse(migration.text)
    assert settings(migration)["workers"] == 4
    assert "# processes = 4\nworkers = 4\n" in migration.text
    assert settings(migration)["wsgi_app"] == "shop.wsgi:application"


def test_a_script_is_one_that_a_shell_reads(ini, tmp_path):
    """With each value as one word."""
    migration = migrated(str(ini), "granian", {})
    script = tmp_path / "granian.sh"
    script.write_text(migration.text)
    assert subprocess.run(["sh", "-n", script], check=False).returncode == 0
    assert command(migration)[-1] == "shop.wsgi:application"


def test_the_lines_of_nginx_change_with_the_protocol(ini):
    """uwsgi_pass leaves where HTTP comes, and stays where it does not."""
    nginx = migrated(str(ini), "granian", {}).nginx
    assert "- uwsgi_pass unix:/run/shop.sock;" in nginx
    assert "+ proxy_pass http://unix:/run/shop.sock;" in nginx
    assert migrated(str(ini), "gunicorn", {}).nginx == ()


@pytest.mark.parametrize(
    ("value", "python", "shell"),
    [
        ("%k", "cpus()", "$CPUS"),
        ("%(%k * 2)", "cpus() * 2", "$((CPUS * 2))"),
        ("%(%k * 2 + 1)", "cpus() * 2 + 1", "$((CPUS * 2 + 1))"),
        ("%(1 + %k * 2)", "cpus() * 2 + 2", "$((CPUS * 2 + 2))"),
        ("$(N)", 'int(os.environ["N"])', "${N}"),
    ],
)
def test_what_the_machine_decides_stays_its_own(tmp_path, value, python, shell):
    """The CPUs, which a container's limit bounds, and variables."""
    text = f"[uwsgi]\nmodule = shop\nworkers = {value}\n"
    assert f"\nworkers = {python}\n" in of_text(tmp_path, text, "gunicorn").text
    assert f'--workers "{shell}"' in of_text(tmp_path, text, "granian").text


@pytest.mark.parametrize("value", ["%(%k*2)", "%(%k - 1)", "%(%k / 2)", "%(%k * 0)"])
def test_a_number_of_cpus_that_is_not_understood_is_no_number(tmp_path, value):
    """The number here would be false on another machine."""
    migration = of_text(tmp_path, f"[uwsgi]\nmodule = shop\nworkers = {value}\n", "gunicorn")
    assert "\nworkers = " not in migration.text
    assert f"workers = {value}" in {note.was for note in migration.lists["no equivalent"]}
    assert not migration.concurrency


def test_a_variable_that_is_given_is_its_value(tmp_path):
    """As by --env."""
    text = "[uwsgi]\nmodule = shop\nworkers = $(N)\n"
    assert settings(of_text(tmp_path, text, "gunicorn", environ={"N": "3"}.items()))["workers"] == 3


def test_a_condition_that_was_decided_here_is_named(tmp_path):
    """Its lines may be there where it serves."""
    text = "[uwsgi]\nmodule = shop\nif-env = LIMIT\nharakiri = %(_)\nendif =\n"
    assert of_text(tmp_path, text, "gunicorn").open == (
        "the translation assumes that the variable LIMIT is not set: give --env LIMIT=VALUE",
    )


@pytest.mark.parametrize(
    ("command", "to", "line"),
    [
        ("gunicorn --log-level warn a:b", "granian", "--log-level info"),
        ("gunicorn --log-level fatal -k asgi a:b", "uvicorn", "--log-level info"),
        ("granian --interface wsgi --log-level warn a:b", "gunicorn", 'loglevel = "warning"'),
        ("granian --interface asgi --log-level warn a:b", "uvicorn", "--log-level warning"),
        ("granian --interface wsgi --log-level notset a:b", "gunicorn", ""),
        ("uvicorn --log-level trace a:b", "granian", ""),
    ],
)
def test_a_log_level_is_one_that_the_new_server_has(command, to, line):
    """gunicorn logs at info if it does not have the level, granian and uvicorn do not start."""
    migration = migrated(command, to, {})
    assert line in migration.text if line else "level" not in migration.text
    lost = [
        note.becomes for note in migration.lists["no equivalent"] if "log level" in note.becomes
    ]
    assert bool(lost) == (not line)


def test_a_configuration_without_an_application_is_printed_with_what_to_write(tmp_path):
    """gunicorn's command names it as often as its file."""
    (tmp_path / "gunicorn.conf.py").write_text("workers = 2\nbind = '127.0.0.1:8000'\n")
    done = run("lab", "migrate", "gunicorn.conf.py", "--to", "granian", cwd=tmp_path)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "Application not known: write it in place of MODULE:CALLABLE" in lines


def test_a_python_file_is_read_and_not_run(tmp_path):
    """What only running it would tell is named."""
    marker = tmp_path / "ran"
    text = f"open({str(marker)!r}, 'w')\nworkers = 3\ntimeout = limit()\nwsgi_app = 'shop:app'\n"
    migration = of_text(tmp_path, text, "granian", "gunicorn.conf.py")
    assert not marker.exists()
    assert "--workers 3" in migration.text
    assert any(note.was == "timeout = limit()" for note in migration.translation.lost)


@pytest.mark.parametrize(
    ("words", "to", "expected"),
    [
        ("gunicorn -w 3 --threads 2 -b :8000 shop:app", "uwsgi", "processes = 3"),
        ("gunicorn -w 3 --threads 2 -b :8000 shop:app", "granian", "--blocking-threads 2"),
        ("granian --interface wsgi --workers 3 --port 8000 shop:app", "uwsgi", "processes = 3"),
        ("granian --interface wsgi --factory shop:make", "gunicorn", '"shop:make()"'),
        ("uwsgi --http :8000 --module shop --processes 3", "gunicorn", "workers = 3"),
    ],
)
def test_a_command_is_read_as_a_file_is(words, to, expected):
    """In quotes, with short options too."""
    assert expected in migrated(words, to, {}).text


HOSTILE = """\
bind = "unix:/run/x\\nexec-asap = touch MARK"
proc_name = "x\\nexec-asap = touch MARK"
workers = int(os.environ.get("N", "2}$(touch MARK)"))
pidfile = "@(exec://touch MARK)"
wsgi_app = "shop:app\\nexec-asap = touch MARK"
raw_env = ["A=$(touch MARK)", "touch MARK;B=1", "C=`touch MARK`'\\""]
chdir = "/srv/$(touch MARK)"
"""


@pytest.mark.parametrize("to", ["uwsgi", "granian"])
def test_a_value_that_would_act_is_not_copied(tmp_path, to):
    """Neither a line of its own, nor a command of a shell or an ini; it is named as lost."""
    migration = of_text(tmp_path, HOSTILE, to, "gunicorn.conf.py")
    # What stands behind `env =` of an ini is a text, whatever it is.
    lines = [line for line in migration.text.splitlines() if not line.startswith(("#", "env = "))]
    assert not any("touch" in line for line in lines)
    assert all(
        "=" in line and "MARK" not in line.partition("=")[0]
        for line in migration.environment.splitlines()
    )
    assert len(migration.translation.lost) >= 5


def test_a_file_of_variables_runs_nothing(tmp_path):
    """Whatever stands in them: a shell reads it."""
    migration = of_text(
        tmp_path, HOSTILE.replace("MARK", str(tmp_path / "mark")), "granian", "gunicorn.conf.py"
    )
    (tmp_path / "granian.env").write_text(migration.environment)
    subprocess.run(["sh", "-c", "set -a; . ./granian.env"], cwd=tmp_path, check=False)
    assert not (tmp_path / "mark").exists()


def test_nothing_lost_ends_with_0(tmp_path):
    """A configuration of which the other server can say all."""
    conf = 'wsgi_app = "shop:app"\nworkers = 2\nbind = "127.0.0.1:8000"\n'
    assert of_text(tmp_path, conf, "uwsgi", "gunicorn.conf.py").status == 0


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("notes.txt", "", "or a command in quotes"),
        ("notes.txt", "hello", "or a command in quotes"),
        ("notes.txt", "\x00", "is not text, because it has NUL bytes"),
        ("uwsgi.ini", "[uwsgi]\n{% if debug %}\n", "is a template"),
        ("uwsgi.ini", "[uwsgi]\n<<<<<<< HEAD\n", "has a merge conflict"),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path, name, text, problem):
    """With what it reads."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ProfileError, match=problem):
        migrated(str(path), "granian", {})


def test_the_same_server_is_refused(ini):
    """There is nothing to translate."""
    with pytest.raises(UsageError, match="--to another one"):
        migrated(str(ini), "uwsgi", {})


@pytest.mark.parametrize("output", ["granian.env", "./granian.env"])
def test_a_script_is_not_called_like_the_file_of_its_variables(ini, tmp_path, output):
    """The variables were written over it."""
    ini.write_text(f"{INI}env = MODE=live\n")
    words = ("migrate", str(ini), "--to", "granian", "--output", output)
    done = run("lab", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "name another FILE" in done.stderr
    assert not (tmp_path / "granian.env").exists()


def test_nothing_is_written_where_a_half_cannot_be(ini, tmp_path):
    """A script without its variables starts another server."""
    ini.write_text(f"{INI}env = MODE=live\n")
    (tmp_path / "granian.env").write_text("A=1\n")
    words = ("migrate", str(ini), "--to", "granian", "--output", "granian.sh")
    done = run("lab", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "granian.env: the file exists" in done.stderr
    assert not (tmp_path / "granian.sh").exists()
    assert (tmp_path / "granian.env").read_text() == "A=1\n"


def test_the_command_writes_what_is_asked_for(ini, tmp_path):
    """A file that is there stays; variables stand beside a script."""
    ini.write_text(f"{INI}env = MODE=live\n")
    done = run(
        "lab", "migrate", str(ini), "--to", "granian", "--output", "granian.sh", cwd=tmp_path
    )
    assert done.returncode == 4
    assert (tmp_path / "granian.env").read_text() == "MODE=live\n"
    before = (tmp_path / "granian.sh").read_text()
    again = run(
        "lab", "migrate", str(ini), "--to", "granian", "--output", "granian.sh", cwd=tmp_path
    )
    assert again.returncode == 2
    assert "exists" in again.stderr
    assert (tmp_path / "granian.sh").read_text() == before


def test_json_has_all_that_is_printed(ini):
    """For who goes on from there."""
    done = run("lab", "migrate", str(ini), "--to", "gunicorn", "--format", "json", cwd=ROOT)
    report = json.loads(done.stdout)
    assert report["status"] == done.returncode == 4
    assert {
        "the_same",
        "behaves_differently",
        "no_equivalent",
        "not_visible_in_the_configuration",
    } <= report.keys()


def test_markdown_is_a_page(ini):
    """With the configuration in a block, and a table a list."""
    done = run("lab", "migrate", str(ini), "--to", "granian", "--format", "markdown", cwd=ROOT)
    assert done.stdout.startswith("# From uWSGI to granian\n")
    assert "\n## No equivalent\n" in done.stdout
    assert "```diff\n- include uwsgi_params;" in done.stdout


def test_a_default_of_a_variable_stays_one(tmp_path):
    """The variable counts where it is set, and the default where it is not."""
    conf = "wsgi_app = \"shop:app\"\nbind = f\"0.0.0.0:{os.environ.get('PORT', '8000')}\"\n"
    conf += 'workers = int(os.getenv("N", "4"))\n'
    ini = tmp_path / "uwsgi.ini"
    ini.write_text(of_text(tmp_path, conf, "uwsgi", "gunicorn.conf.py").text)
    for environ, workers, port in (({}, "4", "8000"), ({"N": "2", "PORT": "9"}, "2", "9")):
        read = migrated(str(ini), "gunicorn", environ)
        assert settings(read)["workers"] == int(workers)
        assert [str(address.port) for address in read.translation.service.addresses] == [port]


def test_a_product_of_a_variable_is_named_as_lost(tmp_path):
    """An ini would take the variable alone."""
    conf = 'wsgi_app = "shop:app"\nworkers = int(os.environ["N"]) * 2\n'
    migration = of_text(tmp_path, conf, "uwsgi", "gunicorn.conf.py")
    assert "processes" not in migration.text
    assert "multiply" in migration.translation.lost[0].becomes


def test_a_master_is_written_where_nobody_replaced_workers(tmp_path):
    """Without one neither a time limit nor a stop works."""
    words = "granian --interface wsgi --workers 2 shop:app"
    assert "\nmaster = true\n" in migrated(words, "uwsgi", {}).text


def test_a_default_that_is_computed_is_named_as_lost(tmp_path):
    """The variable alone would leave the number empty where it is not set."""
    conf = 'wsgi_app = "shop:app"\nworkers = int(os.environ.get("N", cpu_count() * 2 + 1))\n'
    migration = of_text(tmp_path, conf, "uwsgi", "gunicorn.conf.py")
    assert "processes" not in migration.text
    assert "computed" in migration.translation.lost[0].becomes


def test_bytes_that_are_no_text_are_written(tmp_path):
    """The file has them as they are printed."""
    (tmp_path / "uwsgi.ini").write_bytes(b"[uwsgi]\nmodule = shop\nprocname = caf\xe9\n")
    words = ("migrate", "uwsgi.ini", "--to", "gunicorn", "--output", "gunicorn.conf.py")
    assert run("lab", *words, cwd=tmp_path).returncode == 4
    written = (tmp_path / "gunicorn.conf.py").read_text()
    assert "proc_name = 'caf\\udce9'" in written
    ast.parse(written)


@pytest.mark.parametrize("to", ["uwsgi", "granian"])
def test_a_log_called_minus_is_no_file(tmp_path, to):
    """It is standard error, where the others log by default; uWSGI would write a file `-`."""
    conf = 'wsgi_app = "shop:app"\nerrorlog = "-"\n'
    migration = of_text(tmp_path, conf, to, "gunicorn.conf.py")
    assert "logto" not in migration.text
    assert not [note for note in migration.translation.lost if "errorlog" in note.was]


def test_an_open_condition_does_not_say_that_lines_were_left_out(tmp_path):
    """Those of if-not-env are in, where the variable is not set."""
    text = "[uwsgi]\nmodule = shop\nif-not-env = PORT\nhttp = :8000\nendif =\n"
    (tmp_path / "uwsgi.ini").write_text(text)
    done = run("lab", "migrate", "uwsgi.ini", "--to", "gunicorn", cwd=tmp_path)
    assert 'bind = "0.0.0.0:8000"' in done.stdout
    assert "assumes that the variable PORT is not set: give --env PORT=VALUE" in done.stdout


@pytest.mark.parametrize(("line", "is_said"), [("", True), ("stats = 127.0.0.1:9\n", False)])
def test_a_master_that_stats_implies_replaces_workers(line, is_said, tmp_path):
    """As it does where `master` is written."""
    (tmp_path / "uwsgi.ini").write_text(f"[uwsgi]\nmodule = shop:app\nprocesses = 2\n{line}")
    done = run("lab", "migrate", "uwsgi.ini", "--to", "gunicorn", cwd=tmp_path)
    assert ("there is no master" in done.stdout + done.stderr) is is_said


def test_short_options_of_uwsgi_are_read():
    """Those of its quick start, with the value in the same word or the next."""
    text = migrated("uwsgi --http :80 -w shop:app -Mp4 -t 30", "gunicorn", {}).text
    assert 'wsgi_app = "shop:app"' in text
    assert "workers = 4" in text
    assert "# harakiri = 30" in text
    with pytest.raises(ProfileError, match="-q: lab does not know the letter q"):
        migrated("uwsgi --http :80 -q", "granian", {})


def test_an_address_of_http_beside_one_of_uwsgi_is_lost(tmp_path):
    """gunicorn speaks one protocol at all of its addresses."""
    text = "[uwsgi]\nmodule = shop\nsocket = /run/shop.sock\nhttp-socket = :8000\n"
    migration = of_text(tmp_path, text, "gunicorn")
    assert settings(migration)["bind"] == "unix:/run/shop.sock"
    assert "http-socket = :8000" in [note.was for note in migration.translation.lost]


def test_an_include_that_is_not_there_is_lost(tmp_path):
    """Its options may be half of the configuration."""
    migration = of_text(tmp_path, "[uwsgi]\nmodule = shop\ninclude = base.ini\n", "gunicorn")
    assert "include = base.ini" in [note.was for note in migration.translation.lost]


def test_a_section_that_is_not_there_is_refused(tmp_path):
    """The defaults alone are no migration."""
    (tmp_path / "uwsgi.ini").write_text("[uwsgi]\nmodule = shop\n")
    with pytest.raises(ProfileError, match="no section \\[nosuch\\] that uWSGI would read"):
        migrated(f"{tmp_path}/uwsgi.ini:nosuch", "gunicorn", {})


def test_a_word_that_gunicorn_does_not_know_is_refused():
    """It was left out in silence, and all was said to be carried over."""
    with pytest.raises(ProfileError, match="--nope: gunicorn has no such option"):
        migrated("gunicorn --nope 3 shop:app", "uwsgi", {})
