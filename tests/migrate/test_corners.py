"""What becomes of lines that are easily carried over wrongly, or passed over in silence."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import pytest

from lab.cli.migrate.migration import migrated
from lab.config.spot import Setting, Spot
from lab.config.vocabulary.service import collected
from lab.config.vocabulary.values import Expression
from lab.errors import ProfileError


@pytest.fixture
def moved(tmp_path):
    """Return a function that migrates a file with some lines of options."""

    def make(lines, to="gunicorn", name="uwsgi.ini"):
        path = tmp_path / name
        head = "[uwsgi]\nhttp = :8000\nmodule = shop\n" if name == "uwsgi.ini" else ""
        path.write_text(head + lines)
        return migrated(str(path), to, {})

    return make


def notes(migration, name):
    """Return the lines of one of the lists, as they are printed."""
    return [f"{note.was} -> {note.becomes}" for note in migration.lists[name]]


@pytest.mark.parametrize(
    ("name", "lines", "to", "counts"),
    [
        ("uwsgi.ini", "processes = %k\n", "gunicorn", "%k"),
        ("uwsgi.ini", "processes = %k\n", "granian", "%k"),
        ("gunicorn.conf.py", "workers = cpu_count() * 2 + 1\n", "granian", "cpu_count()"),
    ],
)
def test_a_number_of_cpus_is_counted_another_way(moved, name, lines, to, counts):
    """What is written counts a container's limit, and what was written did not."""
    migration = moved(lines, to, name)
    assert not [note for note in notes(migration, "the same") if "CPUs" in note]
    (line,) = [note for note in notes(migration, "behaves differently") if "CPUs" in note]
    assert f"also obeys a container's CPU limit; {counts} does not" in line


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ("http-keepalive = 1\n", 60),
        ("http-keepalive = 1\nhttp-timeout = 75\n", 75),
        ("http-keepalive = 20\nhttp-timeout = 75\n", 20),
    ],
)
def test_a_connection_is_kept_as_long_as_before(moved, lines, seconds):
    """http-keepalive = 1 is a yes, and the router waits as long as http-timeout says."""
    assert f"\nkeepalive = {seconds}\n" in moved(lines).text


def test_requests_stay_in_the_file_of_the_log(moved):
    """uWSGI writes them beside its own lines."""
    text = moved("logto = /var/log/shop.log\n").text
    assert '\naccesslog = "/var/log/shop.log"\n' in text
    assert '\nerrorlog = "/var/log/shop.log"\n' in text
    assert '\naccesslog = "-"\n' in moved("").text


def test_each_option_of_one_meaning_is_named(moved):
    """Also those that do not count, as the last one does."""
    migration = moved("processes = 4\nworkers = 2\n")
    assert "workers = 2" in migration.text
    assert "processes = 4, workers = 2 -> workers = 2" in notes(migration, "the same")
    lines = "http = :80\nhttp-auto-chunked = true\nhttp-raw-body = true\n"
    lost = notes(moved(lines), "no equivalent")
    named = "http-auto-chunked = true, http-raw-body = true"
    assert [note for note in lost if note.startswith(named)]


@pytest.mark.parametrize(
    "command",
    ["gunicorn shop:app -w", "gunicorn --workers= shop:app", "uwsgi --module shop --processes"],
)
def test_an_option_without_its_value_is_refused(command):
    """A number of workers that nobody wrote is no True."""
    with pytest.raises(ProfileError, match="the option needs a value"):
        migrated(command, "granian", {})


def test_a_value_may_stand_right_behind_a_letter():
    """As gunicorn reads -w4."""
    assert "--workers 4" in migrated("gunicorn -w4 -b :80 shop:app", "granian", {}).text


def test_each_word_of_a_command_that_may_be_repeated_counts():
    """Variables and addresses of gunicorn's, where the last alone was carried over."""
    command = "gunicorn -e A=1 --env B=2 -b 127.0.0.1:80 -b 127.0.0.1:81 shop:app"
    assert migrated(command, "granian", {}).environment == "A=1\nB=2\n"
    text = migrated(command, "uwsgi", {}).text
    assert "http-socket = 127.0.0.1:80\n" in text
    assert "http-socket = 127.0.0.1:81\n" in text


def test_the_time_for_variables_grows_with_their_number():
    """And not with its square: 150,000 lines of a generated ini took 20 s."""

    def seconds(number):
        texts = [
            (f"NAME_{index}=value", Spot(Path("uwsgi.ini"), index, 1)) for index in range(number)
        ]
        settings = [Setting("env", text, spot, text) for text, spot in texts]
        gc.collect()
        gc.disable()  # how often it runs depends on what other tests have left
        began = time.process_time()
        settings_by_sense, rest = collected(
            "uwsgi", settings, str, lambda setting: Expression.of(setting.value), bool
        )
        assert len(settings_by_sense["environment"].values) == number
        took = time.process_time() - began
        gc.enable()
        assert not rest
        return took

    few, many = (min(seconds(number) for _ in range(3)) for number in (5_000, 25_000))
    assert many < 15 * few  # 5 times as many took 25 times as long


def test_what_is_computed_takes_nothing_else_with_it(moved):
    """Each entry of a list is read for itself, those with a variable as well."""
    lines = 'raw_env = ["A=1", f"B={os.environ[\'B\']}", "C=" + secret()]\n'
    migration = moved(lines, "granian", "gunicorn.conf.py")
    assert 'A=1\nB="${B}"\n' in migration.environment
    assert 'raw_env: f"C=' not in str(notes(migration, "no equivalent"))
    (line,) = [note for note in notes(migration, "no equivalent") if note.startswith("raw_env: ")]
    reason = "the value is computed, and lab does not run it: write the value"
    assert line == f"raw_env: 'C=' + secret() -> {reason}"


def test_what_the_lab_does_not_know_is_told_plainly(moved):
    """With what to do about it."""
    (line,) = [
        note for note in notes(moved("add-gid = 33\n"), "no equivalent") if "add-gid" in note
    ]
    assert line.endswith("look it up in the options of the new server")


def ini(folder, lines, to):
    """Migrate an ini of these lines and no other."""
    (folder / "u.ini").write_text(f"[uwsgi]\n{lines}\n")
    return migrated(str(folder / "u.ini"), to, {})


@pytest.mark.parametrize(
    ("lines", "written", "lost"),
    [
        ("mount = /foo=m:app", "--url-path-prefix /foo", ""),
        ("mount = /=m:app", "m:app", ""),
        ("mount = a.example=m:app", "m:app", "mount = a.example=m:app"),
        ("mount = /=n:app\nmount = /foo=m:app", "--url-path-prefix /foo", "mount = /=n:app"),
        ("module = n:app\nmount = /foo=m:app", "n:app", "mount = /foo=m:app"),
    ],
)
def test_a_mount_is_a_path_and_an_application(tmp_path, lines, written, lost):
    """Only the path is the prefix; another application is lost, and not silently."""
    made = ini(tmp_path, lines, "granian")
    assert written in made.text
    assert "=m:app" not in made.text.partition("exec ")[2]
    assert lost in "\n".join(notes(made, "no equivalent"))
    assert ("--url-path-prefix" in made.text.partition("exec ")[2]) == ("prefix" in written)


@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_plain_http_does_not_become_tls(tmp_path, to):
    """These servers speak TLS at all addresses or at none."""
    text = "module = m:app\nhttp-socket = :80\nhttps = :443,c.crt,c.key,HIGH,!ca\n"
    made = ini(tmp_path, text, to)
    assert "443" in made.text
    assert "80" not in made.text.replace("443", "")
    assert "http-socket = :80" in "\n".join(notes(made, "no equivalent"))


def test_a_mode_that_is_a_variable_is_no_mode_of_666(tmp_path):
    """The socket would be open to all."""
    text = "module = m:app\nsocket = /tmp/a\nchmod-socket = $(MODE)\n"
    made = ini(tmp_path, text, "gunicorn")
    assert "umask" not in made.text
    assert "chmod-socket = $(MODE)" in "\n".join(notes(made, "no equivalent"))


@pytest.mark.parametrize("to", ["granian", "uwsgi"])
def test_a_shells_variable_in_gunicorns_command_is_no_text(to):
    """It would be `$W` itself, of which granian says that it is no number."""
    made = migrated("gunicorn -w $W -b 0.0.0.0:${PORT} m:app", to, {})
    workers, port = ('"${W}"', '"${PORT}"') if to == "granian" else ("$(W)", "$(PORT)")
    assert f"--workers {workers} " in made.text or f"processes = {workers}\n" in made.text
    assert f"--port {port} " in made.text or f"http-socket = 0.0.0.0:{port}\n" in made.text
    assert "$" not in "".join(notes(made, "no equivalent"))


def test_what_lies_elsewhere_is_named_as_not_read(tmp_path):
    """Without --trusted; or its options would seem to be carried over."""
    made = ini(tmp_path, "module = m:app\nini = ../elsewhere/o.ini\n", "granian")
    (line,) = [note for note in notes(made, "no equivalent") if "read completely" in note]
    assert line.startswith("the configuration is not read completely -> without --trusted lab does")


def test_who_sets_a_variable_of_an_ini_is_told_what_uwsgi_does_with_it():
    """A mere number for granian, it may be a command for uWSGI."""
    made = migrated("granian --interface wsgi --workers ${W:-2} m:app", "uwsgi", {})
    assert "the variable W" in "\n".join(notes(made, "not visible in the configuration"))


def test_a_prefix_is_a_mount_of_the_application_and_back(tmp_path):
    """uWSGI serves nothing below a path that has no application behind it."""
    command = "granian --interface wsgi --url-path-prefix /shop m:app"
    made = migrated(command, "uwsgi", {})
    assert "mount = /shop=m:app" in made.text
    assert "manage-script-name = true" in made.text
    assert "module =" not in made.text
    (tmp_path / "u.ini").write_text(made.text)
    back = migrated(str(tmp_path / "u.ini"), "granian", {}).text
    assert "--url-path-prefix /shop" in back
    assert back.endswith("m:app\n")
