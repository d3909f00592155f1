"""A configuration is changed by steps, and stays the user's in all else."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from lab.cli.migrate.migration import migrated
from lab.config import servers
from lab.config.configuration import Known
from lab.config.steps import Drop, Put, Rename
from lab.config.uwsgi import effective, reader
from lab.config.uwsgi.table import uwsgi_options
from lab.errors import ProfileError
from tests.kit.generated_inis import TEXTS
from tests.kit.lab_process import ROOT

INIS = sorted((ROOT / "tests" / "inis").glob("*.ini")) + sorted((ROOT / "profiles").glob("*.ini"))
STEPS = [
    Put("processes", "7"),
    Put("workers", "7"),
    Put("threads", "3"),
    Put("listen", "1024"),
    Put("thunder-lock", "true"),
    Put("master", "true"),
    Put("add-header", "Connection: close"),
    Put("hook-master-start", "unix_signal:15 gracefully_kill_them_all"),
    Put("log-date", "%d.%m"),
    Rename("http", "http-socket"),
    Rename("lazy", "lazy-apps"),
    Drop("thunder-lock"),
    Drop("harakiri"),
    Drop("stats"),
    Drop("enable-threads"),
]
SAYS = ["was 1; taken back: 0.31x, -4 %", "twice\n[uwsgi]\nprocesses = 99", "at the end 5%"]
A = Path("/srv/shop/uwsgi.ini")


def read(name, text, others=None):
    """Return a configuration that is on no disk."""
    known = Known(overlay={Path(name): text, **(others or {})})
    return servers.of_file(Path(name), text).read(Path(name), known)


def edited(name, text, *steps, others=None, says=()):
    """Return a text after the steps."""
    return servers.edited(read(name, text, others), [(step, says) for step in steps])


def ini(text, *steps, others=None, says=()):
    """Return an ini after the steps."""
    return edited(A, text, *steps, others=others, says=says)


def meant(config):
    """Return what an ini sets, by the names of the table, an option that is off as absent."""
    table = uwsgi_options()
    pairs = [(table.canonical(setting.option), setting.value) for setting in config.settings]
    pairs = [(name, value) for name, value in pairs if name in table.entries]
    values = effective(
        [
            pair
            for pair in pairs
            if not table.entries[pair[0]].setter.startswith(
                ("uwsgi_opt_logic", "uwsgi_opt_load", "uwsgi_opt_noop", "uwsgi_opt_set_placeholder")
            )
        ]
    )
    return {name: value for name, value in values.items() if value.lower() not in {"false", "off"}}


def after(config, step):
    """Return what an ini sets after a step, of which its value is not looked at."""
    table, of = uwsgi_options(), meant(config)
    changed = {table.canonical(step.option)}
    if isinstance(step, Rename):
        changed.add(table.canonical(step.to))
    return {name: value for name, value in of.items() if name.partition(" ")[0] not in changed}


@pytest.mark.parametrize("path", INIS, ids=lambda path: path.name)
def test_an_ini_does_each_step_and_nothing_else(path):
    """What is read is the same but for the option; of the lines only those that have it differ."""
    before = reader.read(path, Known())
    for step in STEPS:
        check_step(before, path, step)


def check_step(before, path, step):
    """Make a step, and look at what is read then, and at the lines."""
    try:
        text = servers.edited(before, [(step, SAYS)])
    except ProfileError:
        return
    changed = reader.read(path, Known(overlay={path: text}))
    assert after(changed, step) == after(before, step)
    assert has(changed, step)
    assert servers.edited(changed, [(step, SAYS)]) == text, "twice is not once"
    check_lines(before.texts[path], text, step)


def has(config, step):
    """Return whether a step has been made."""
    match step:
        case Put(option, _) if uwsgi_options().is_switch(option):
            return config.on(option)
        case Put(option, value):
            return any(
                setting.value.partition(" ")[0] == value.partition(" ")[0]
                for setting in config.all(option)
            )
        case Rename(option, _):
            return not config.all(option)
    return not config.on(step.option)


def check_lines(before, text, step):
    """Only lines with the option go, and what comes is they, and comments."""
    diff = list(difflib.ndiff(before.splitlines(), text.splitlines()))
    names = {step.option, getattr(step, "to", step.option)}
    names |= {
        name
        for name in uwsgi_options().entries
        if uwsgi_options().canonical(name) in map(uwsgi_options().canonical, names)
    }
    line = re.compile(rf"\s*({'|'.join(map(re.escape, sorted(names)))})\s*(=|$)")
    for diff_line in diff:
        if diff_line[0] == "-":
            assert line.match(diff_line[2:]), diff_line
        elif diff_line[0] == "+":
            assert line.match(diff_line[2:]) or diff_line[2:].startswith("; "), diff_line


@settings(suppress_health_check=[HealthCheck.filter_too_much], deadline=None)
@given(
    TEXTS,
    st.sampled_from(
        [
            Put("processes", "7"),
            Put("threads", "%3"),
            Drop("processes"),
            Drop("need-app"),
            Rename("threads", "listen"),
        ]
    ),
)
@example(["[uwsgi]", "if-env = NO", "processes = 3"], Put("processes", "7"))
def test_whatever_the_ini_it_does_the_step_or_says_that_it_cannot(lines, step):
    """Sections, conditions, loops and variables in any order change nothing of that."""
    try:
        before = read(A, "\n".join(lines))
    except ProfileError as error:
        # A few lines can stand for more than a mebibyte.
        assume("more than the lab reads" not in str(error))
        raise
    assume(before.top.column)
    try:
        text = servers.edited(before, [(step, SAYS)])
    except ProfileError:
        return
    changed = read(A, text)
    assert after(changed, step) == after(before, step)
    assert servers.edited(changed, [(step, SAYS)]) == text


@pytest.mark.parametrize(
    ("text", "step", "new"),
    [
        ("workers = 2", Put("processes", "4"), "workers = 4"),
        ("processes=2  ; two", Put("workers", "4"), "processes=4  ; two"),
        ("  workers   =   2\t", Put("processes", "4"), "  workers   =   4\t"),
        ("master", Put("master", "false"), "master = false"),
        ("threads =", Put("threads", "4"), "threads = 4"),
        ("threads = 1\nthreads = 2", Put("threads", "4"), "threads = 1\nthreads = 4"),
        ("http = $(IP):80", Rename("http", "http-socket"), "http-socket = $(IP):80"),
        ("if-env = A\nhttp = %(_)\nendif =", Rename("http", "http-socket"),
         "if-env = A\nhttp-socket = %(_)\nendif ="),
        ("lazy = 1\nlazy = 1\n; x", Drop("lazy"), "; x"),
        ("http = :80", Put("http", ":81"), "http = :81"),
        ("env = A=1\nenv = B=2", Put("env", "B=3%"), "env = A=1\nenv = B=3%%"),
        ("env = A=1", Put("env", "B=2"), "env = A=1\nenv = B=2"),
        ("threads = 4", Put("threads", "4"), "threads = 4"),
        ("master = 1", Put("master", "true"), "master = 1"),
        ("", Put("threads", "4"), "threads = 4"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_value_is_changed_where_it_stands(text, step, new, end):
    """In the user's spelling, with the user's blanks and ends of lines; the file may have none."""
    for last in ("", "\n", "\n\n; the end\n[other]\nthreads = 9\n"):
        before, wanted = ("\n".join(filter(None, ("[uwsgi]", lines))) for lines in (text, new))
        before, wanted = ((lines + last).replace("\n", end) for lines in (before, wanted))
        assert ini(before, step) == (wanted if end in before else wanted.replace(end, "\n"))


@pytest.mark.parametrize(
    ("text", "step", "added"),
    [
        ("ini = base.ini", Put("processes", "4"), "; overrides base.ini:2\nworkers = 4"),
        ("ini = base.ini", Drop("thunder-lock"), "; overrides base.ini:3\nthunder-lock = false"),
        ("if-env = A\nthreads = 2\nendif =", Put("threads", "4"),
         "; overrides uwsgi.ini:3\nthreads = 4"),
        ("threads = 1\nif-env = A\nthreads = 2\nendif =", Put("threads", "4"),
         "; overrides uwsgi.ini:2\n; overrides uwsgi.ini:4\nthreads = 4"),
        ("for = 1 2\nthreads = %(_)\nendfor =", Put("threads", "4"),
         "; overrides uwsgi.ini:3\nthreads = 4"),
        ("threads = $(T)", Put("threads", "4"), "; overrides uwsgi.ini:2\nthreads = 4"),
        ("threads = 2\nprocesses = %(threads)", Put("threads", "4"),
         "; overrides uwsgi.ini:2\nthreads = 4"),
    ],
)  # fmt: skip
def test_what_decides_elsewhere_is_overridden_at_the_end(text, step, added):
    """By a line at the end of the section that is read, which says over what it wins."""
    base = {A.parent / "base.ini": "[uwsgi]\nworkers = 2\nthunder-lock = 1\n"}
    before = f"[uwsgi]\n{text}\n\n[other]\nthreads = 9\n"
    text = f"[uwsgi]\n{text}\n{added}\n\n[other]\nthreads = 9\n"
    assert ini(before, step, others=base) == text


@pytest.mark.parametrize(
    ("text", "step", "why"),
    [
        ("ini = base.ini", Rename("http", "http-socket"), r"in /srv/shop/base\.ini:2"),
        ("ini = base.ini", Drop("http"), r"in /srv/shop/base\.ini:2"),
        ("ini = base.ini", Put("http", ":8"), "adds up"),
        ("inherit = base.ini", Put("listen", "9"), r"reads .* after it.*base\.ini:3"),
        ("http = :1\nhttp = :2", Put("http", ":8"), "it is set 2 times"),
        ("if-env = A", Put("threads", "2"), "cannot be set"),
        ("threads = 2\nprocesses = %(threads)", Drop("threads"), "another line there refers to it"),
        ("threads = 2", Put("thraeds", "2"), "no option thraeds"),
        ("threads = 2", Put("env", "A=1\nhook-asap = exec:id"), "must be one line"),
    ],
)
def test_what_cannot_be_written_says_what_to_do(text, step, why):
    """And where."""
    base = {A.parent / "base.ini": "[uwsgi]\nhttp = :80\nlisten = 3\n"}
    with pytest.raises(ProfileError, match=why):
        ini(f"[uwsgi]\n{text}\n", step, others=base)


@pytest.mark.parametrize("name", ["uwsgi.yaml", "uwsgi.json", "uwsgi.xml"])
def test_only_an_ini_is_changed(name):
    """Of the other forms it says so."""
    text = {"yaml": "uwsgi:\n  threads: 2\n", "json": '{"uwsgi": {"threads": 2}}'}
    text |= {"xml": "<uwsgi><threads>2</threads></uwsgi>"}
    with pytest.raises(ProfileError, match="lab cannot change this file: give a uWSGI ini, a guni"):
        edited(name, text[name.partition(".")[2]], Put("threads", "4"))


def test_a_comment_does_nothing():
    """Whatever stands in it: to uWSGI, to Python, to a shell, or to the linter."""
    says = ["a\nthreads = 9", "b\rc", "d%", "lab: ignore-file[UW]", "coding: utf-7", "e\x1b[2J"]
    text = ini("[uwsgi]\nthreads = 2\n", Put("threads", "4"), says=says)
    assert [setting.written for setting in read(A, text).settings] == ["threads = 4"]
    assert "\x1b" not in text
    assert "lab:" not in text
    text = edited("gunicorn.conf.py", "threads = 2\n", Put("threads", "4"), says=says[3:])
    assert "coding:" not in text
    assert read("gunicorn.conf.py", text).last("threads").value == "4"


CONFS = {
    "plain": "# one\nworkers = 2  # two\nthreads: int = 3\nbind = 'unix:/a'\n",
    "crlf": "workers = 2\r\nthreads = 3\r\nbind = 'a'",
    "mark": "\ufeffworkers = 2\nthreads = 3\nbind = 'a'\n",
    "latin": b"# coding: latin-1\nworkers = 2 # \xe9\nthreads = 3\nbind = 'a'\n".decode(
        "utf-8", "surrogateescape"
    ),
    "several": "bind = [\n    'a',  # b\n    'c',\n]\nthreads = 3\nworkers = 2\n",
}


@pytest.mark.parametrize("text", CONFS.values(), ids=CONFS)
@pytest.mark.parametrize(
    "step",
    [Put("workers", "4"), Put("bind", "b"), Put("preload_app", "true"), Drop("bind"),
     Rename("threads", "worker_connections"), Drop("workers"), Put("worker_class", "gevent")],
    ids=str,
)  # fmt: skip
def test_a_gunicorn_file_does_the_step_and_nothing_else(text, step):
    """As Python reads it; its comments and its encoding stay."""
    name = "gunicorn.conf.py"
    before = {setting.option: setting.raw for setting in read(name, text).settings}
    new = edited(name, text, step, says=SAYS)
    changed = {setting.option: setting.raw for setting in read(name, new).settings}
    names = {step.option, getattr(step, "to", step.option)}
    assert {k: v for k, v in changed.items() if k not in names} == {
        k: v for k, v in before.items() if k not in names
    }
    match step:
        case Put(option, value):
            assert changed[option].strip("'\"") in {value, value.capitalize()}
        case Rename(option, to):
            assert changed[to] == before[option]
            assert option not in changed
        case _:
            assert step.option not in changed
    assert edited(name, new, step, says=SAYS) == new
    kept = not isinstance(step, Drop)
    comments = re.findall(r"# (?:one|two|b|coding.*|\udce9)", text) if kept else []
    assert all(comment in new for comment in comments)
    assert new.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in new) == ("\r\n" in text)
    assert not re.search(r"(?<!\r)\n", new) or "\r\n" not in text


@pytest.mark.parametrize(
    "text",
    ["import os\nworkers = os.cpu_count()", "if 1:\n    workers = 2",
     "workers = 2\nx = workers * 2",
     "workers = threads = 2", "workers = (\n    2\n)", "from x import *", "workers, a = f()",
     "workers = 2; a = 3"],
)  # fmt: skip
def test_what_python_decides_is_overridden_at_the_end(text):
    """By an assignment that always runs, after all others."""
    new = edited("gunicorn.conf.py", text, Put("workers", "4"))
    line = next(
        n
        for n, source_line in enumerate(text.split("\n"), 1)
        if re.search(r"workers|\*", source_line)
    )
    ends = f"# overrides gunicorn.conf.py:{line}\nworkers = 4"
    assert new in {f"{text}\n{ends}", text.replace("\n    2\n", "\n    2\n") + f"\n\n{ends}"}


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("workers = 2\nthreads = workers * 2", Drop("workers")),
        ("if x:\n    workers = 2", Rename("workers", "threads")),
        ("def f():\n    global workers\n    workers = 3\n", Put("workers", "4")),
        ("workers = 2\n", Put("worker", "4")),
        ("workers = 2\n", Put("workers", "four")),
    ],
)
def test_what_python_decides_while_it_runs_is_refused(text, step):
    """Nobody knows by reading what would come of it."""
    with pytest.raises(ProfileError):
        edited("gunicorn.conf.py", text, step)


SCRIPT = """\
#!/bin/sh
# What each word was, of granian's:
#   --workers "$CPUS": processes = %k
set -a; . ./granian.env; set +a
CPUS=$(nproc)

exec granian --interface wsgi \\
    --host 0.0.0.0 --port 8000 \\
    --workers "$CPUS" \\
    --runtime-threads=4 \\
    --no-ws \\
    a:app
"""
COMMAND = "GRANIAN_BACKLOG=200 granian --host '::' --workers 2 --runtime-threads=4 --no-ws a:app"


@pytest.mark.parametrize(
    ("step", "command", "script"),
    [
        (Put("runtime-threads", "8"), ("threads=4", "threads=8"), ("threads=4", "threads=8")),
        (Put("ws", "true"), ("--no-ws", "--ws"), ("--no-ws", "--ws")),
        (Put("workers", "4"), ("--workers 2", "--workers 4"),
         ("    a:app", "    a:app \\\n    --workers 4")),
        (Put("backlog", "9"), ("a:app", "a:app --backlog 9"),
         ("    a:app", "    a:app \\\n    --backlog 9")),
        (Put("host", "$(id)"), ("'::'", "'$(id)'"), ("0.0.0.0", "'$(id)'")),
        (Rename("runtime-threads", "blocking-threads"), ("--runtime-threads", "--blocking-threads"),
         ("--runtime-threads", "--blocking-threads")),
        (Drop("host"), (" --host '::'", ""), ("--host 0.0.0.0 --port", "--port")),
        (Drop("ws"), (" --no-ws", ""), ("    --no-ws \\\n", "")),
    ],
    ids=str,
)  # fmt: skip
def test_a_command_does_the_step_and_nothing_else(step, command, script):
    """With the user's quotes and lines, and comments above the command."""
    assert edited("granian", COMMAND, step).split("\n")[-1] == COMMAND.replace(*command)
    new = edited("granian.sh", SCRIPT, step, says=SAYS)
    shown = [line for line in new.split("\n") if line not in SCRIPT.split("\n")]
    assert edited("granian.sh", new, step, says=SAYS) == new
    comments = [n for n, line in enumerate(new.split("\n")) if "taken back" in line]
    assert new.split("\n")[comments[0] + 3].startswith(("exec granian", "# overrides")), shown
    assert re.sub(r"^# (was 1|twice|at the end|overrides).*\n", "", new, flags=re.MULTILINE) == (
        SCRIPT.replace(*script)
    )


@pytest.mark.parametrize(
    ("command", "new"),
    [
        ("gunicorn -w 2 a:app", "gunicorn -w 4 a:app"),
        ("gunicorn -w2 a:app", "gunicorn -w4 a:app"),
        ("A=1 gunicorn --workers=2 'a:app'", "A=1 gunicorn --workers=4 'a:app'"),
        ("gunicorn a:app", "gunicorn a:app --workers 4"),
        ("gunicorn -w $W a:app", "# overrides -w $W\ngunicorn -w $W a:app --workers 4"),
        ("gunicorn -c c.conf.py a:app",
         "# overrides c.conf.py:1\ngunicorn -c c.conf.py a:app --workers 4"),
    ],
)  # fmt: skip
def test_each_spelling_of_gunicorns_command_counts(command, new):
    """The user's stays."""
    path, file = Path("gunicorn"), Path("c.conf.py")
    known = Known(overlay={path: command, file: "workers = 3\n"})
    config = servers.named("gunicorn").read(path, known)
    assert servers.edited(config, [(Put("workers", "4"), ())]) == new


@pytest.mark.parametrize(
    ("server", "text", "new"),
    [
        ("granian", "granian --ws -- a:app", "granian --ws --workers 4 -- a:app"),
        ("granian", "granian -- a:app --", "granian --workers 4 -- a:app --"),
        ("gunicorn", "gunicorn -- a:app", "gunicorn --workers 4 -- a:app"),
        ("granian.sh", "#!/bin/sh\nexec granian \\\n    --ws \\\n    -- \\\n    a:app\n",
         "#!/bin/sh\nexec granian \\\n    --ws \\\n    --workers 4 \\\n    -- \\\n    a:app\n"),
    ],
)  # fmt: skip
def test_an_option_is_added_before_the_end_of_the_options(server, text, new):
    """Behind -- it would be no option."""
    path = Path(server)
    server = servers.named("gunicorn") if server == "gunicorn" else servers.of_file(path, text)
    config = server.read(path, Known(overlay={path: text}))
    assert servers.edited(config, [(Put("workers", "4"), ())]) == new


MIGRATED = sorted((ROOT / "tests" / "inis").glob("*.ini"))
OF_SERVER = {
    "gunicorn": (Put("workers", "7"), Put("threads", "3"), Put("preload_app", "true"),
                 Drop("timeout"), Put("timeout", "9"), Rename("threads", "worker_connections")),
    "granian": (Put("workers", "7"), Put("blocking-threads", "3"), Put("ws", "false"),
                Drop("access-log"), Put("backlog", "900"), Rename("blocking-threads", "workers")),
}  # fmt: skip


@pytest.mark.parametrize("server", OF_SERVER)
@pytest.mark.parametrize("path", MIGRATED, ids=lambda path: path.name)
def test_what_lab_migrate_writes_does_each_step_and_nothing_else(path, server):
    """A gunicorn.conf.py, and a script with granian's command."""
    try:
        migration = migrated(str(path), server, {})
    except ProfileError:
        return
    before = read(migration.file, migration.text)
    for step in OF_SERVER[server]:
        try:
            text = servers.edited(before, [(step, SAYS)])
        except ProfileError:
            continue
        changed = read(migration.file, text)
        names = {step.option, getattr(step, "to", step.option), f"no-{step.option}"}
        old, new = (
            {
                setting.option: setting.value or setting.raw
                for setting in config.settings
                if setting.option not in names
            }
            for config in (before, changed)
        )
        assert old == new
        if isinstance(step, Put) and step.value.isdecimal():
            assert changed.last(step.option).value == step.value
        elif isinstance(step, Drop):
            assert changed.last(step.option) is None
        assert servers.edited(changed, [(step, SAYS)]) == text
