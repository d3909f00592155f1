"""A start command, and a script that has one: what a shell reads of it, and what stands around."""

import pytest

from lab.cli.migrate.migration import migrated
from lab.cli.migrate.reader import read
from lab.config.gunicorn.reader import literal
from lab.config.meaning import ComputedValue
from lab.errors import ProfileError


def lost(made):
    """Return what a migration lists as lost."""
    return [f"{note.was} -> {note.becomes}" for note in made.lists["no equivalent"]]


QUOTED = "--process-name 'price$x' --pid-file \"/tmp/a\\$HOME.pid\""


@pytest.mark.parametrize("script", [False, True])
@pytest.mark.parametrize(
    ("to", "line"),
    [
        ("gunicorn", 'proc_name = "price$x"'),
        ("gunicorn", 'pidfile = "/tmp/a$HOME.pid"'),
        ("uwsgi", "procname = price$x"),
    ],
)
def test_a_quoted_dollar_is_a_text(tmp_path, monkeypatch, script, to, line):
    """A shell leaves it as it is, so no environment is asked for it."""
    command = f"granian --interface wsgi {QUOTED} m:app"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "granian.sh").write_text(f"#!/bin/sh\nexec {command}\n")
    assert line in migrated("granian.sh" if script else command, to, {}).text.splitlines()


def test_a_dollar_in_double_quotes_is_a_variable():
    """Unless a backslash stands before it."""
    made = migrated('granian --interface wsgi --pid-file "/tmp/${A}\\$B" m:app', "gunicorn", {})
    assert 'pidfile = "/tmp/" + os.environ["A"] + "$B"' in made.text


def test_a_quoted_dollar_in_a_command_of_gunicorn_is_not_computed():
    """It is a text."""
    made = migrated("gunicorn --name '$HOME' m:app", "uwsgi", {})
    assert "\nprocname = $HOME\n" in made.text


@pytest.mark.parametrize(
    ("command", "sign"),
    [
        ("gunicorn -w 2 m:app; echo x", ";"),
        ("gunicorn m:app\necho x", r"\n"),
        ("cd /srv && ls && gunicorn m:app", "&"),
        ("cd /srv || gunicorn m:app", "|"),
        ("gunicorn m:app | tee x", "|"),
        ("gunicorn m:app > x", ">"),
        ("gunicorn m:app < x", "<"),
        ("gunicorn -n `x` m:app", "`"),
        ('gunicorn -n "$(x)" m:app', "$("),
        ("gunicorn -n $'x' m:app", "$'"),
        ('gunicorn -n "$A"b m:app', '$A"b'),
    ],
)
def test_more_than_one_command_is_refused(command, sign):
    """A part of another command would be read as the application."""
    with pytest.raises(ProfileError, match="give the line that starts it alone") as refused:
        migrated(command, "uwsgi", {})
    assert sign in str(refused.value)


@pytest.mark.parametrize("before", ["cd /srv && ", "cd /srv && exec ", "cd /srv; cd b && exec "])
@pytest.mark.parametrize("in_procfile", [False, True])
def test_a_folder_before_a_command_is_named(before, in_procfile, tmp_path):
    """As `lab lint` reads it; the folder is for whoever starts the new server."""
    name = f"{before}gunicorn m:app"
    if in_procfile:
        (tmp_path / "Procfile").write_text(f"web: {name}\n")
        name = str(tmp_path / "Procfile")
    made = migrated(name, "granian", {})
    assert made.text.endswith(" m:app\n")
    (note,) = [note for note in made.translation.lost if note.was.startswith("cd /srv")]
    assert "where you start the new server" in note.becomes


def test_signs_in_quotes_are_no_commands():
    """A shell leaves them as they are."""
    made = migrated("gunicorn -n 'a;b|c>d # $(x)' -w2 'm:create()'", "granian", {})
    assert "m:create" in made.text


@pytest.mark.parametrize("before", ["A=1", "env A=1", "sudo -u www", "nice -n 5"])
def test_what_stands_before_a_command_is_lost(before):
    """It has an effect that no configuration has."""
    made = migrated(f"{before} gunicorn m:app", "uwsgi", {})
    assert any(note.startswith(before.removeprefix("env ") + " -> ") for note in lost(made))


@pytest.mark.parametrize("words", ["$OPTIONS m:app", "--preload $OPTIONS m:app", 'm:app "$@"'])
def test_a_variable_that_may_stand_for_options_is_refused(words):
    """They would be lost; the value of an option, or the application, may be a variable."""
    with pytest.raises(ProfileError, match=r"which may stand for options: write them"):
        migrated(f"gunicorn {words}", "granian", {})
    assert "m:app" in migrated("gunicorn --workers $N m:app", "granian", {}).text


def test_exec_changes_nothing():
    """The command alone is the process."""
    assert lost(migrated("exec gunicorn m:app", "uwsgi", {})) == lost(
        migrated("gunicorn m:app", "uwsgi", {})
    )


def test_a_variable_in_a_command_of_uwsgi():
    """A shell's variable is one of the environment, as $(X) is; a default is not read."""
    with pytest.raises(ProfileError, match="default of a variable"):
        migrated('uwsgi --http :80 --module m:app --procname "${X:-x}"', "gunicorn", {})
    for written in ('"$X"', "${X}", "'$(X)'"):
        command = f"uwsgi --http :$PORT --module m:app --procname {written}"
        made = migrated(command, "gunicorn", {})
        assert 'proc_name = os.environ["X"]' in made.text
        assert 'bind = "0.0.0.0:" + os.environ["PORT"]' in made.text


LINES = ("export A=1", "B=2", "cd /srv", ". ./x.env", "source x.env", "ulimit -n 5", "umask 7")


@pytest.mark.parametrize("line", LINES)
def test_what_a_script_does_first_is_lost(tmp_path, monkeypatch, line):
    """The new server does not do it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "granian.sh").write_text(f"#!/bin/sh\n{line}\nexec granian --interface wsgi m:a\n")
    made = migrated("granian.sh", "gunicorn", {})
    assert any(note.startswith(f"{line} -> ") for note in lost(made))


@pytest.mark.parametrize("command", ["gunicorn -w 2", "granian --interface wsgi --workers 2"])
def test_two_dashes_end_the_options(command):
    """The application stands behind them."""
    text = migrated(f"{command} -- m:app", "uwsgi", {}).text
    assert "\nmodule = m\ncallable = app\n" in text


def test_a_list_with_variables_is_lost_by_name():
    """Only those entries of it are lost that a shell computes."""
    made = migrated('gunicorn -e "A=${X}y" -e A2=$X -e B=1 m:app', "uwsgi", {})
    assert any("A=${X}y" in note for note in lost(made))
    assert any("A2=$X" in note for note in lost(made))
    assert "\nenv = B=1\n" in made.text
    alone = migrated('gunicorn -e "A=${X}y" -e A2=$X m:app', "uwsgi", {})
    assert not any(note.startswith(" ->") for note in lost(alone))


def test_a_variable_before_a_command_is_an_option():
    """It was listed as lost, and the address became granian's default."""
    made = migrated("GRANIAN_PORT=7000 A=1 granian --interface wsgi m:a", "uwsgi", {})
    assert "\nhttp-socket = 127.0.0.1:7000\n" in made.text
    assert [line for line in lost(made) if "A=1" in line]
    assert not [line for line in lost(made) if "GRANIAN_PORT" in line]


def test_the_default_address_is_carried_over():
    """Without --host and --port granian listens at 127.0.0.1:8000."""
    made = migrated("granian --interface wsgi m:a", "gunicorn", {})
    assert '\nbind = "127.0.0.1:8000"\n' in made.text
    assert "granian's default" not in str(made.lists["no equivalent"])


SCRIPT = """#!/bin/sh
set -e
if [ -n "$DEBUG" ]; then
    WORKERS=1
fi
case $ROLE in
    web) WORKERS=2 ;;
esac
[ -f .env ] && . ./.env
python manage.py migrate
exec granian --interface wsgi \\
    --workers $WORKERS m:a
"""


def test_the_lines_of_a_script_that_are_not_read_are_lost(tmp_path, monkeypatch):
    """A condition is named as one; what ends a block is left out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "granian.sh").write_text(SCRIPT)
    around = [line for line in lost(migrated("granian.sh", "gunicorn", {})) if "where" in line]
    assert [line.partition(" -> ")[0] for line in around] == [
        'if [ -n "$DEBUG" ]; then',
        "WORKERS=1",
        "case $ROLE in",
        "web) WORKERS=2 ;;",
        "[ -f .env ] && . ./.env",
        "python manage.py migrate",
    ]
    assert len([line for line in around if "does not evaluate this condition" in line]) == 3


@pytest.mark.parametrize(
    "lines",
    [
        "if x; then\n  export GRANIAN_PORT=1\nfi\ngranian --interface wsgi m:a",
        "x && export GRANIAN_PORT=1\ngranian --interface wsgi m:a",
        "if x; then\n  exec granian --port 1 m:a\nfi\nexec granian --port 2 m:a",
    ],
)
def test_an_option_under_a_condition_is_refused(tmp_path, monkeypatch, lines):
    """Which one counts is not known."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "granian.sh").write_text(f"#!/bin/sh\n{lines}\n")
    with pytest.raises(ProfileError, match=r"under a condition|in several places|starts 2 servers"):
        migrated("granian.sh", "gunicorn", {})


PROCFILE = (
    "web: gunicorn shop.wsgi --workers $WEB_CONCURRENCY --bind 0.0.0.0:$PORT "
    "--timeout ${TIMEOUT:-30}\n"
)


@pytest.mark.parametrize(
    ("to", "lines"),
    [
        ("granian", ('--host 0.0.0.0 --port "${PORT}"', '--workers "${WEB_CONCURRENCY}"')),
        ("uwsgi", ("http-socket = 0.0.0.0:$(PORT)\n", "processes = $(WEB_CONCURRENCY)\n")),
        ("uwsgi", ("harakiri = %(_)\n", "harakiri = 30\n")),
    ],
)
def test_the_variables_of_a_procfile_stay_variables(tmp_path, to, lines):
    """They were lost, and with them the address."""
    path = tmp_path / "Procfile"
    path.write_text(PROCFILE)
    made = migrated(str(path), to, {})
    assert all(line in made.text for line in lines)
    assert "$PORT" not in str(made.lists["no equivalent"])


def test_the_variables_of_a_procfile_have_given_values(tmp_path):
    """Also one that has a default."""
    path = tmp_path / "Procfile"
    path.write_text(PROCFILE)
    given = {"PORT": "5000", "WEB_CONCURRENCY": "3", "TIMEOUT": ""}
    text = migrated(str(path), "uwsgi", given).text
    assert "http-socket = 0.0.0.0:5000\n" in text
    assert "processes = 3\n" in text
    assert "harakiri = 60\n" in migrated(str(path), "uwsgi", given | {"TIMEOUT": "60"}).text


def test_the_variables_of_a_granian_command_have_given_values():
    """Those that are not given stay."""
    command = 'granian --interface wsgi --host "$HOST" --port $PORT --workers ${N:-2} m:a'
    text = migrated(command, "gunicorn", {"PORT": "5000", "N": "3"}).text
    assert 'bind = os.environ["HOST"] + ":" + "5000"\n' in text
    assert "workers = 3\n" in text


def test_a_variable_in_a_file_has_a_given_value(tmp_path):
    """So --env says for every configuration."""
    path = tmp_path / "gunicorn.conf.py"
    path.write_text(
        'import os\nwsgi_app = "m:a"\nbind = "0.0.0.0:" + os.environ["PORT"]\n'
        'workers = int(os.environ.get("N", "2")) * 2\n'
    )
    text = migrated(str(path), "uwsgi", {"PORT": "5000", "N": "3"}).text
    assert "http-socket = 0.0.0.0:5000\n" in text
    assert "processes = 6\n" in text


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("--access-logfile $LOG", "$LOG: give --env LOG=VALUE"),
        ("--umask $MASK", "$MASK: give --env MASK=VALUE"),
        ("--protocol ${A}$B", "variables $A, $B: give --env A=VALUE --env B=VALUE"),
        ("-e A=$B", "$B: give --env B=VALUE"),
    ],
)
def test_a_variable_that_decides_more_than_a_value_is_named(option, names):
    """It is lost, and the sentence says what to do."""
    made = migrated(f"gunicorn {option} m:a", "granian", {})
    assert any(f"{names}, or write the value" in line for line in lost(made))


@pytest.mark.parametrize(
    "value", ["${A:?unset}", "${A#x}", "${A:-$B}", "$1", "${A:-${B}}", "$$", '"${A:-$B}"']
)
def test_what_else_a_shell_computes_is_lost(value):
    """Only the name of a variable and its default are read."""
    made = migrated(f"gunicorn --pid /run/{value} m:a", "granian", {})
    assert [line for line in lost(made) if "the value is computed" in line]
    assert "--pid-file" not in made.text


@pytest.mark.parametrize(
    "option",
    ["-p'$A'$B", "--pid='$A'$B", "--pid '$A'\"$B\"", "--pid \\$A${B}"],
)
def test_a_quoted_dollar_beside_a_variable_is_a_text(option):
    """However the option is written."""
    made = migrated(f"gunicorn {option} m:a", "granian", {})
    assert '--pid-file "\\$A${B}"' in made.text


@pytest.mark.parametrize("value", ["x y", "*", "$(touch)", "`touch`", "@(exec://x)", "a\nb"])
def test_a_given_value_that_a_shell_would_split_or_run_stays_a_variable(value):
    """In a script it is quoted; an ini has its name, or nothing."""
    script = migrated("gunicorn --pid $A m:a", "granian", {"A": value}).text
    ini = migrated("gunicorn --pid $A m:a", "uwsgi", {"A": value}).text
    assert value not in ini
    assert value not in script or "--pid-file '@(exec://x)'" in script


def test_a_given_value_is_quoted():
    """A shell that has the variable runs nothing of it, and neither does the script."""
    text = migrated("gunicorn --pid $A m:a", "granian", {"A": "a;touch&b"}).text
    assert "--pid-file 'a;touch&b' " in text


@pytest.mark.parametrize("value", ['"$W"', "'$A'\"$B\"", "$W", '"2"$W'])
def test_a_value_with_a_variable_is_no_text_of_python(value):
    """A rule of `lab lint` would take it for the value of a setting in a file."""
    config = read(f"gunicorn --workers {value} m:a", {})
    setting = config.last("workers")
    assert setting.value == ""
    assert isinstance(literal(setting.raw, setting.raw), ComputedValue)


VARIABLES = [
    # command, a line of what granian is given, what is lost of the variables
    ("WEB_CONCURRENCY=4 gunicorn m:a", "--workers 4", ""),
    ("WEB_CONCURRENCY=4 gunicorn -w 2 m:a", "--workers 2", ""),
    ("WEB_CONCURRENCY=$N gunicorn m:a", '--workers "${N}"', ""),
    ("GUNICORN_CMD_ARGS='--workers 4 -b :90' gunicorn m:a", "--workers 4", ""),
    ("GUNICORN_CMD_ARGS='--workers 4' gunicorn -w 2 m:a", "--workers 2", ""),
    ("WEB_CONCURRENCY=3 GUNICORN_CMD_ARGS='-w 4' gunicorn m:a", "--workers 4", ""),
    ("PORT=90 gunicorn -w 2 m:a", "--host 0.0.0.0 --port 90", "PORT=90 -> "),
    ("gunicorn m:a", "m:a", "workers is not set -> gunicorn starts 1, or as many as the variable"),
]


@pytest.mark.parametrize(("command", "line", "expected"), VARIABLES)
def test_variables_of_gunicorn_count(command, line, expected):
    """It was said that one request is served at the same time, before and after."""
    made = migrated(command, "granian", {})
    assert f"{line} \\\n" in made.text or made.text.endswith(f"{line}\n")
    names = ("WEB_CONCURRENCY", "GUNICORN_CMD_ARGS", "PORT", "workers is not set")
    printed = [note for note in lost(made) if note.startswith(names)]
    assert [note.startswith(expected) for note in printed] == [True] * bool(expected)


def test_a_variable_that_is_given_counts():
    """By --env, or by a file that has the start command."""
    made = migrated("gunicorn m:a", "granian", {"WEB_CONCURRENCY": "3"})
    assert made.concurrency == "3 x 1 = 3 requests, before and after"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ('"-w $N"', "has a variable, so its options are unknown"),
        ('"-w \'a"', "is not a list of options"),
        ("--nope", "gunicorn has no such option"),
    ],
)
def test_options_in_a_variable_that_are_unknown_are_refused(value, problem):
    """They would be left out without a word."""
    with pytest.raises(ProfileError, match=problem):
        migrated(f"GUNICORN_CMD_ARGS={value} gunicorn m:a", "granian", {})


def test_options_of_uwsgi_in_variables_are_read():
    """They are no variables of the new server; others are."""
    command = "UWSGI_HTTP=:8000 FOO=2 uwsgi --module m:a"
    made = migrated(command, "gunicorn", {})
    assert 'bind = "0.0.0.0:8000"' in made.text
    outside = [note.was for note in made.lists["no equivalent"] if "outside" in note.becomes]
    assert outside == ["FOO=2"]
