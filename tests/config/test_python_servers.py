"""gunicorn's file and granian's command, as rules see them."""

import pytest

from lab.config.configuration import Known
from lab.config.granian.command import TABLE as GRANIAN
from lab.config.gunicorn import reader as gunicorn
from lab.config.uvicorn.command import TABLE as UVICORN
from lab.errors import ProfileError
from lab.lint.lint import lint
from tools import command_options, gunicorn_settings


def read(reader, folder, text):
    """Return what a text sets, as (option, value, line, column, column of the value)."""
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    settings = reader(path, Known()).settings
    return [(s.option, s.value, s.spot.line, s.spot.column, s.column) for s in settings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workers = 4\n", [("workers", "4", 1, 1, 11)]),
        ("'''é'''; bind = ':80'", [("bind", ":80", 1, 10, 17)]),
        ("a = b = 2", [("a", "2", 1, 1, 9), ("b", "2", 1, 5, 9)]),
        ("timeout: int = 30", [("timeout", "30", 1, 1, 16)]),
        ("workers = count() + 1", [("workers", "", 1, 1, 11)]),
        ("workers = 1\nworkers += 1", [("workers", "1", 1, 1, 11), ("workers", "", 2, 1, 0)]),
        ("a, b = 1, 2", [("a", "1", 1, 1, 8), ("b", "2", 1, 4, 11)]),
        ("a, b = c", [("a", "", 1, 1, 0), ("b", "", 1, 4, 0)]),
        ("if x:\n    workers = 2", [("workers", "", 2, 5, 15)]),
        ("try:\n    pass\nexcept E:\n    threads = 2", [("threads", "", 4, 5, 15)]),
        ("def on_exit(server):\n    workers = 3", [("on_exit", "", 1, 1, 0)]),
        ("from base import workers as w", [("w", "", 1, 1, 0)]),
        ("bind[0] = 1\nprint(1)", []),
    ],
)
def test_what_gunicorns_file_sets(text, expected, tmp_path):
    """Literals with their values and places; what is computed, or may not run, has none."""
    assert read(gunicorn.read, tmp_path, text) == expected


def test_after_an_import_of_everything_each_setting_is_there(tmp_path):
    """With a value that nobody knows, so that no rule calls one missing."""
    settings = read(gunicorn.read, tmp_path, "from base import *")
    assert {"workers", "worker_class", "keepalive"} <= {option for option, *_ in settings}
    assert {value for _, value, *_ in settings} == {""}


def test_a_file_that_is_not_python_is_refused(tmp_path):
    """With the line."""
    with pytest.raises(ProfileError, match=r"file:2: is not Python"):
        read(gunicorn.read, tmp_path, "workers = 4\nthreads = ;\n")


def test_the_carried_settings_are_those_of_the_installed_gunicorn():
    """`tools/gunicorn_settings.py` writes them again."""
    assert gunicorn.CARRIED.read_text() == gunicorn_settings.table()


def test_a_setting_has_its_name_and_the_words_of_the_command():
    """As gunicorn's own table has them."""
    spellings = gunicorn.spellings()
    assert (spellings["access_logfile"], spellings["workers"]) == ("accesslog", "workers")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("granian --workers 4 site:app", [("workers", "4", 1, 9)]),
        ("granian --workers=4 site:app", [("workers", "4", 1, 9)]),
        ("/venv/bin/granian \\\n  --host '::' \\\n  app", [("host", "::", 2, 3)]),
        ("granian --reload --port 80", [("reload", "", 1, 9), ("port", "80", 1, 18)]),
        ("granian app --reload", [("reload", "", 1, 13)]),
        ("granian --reload app", [("reload", "", 1, 9)]),
        ("GRANIAN_LOG_ACCESS_ENABLED=1 granian", [("access-log", "1", 1, 1)]),
        ("granian -w 4 app", [("-w", "4", 1, 9)]),
        ("A=1 GRANIAN_BLOCKING_THREADS=2 granian app", [("blocking-threads", "2", 1, 5)]),
        ('granian --log-config "a b.json"', [("log-config", "a b.json", 1, 9)]),
    ],
)
def test_what_granians_command_sets(text, expected, tmp_path):
    """Options as granian gets them, at the place of their name; variables before it, too."""
    assert [setting[:4] for setting in read(GRANIAN.read, tmp_path, text)] == expected


def test_another_command_is_refused(tmp_path):
    """It says what is missing."""
    with pytest.raises(ProfileError, match="it does not contain the word `granian`"):
        read(GRANIAN.read, tmp_path, "uvicorn site:app")


def test_a_quote_that_is_not_closed_does_not_stop_the_reader(tmp_path):
    """The shell would say so."""
    assert read(GRANIAN.read, tmp_path, "granian --host 'a") == [("host", "a", 1, 9, 0)]


@pytest.mark.parametrize("start", ["granian", "W=1 /venv/bin/granian", "exec granian"])
def test_a_command_in_quotes_is_read_and_mended(start):
    """It need not begin with the program."""
    command = f"{start} --interface wsgi --blocking-threads 9 --workers 4 a:b"
    columns = {flaw.code: flaw.spot.column for flaw in lint(command, Known()).flaws}
    assert columns["GR007"] == command.index("--workers") + 1
    (mended,) = lint(command, Known(), fixes="unsafe").config.texts.values()
    assert mended == command.replace("granian", "granian --respawn-failed-workers")


def test_a_file_that_is_no_command_is_missing():
    """A name with a blank may be a file's."""
    with pytest.raises(ProfileError, match="the file does not exist"):
        lint("my uwsgi.ini", Known())


@pytest.mark.parametrize("table", [GRANIAN, UVICORN], ids=lambda table: table.program)
def test_the_carried_options_are_those_of_the_installed_version(table):
    """`tools/command_options.py` writes them again."""
    assert table.file.read_text() == command_options.table(table.program)


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("granian --worker 2 a:b", "write --workers"),
        ("granian --blocking-thread 4 a:b", "write --blocking-threads"),
        ("granian --backpresure 4 a:b", "write --backpressure"),
        ("granian --threads 4 a:b", "write --runtime-threads"),
        ("granian -w 4 a:b", "write --workers"),
        ("granian --bind 0.0.0.0:80 a:b", "write --host and --port"),
        ("granian --timeout 30 a:b", "leave it out"),
        ("granian --workers 4 --worker 2 a:b", "--workers is already set; leave this one out"),
        ("GRANIAN_ACCESS_LOG=1 granian a:b", "write GRANIAN_LOG_ACCESS_ENABLED"),
        ("GRANIAN_WORKER=2 granian a:b", "write GRANIAN_WORKERS"),
    ],
)
def test_an_option_that_granian_does_not_know_is_named_with_the_right_one(command, advice):
    """A mistyped one, one of an earlier granian, one of another server, and a variable."""
    (flaw,) = lint(command, Known(), select=("GR005",)).flaws
    assert flaw.message.endswith(f"; {advice}")


def test_a_mistyped_option_is_mended():
    """Where it is not there as well."""
    (text,) = lint(
        "granian --worker 2 --port 80 a:b", Known(), fixes="unsafe", select=("GR005",)
    ).config.texts.values()
    assert text == "granian --workers 2 --port 80 a:b"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "granian --workers 0 a:b",
            "--workers 0: granian does not start; write a whole number, 1 ",
        ),
        ("granian --backlog 64 a:b", "write a whole number, 128 or more"),
        ("granian --interface wgsi a:b", "write one of asgi, asginl, rsgi, wsgi"),
        ("granian --loop fast a:b", "write one of auto, asyncio"),
        ("granian --port http a:b", "write a whole number"),
        ("GRANIAN_WORKERS=auto granian a:b", "write a whole number, 1 or more"),
    ],
)
def test_a_value_that_granian_refuses_is_told_with_what_it_takes(command, said):
    """As its own command would say it."""
    (flaw,) = lint(command, Known(), select=("GR006",)).flaws
    assert said in flaw.message


@pytest.mark.parametrize(
    "command",
    [
        "granian --interface WSGI --workers $WORKERS --respawn-failed-workers --no-ws a:b",
        "granian --workers-lifetime 24h --workers-max-rss 300 --log-level warning a:b",
    ],
)
def test_what_granian_takes_is_not_found(command):
    """Its words in any case, what the shell puts there, durations."""
    assert not lint(command, Known(), select=("GR005", "GR006")).flaws
