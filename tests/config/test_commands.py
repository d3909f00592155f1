"""A gunicorn.conf.py, and a command in quotes, as profiles: they listen where the lab asks."""

from __future__ import annotations

import pytest

from lab.bench import profiles
from lab.config import command, servers
from lab.config.gunicorn import private
from lab.errors import ProfileError

CONF = """
import os
wsgi_app = "shop:app"
bind = "unix:/run/shop.sock"
workers = os.cpu_count() * 2 + 1
threads = 4
daemon = True
pidfile = "/run/shop.pid"
accesslog = "/var/log/shop.log"
errorlog = "-"
statsd_host = "10.0.0.1:8125"
certfile = "a.pem"
"""


@pytest.fixture
def conf(tmp_path):
    """Return the path of a gunicorn.conf.py as it may be in production."""
    path = tmp_path / "gunicorn.conf.py"
    path.write_text(CONF)
    return path


def test_a_gunicorn_configuration_is_a_profile(conf):
    """It is read as it is, by one that undoes what reaches beyond a trial; each is named."""
    profile = profiles.read(str(conf))
    assert (profile.name, profile.cwd) == ("gunicorn.conf", conf.parent)
    assert profile.private_copy
    assert profile.commands == (
        ("gunicorn", "--config", "{folder}/private.conf.py", "--bind", "{host}:{port}", "{app}"),
    )
    read = servers.settings(profile)
    assert servers.of(profile).program == "gunicorn"
    assert (read.application, read.options["threads"]) == ("shop:app", 4)
    assert [str(alteration) for alteration in profile.altered] == [
        "bind = unix:/run/shop.sock -> a free port",
        "daemon = True (would go to the background)",
        "pidfile = /run/shop.pid (would overwrite the file of a real server)",
        "accesslog = /var/log/shop.log -> the trial's folder",
        "statsd_host = 10.0.0.1:8125 (would report the metrics of the trial)",
        "certfile = a.pem (lab sends requests without TLS)",
    ]


def test_the_copy_wins_over_the_configuration(conf, tmp_path):
    """Whatever that says, as Python itself runs it."""
    text = dict(profiles.read(str(conf)).options)[private.COPY]
    space = {}
    exec(text.replace("{here}", str(tmp_path)).replace("{folder}", "/trial"), space)
    assert (space["daemon"], space["pidfile"], space["statsd_host"]) == (False, None, None)
    assert (space["accesslog"], space["errorlog"]) == ("/trial/accesslog", "-")
    assert (space["wsgi_app"], space["threads"], space["__file__"]) == ("shop:app", 4, str(conf))


def test_a_configuration_that_names_no_application_serves_what_is_named(conf):
    """By --app."""
    conf.write_text("workers = 2\n")
    assert profiles.read(str(conf)).interfaces == ("wsgi",)


def test_what_is_no_python_is_told_with_its_line(conf):
    """Before gunicorn is started."""
    conf.write_text("workers = 2\nbind =\n")
    with pytest.raises(ProfileError, match=r"gunicorn\.conf\.py:2: is not Python"):
        profiles.read(str(conf))


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("granian --interface wsgi shop:app", "granian-interface-wsgi",
         "granian --host {host} --port {port} --interface wsgi shop:app"),
        ("granian --host 0.0.0.0 --port=80 --workers 2 shop:app", "granian-workers-2",
         "granian --host {host} --port {port} --workers 2 shop:app"),
        ("gunicorn -b unix:/run/a -w 2 shop:app --pid /run/a.pid", "gunicorn-w-2",
         "gunicorn --bind {host}:{port} -w 2 shop:app"),
        ("python -m gunicorn --bind=:80 shop:app", "gunicorn",
         "python -m gunicorn --bind {host}:{port} shop:app"),
        ("A=1 waitress-serve --listen=*:80 shop:app", "waitress-serve",
         "env A=1 waitress-serve --listen {host}:{port} shop:app"),
        ("granian --pid-file /run/a.pid --workers 2 shop:app", "granian-workers-2",
         "granian --host {host} --port {port} --workers 2 shop:app"),
        ("granian shop:app", "granian-own", "granian --host {host} --port {port} shop:app"),
        ("serve --at {port} shop:app", "serve-at", "serve --at {port} shop:app"),
    ],
)  # fmt: skip
def test_a_command_listens_where_the_lab_asks(text, name, words):
    """Its own address is replaced or added; the application is the one that it names."""
    profile = profiles.read(text)
    assert profile.name == name
    assert profile.private_copy
    assert profile.commands == (tuple(words.split()),)
    assert servers.settings(profile).application == "shop:app"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("unheard-of shop:app", "does not know how to tell unheard-of where .*; write {port}"),
        ("uwsgi --http :80", "give its options in an ini"),
        ("granian 'x", "this is not a command: No closing quotation"),
        (
            "gunicorn -w 2",
            "names no application: .*, as in 'gunicorn -w 2 shop.wsgi:application'",
        ),
        ("gunicorn --preload -k gevent", "names no application"),
        ("A=1 python -m gunicorn --workers=2", "names no application"),
        ("granian --reload --interface wsgi", "names no application"),
    ],
)
def test_a_command_that_cannot_be_told_where_to_listen(text, said):
    """Is answered with what to write."""
    with pytest.raises(ProfileError, match=said):
        profiles.read(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gunicorn --daemon shop:app", "leave --daemon out"),
        ("gunicorn -D shop:app", "leave --daemon out"),
        ("gunicorn -c deploy.conf.py shop:app", "give its configuration file"),
        ("gunicorn --config=deploy.conf.py shop:app", "give its configuration file"),
    ],
)
def test_a_command_that_would_act_beyond_a_trial_is_refused(text, said):
    """In one line that says what to give instead."""
    with pytest.raises(ProfileError, match=said):
        profiles.read(text)


def test_a_file_that_gunicorn_would_read_by_itself_is_named(conf, monkeypatch):
    """Its logs, pidfile and hooks would be the real ones: it is the file that is to be given."""
    monkeypatch.chdir(conf.parent)
    with pytest.raises(ProfileError, match=r"also reads the gunicorn\.conf\.py in this folder"):
        profiles.read("gunicorn -w 1 shop:app")


def test_a_real_servers_files_are_left_out_of_a_command(tmp_path, monkeypatch):
    """Each is named; a log to the terminal stays, since it costs what it costs in production."""
    monkeypatch.chdir(tmp_path)
    profile = profiles.read(
        "gunicorn --access-logfile /var/log/a --error-logfile=- --statsd-host x:1 "
        "--control-socket /run/shop.ctl shop:app"
    )
    assert profile.commands == (
        ("gunicorn", "--bind", "{host}:{port}", "--error-logfile", "-", "shop:app"),
    )
    left_out = ["--access-logfile", "--statsd-host", "--control-socket"]
    assert [alteration.option for alteration in profile.altered] == left_out


def test_a_long_command_has_a_name_that_figures_have_room_for():
    """And another one than a command that differs at its end only."""
    text = "granian --interface wsgi --respawn-failed-workers --workers {} shop:app"
    names = {profiles.read(text.format(number)).name for number in (2, 3)}
    assert len(names) == 2
    assert {len(name) for name in names} == {command.MAX_NAME}


def test_what_is_in_braces_is_explained():
    """With the first that stands there."""
    _, line, *_ = profiles.lines_of(profiles.read("tuned"))
    assert line == "; What is in braces, such as {port}, is chosen at each start."


def test_the_hooks_that_run_are_named(conf):
    """`lab show` prints the copy, whose first lines name them."""
    conf.write_text(f"{CONF}\ndef post_fork(server, worker):\n    pass\nfrom base import on_exit\n")
    lines = "\n".join(profiles.lines_of(profiles.read(str(conf))))
    assert "# Its hooks run, and nobody here knows what they do: post_fork, on_exit.\n" in lines
    conf.write_text(CONF)
    assert "Its hooks" not in "\n".join(profiles.lines_of(profiles.read(str(conf))))


def test_what_is_computed_is_not_taken_for_a_name(conf):
    """No module is imported that is called as Python code is."""
    conf.write_text(
        "import os\nwsgi_app = os.environ['APP']\nif os.environ.get('D'):\n    daemon = 1\n"
    )
    profile = profiles.read(str(conf))
    assert (servers.settings(profile).application, profile.interfaces) == (None, ("wsgi",))
    assert [str(alteration) for alteration in profile.altered] == [
        "daemon = 1 (would go to the background)"
    ]


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbfworkers = 2\n", b"# coding: latin-1\nproc_name = '\xe9'\n"]
)
def test_a_configuration_is_read_as_python_reads_it(conf, tmp_path, data):
    """With a byte order mark, or by the comment of its encoding."""
    conf.write_bytes(data)
    text = dict(profiles.read(str(conf)).options)[private.COPY]
    space = {}
    exec(text.replace("{here}", str(tmp_path)).replace("{folder}", "/trial"), space)
    assert space.get("workers") == 2 or space.get("proc_name") == "é"


@pytest.mark.parametrize(
    "words", ["--preload shop", "-w=1 shop", "-w 1 shop", "-k a.b:C shop", "{app} -w 1"]
)
def test_a_command_may_name_an_application_by_its_module(words):
    """Behind an option without a value, and in any place."""
    profiles.read(f"gunicorn {words}")


def test_a_name_that_is_longer_than_a_files_is_a_command():
    """Of a command with many options no file system says that there is such a file."""
    assert command.is_command(f"gunicorn --access-logformat '{'%(r)s ' * 60}' a:b")
