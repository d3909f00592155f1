"""`lab lint` as a person or a pipeline types it."""

import errno
import io
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from lab.bench.machine import project
from lab.config.configuration import Known
from lab.errors import Interrupted
from lab.lint import lint as lint_module
from tests.kit import in_process
from tests.kit.lab_process import BIN

CLEAN = "[uwsgi]\nstrict = true\nhttp-socket = 127.0.0.1:8080\nmodule = app:app\n"
WRONG = f"{CLEAN}processes = four\nno-orphans = true\n"
QUIET = ("--select", "UW003,UW205")


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    """Return a function that lints in an empty folder: exit status, output, errors."""
    monkeypatch.chdir(tmp_path)

    return partial(in_process.lab, monkeypatch, capsys, "lint")


def write(name, text):
    """Write a file of the folder."""
    Path(name).write_text(text)
    return name


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        (WRONG, [], 1),
        (WRONG, ["--exit-zero"], 0),
        (WRONG, ["--ignore", "UW"], 0),
        (CLEAN, QUIET, 0),
        (CLEAN.replace("strict = true\n", ""), ["--select", "UW317"], 0),
    ],
)
def test_the_exit_status_says_whether_something_counts(lint, text, words, status):
    """A remark does not."""
    assert lint(write("u.ini", text), *words)[0] == status


def test_several_files_are_said_together_and_what_they_include_once(lint):
    """With one line that counts; a file that cannot be read is said, and the others are read."""
    write("base.ini", WRONG)
    for name in ("a.ini", "b.ini"):
        write(name, "[uwsgi]\nini = %dbase.ini\n")
    code, out, err = lint("a.ini", "b.ini", "c.ini", *QUIET)
    assert code == 2
    assert out.count("\n") == 3
    assert out.endswith("Found 2 (1 error, 1 no effect), 2 fixable with --fix --unsafe-fixes.\n")
    assert err == "lab: c.ini: the file does not exist\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give a file or a folder"),
        (["."], ". has no configuration of uWSGI, gunicorn, granian, uvicorn or hypercorn: give "),
        (["x.txt"], "x.txt: is not read: give .ini, "),
        (["x.yaml"], "x.yaml:2: is not YAML: "),
        (["x.json"], "x.json:1: is not JSON: "),
        (["x.xml"], "x.xml:1: is not XML: mismatched tag"),
        (["y.xml"], "y.xml:1: declares the encoding UTF-7: save it as UTF-8"),
        (
            ["z.xml"],
            "z.xml: has a document type (<!DOCTYPE), which lab does not read: leave it out",
        ),
        (["--select", "UW77", "x.txt"], "--select: rule UW77 does not exist: "),
        (
            ["--explain", "UW999"],
            "UW999 does not exist: rules begin with GR, GU, HC, ST, UV or UW; list them ",
        ),
        (["--uwsgi", "/nonexistent", "x.txt"], "--uwsgi /nonexistent: is no uWSGI that runs here"),
        (["--connections", "0", "x.txt"], "--connections: '0': a whole number from 1 to"),
    ],
)
def test_what_cannot_be_meant_is_answered_in_a_line(lint, words, said):
    """With what to do."""
    write("x.txt", "")
    write("x.yaml", "uwsgi: [\n")
    write("x.json", '{"uwsgi": {"master": true,}}')
    write("x.xml", "<uwsgi><master></uwsgi>")
    write("y.xml", '<?xml version="1.0" encoding="UTF-7"?><uwsgi/>')
    write("z.xml", '<!DOCTYPE uwsgi [<!ENTITY a "b">]><uwsgi><env>&a;</env></uwsgi>')
    code, _, err = lint(*words)
    assert code == 2
    assert err.count("\n") == 1
    assert said in err


def test_fixes_are_written_or_shown(lint):
    """Safe ones, and on request those that change behaviour; comments stay."""
    write("u.ini", f"; mine\n{WRONG}buffer-size = 99999\n; end\n")
    quiet = ("--select", "UW003,UW205,UW222")
    code, out, _ = lint("u.ini", *quiet, "--diff")
    assert code == 1
    assert out.splitlines()[:2] == ["--- u.ini", "+++ u.ini"]
    changed = [line for line in out.splitlines()[2:] if line[0] in "+-"]
    assert changed == ["-buffer-size = 99999", "+buffer-size = 65535"]
    assert "99999" in Path("u.ini").read_text()
    assert lint("u.ini", *quiet, "--fix")[::2] == (1, "Fixed 1 finding in u.ini (UW222)\n")
    assert Path("u.ini").read_text() == f"; mine\n{WRONG}buffer-size = 65535\n; end\n"
    assert lint("u.ini", *quiet, "--fix", "--unsafe-fixes")[:2] == (0, "No findings.\n")
    assert "processes = 4\n" in Path("u.ini").read_text()
    assert lint("u.ini", *quiet, "--fix", "--diff") == (0, "", "")


def test_fixes_of_remarks_are_written_where_remarks_are_shown(lint):
    """By --all, or by a code; else the line of the remark stays."""
    text = f"{WRONG}listen = 128 # enough\ndisable-logging = true\n"
    remarks = ("--ignore", "UW3,UW4")
    write("u.ini", text)
    _, _, err = lint("u.ini", "--fix", "--unsafe-fixes", *remarks)
    assert err == "Fixed 2 findings in u.ini (UW003, UW205)\n"
    assert Path("u.ini").read_text().endswith("listen = 128 # enough\ndisable-logging = true\n")
    assert lint("u.ini", "--fix", *remarks)[2] == ""
    assert "(UW002" in lint("u.ini", "--fix", "--all", *remarks)[2]
    write("u.ini", text)
    assert "(UW002)" in lint("u.ini", "--fix", "--select", "UW002")[2]


def test_a_project_leaves_rules_out(lint):
    """In the nearest pyproject.toml above the file."""
    Path("deploy").mkdir()
    write("deploy/u.ini", WRONG)
    write("pyproject.toml", '[tool.lab.lint]\nignore = ["UW2"]\n')
    assert "UW205" not in lint("deploy/u.ini", *QUIET)[1]
    write("pyproject.toml", '[tool.lab.lint]\nignored = ["UW2"]\n')
    code, _, err = lint("deploy/u.ini")
    assert code == 2
    assert '[tool.lab.lint] can only have ignore = ["CODE"]' in err


def test_a_dockerfile_says_that_it_is_a_container(lint):
    """Unless the command line does."""
    write("u.ini", f"{CLEAN}daemonize = /var/log/u.log\n")
    words = ("u.ini", "--select", "UW323")
    assert lint(*words)[0] == 0
    write("Dockerfile", "FROM python\n")
    assert lint(*words)[0] == 1
    assert lint(*words, "--no-container")[0] == 0


def test_a_section_may_be_named(lint):
    """As uWSGI takes it."""
    write("u.ini", f"{CLEAN}[more]\nno-orphans = true\n")
    assert "u.ini:6:1  UW205" in lint("u.ini:more", *QUIET)[1]


def test_granians_command_is_read_from_quotes_and_from_standard_input(lint, monkeypatch):
    """It is in no file, so nothing is written, and what it is mended to is printed."""
    command = "granian --worker 4 app:app"
    code, _, err = lint(command, "--select", "GR005", "--fix", "--unsafe-fixes")
    assert (code, list(Path().iterdir())) == (0, [])
    assert err == "Fixed 1 finding (GR005): granian --workers 4 app:app\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(command))
    assert lint("-", "--select", "GR005", "--format", "json")[0] == 1


def test_gunicorns_command_is_read_from_quotes_and_from_a_procfile(lint):
    """With the file that it reads besides; what it would not start with has its place."""
    write("gunicorn.conf.py", "keepalive = 75\nworkers = 4\n")
    command = "gunicorn app:app --worker 4 --timout 5 --max-requests 9 --graceful-timeou 3 --bind"
    write("Procfile", f"web: {command}\n")
    _, out, _ = lint(command, "--select", "GU002,GU005,GU018", "--fix", "--unsafe-fixes")
    assert [line.split()[:2] for line in out.splitlines()[:-1]] == [
        ["gunicorn:1:18", "GU018"],
        ["gunicorn:1:29", "GU018"],
        ["gunicorn:1:77", "GU018"],
        ["gunicorn:1:40", "GU005"],
        ["gunicorn.conf.py:1:1", "GU002"],
    ]
    assert "--timout: gunicorn has no such option, so it does not start; write --timeout" in out
    assert "--bind: the option needs a value, so it does not start; write a value behind it" in out
    assert "Procfile:1:34" in lint("Procfile", "--select", "GU018")[1]


def test_options_of_gunicorn_in_a_variable_are_read(lint):
    """They have the place of the variable that stands before the command."""
    command = "GUNICORN_CMD_ARGS='--timout 5 --max-requests 9 -w 2' gunicorn app:app"
    _, out, _ = lint(command, "--select", "GU005,GU018")
    assert [line.split()[:2] for line in out.splitlines()[:-1]] == [
        ["gunicorn:1:1", "GU018"],
        ["gunicorn:1:1", "GU005"],
    ]


def test_a_file_that_cannot_be_read_is_named(lint, monkeypatch):
    """Such as one of another user's."""
    write("u.ini", CLEAN)
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    monkeypatch.setattr(os, "open", lambda *_, **__: (_ for _ in ()).throw(refused))
    assert lint("u.ini")[::2] == (2, "lab: u.ini: cannot be read: permission denied\n")


def test_it_needs_nothing_that_measures(tmp_path):
    """So a pre-commit hook installs Flask's packages alone, and begins at once."""
    (tmp_path / "u.ini").write_text(WRONG)
    script = (
        "import sys, lab.cli\n"
        "sys.argv = ['lab', 'lint', 'u.ini', '--format', 'json']\n"
        "try:\n    lab.cli.main()\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [BIN / "python", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert {"UW003", "UW205"} <= {finding["code"] for finding in json.loads(done.stdout)}
    loaded = [name.split(".") for name in done.stderr.split()]
    heavy = {"gevent", "jinja2", "locust", "matplotlib", "msgspec", "numpy", "psutil", "rich"}
    assert not heavy & {top for top, *_ in loaded}
    assert ["importlib", "metadata"] not in loaded  # which is a tenth of it
    packages = {rest[0] for top, *rest in loaded if top == "lab" and rest}
    assert packages == {"bench", "cli", "config", "errors", "lint", "model", "report"}
    of_bench = {rest[1] for top, *rest in loaded if top == "lab" and rest[:1] == ["bench"] != rest}
    assert of_bench == {"machine"}


def test_a_file_that_cannot_be_read_is_not_said_to_be_clean(lint):
    """Nothing follows the error; in JSON there is an empty list."""
    assert lint("c.ini") == (2, "", "lab: c.ini: the file does not exist\n")
    assert json.loads(lint("c.ini", "--format", "json")[1]) == []


def test_a_file_with_two_names_is_not_mended(lint):
    """One of its texts would take the other's place; by its whole path it has one name."""
    text = "[uwsgi]\nini = %dlink.ini:base\n[base]\nhttp-socket = :8080\nmaster = on\n"
    name = write("u.ini", text)
    Path("link.ini").symlink_to(name)
    code, _, err = lint("--fix", "--unsafe-fixes", name)
    assert code == 2
    assert "is read under two names: lint it as" in err
    assert Path(name).read_text().count("\n") == 5


def test_a_file_that_includes_a_section_of_its_own_is_mended(lint):
    """It is one file."""
    name = write("u.ini", "[uwsgi]\nini = :base\n[base]\nsocket = :3031\nno-orphans = on\n")
    assert lint("--fix", "--unsafe-fixes", "--select", "UW205", name)[:2] == (0, "No findings.\n")
    assert Path(name).read_text() == "[uwsgi]\nini = :base\n[base]\nsocket = :3031\n"


def test_the_worst_of_each_file_comes_first(lint):
    """Whatever the order of the words and of the lines; the last line has the worst first, too."""
    write("b.ini", WRONG)
    write("a.ini", f"{CLEAN}stats = :1717\nprocesses = four\n")
    _, out, _ = lint("b.ini", "a.ini", "--select", "UW003,UW205,UW402")
    *lines, last = out.splitlines()
    assert [tuple(line.split()[:2]) for line in lines] == [
        ("a.ini:6:1", "UW003"),
        ("a.ini:5:1", "UW402"),
        ("b.ini:5:1", "UW003"),
        ("b.ini:6:1", "UW205"),
    ]
    assert last.startswith("Found 4 (2 errors, 1 dangerous, 1 no effect), ")


def test_each_rule_is_said_once_a_file(lint):
    """With the other lines; forms that place each finding have them all."""
    write("u.ini", f"{CLEAN}threads = two\nlisten = many\nmax-fd = all\n")
    _, out, _ = lint("u.ini", "--select", "UW003")
    assert out.count("UW003") == 1
    assert "; also in line 6 (listen), 7 (max-fd)" in out
    assert len(json.loads(lint("u.ini", "--select", "UW003", "--format", "json")[1])) == 3


def test_fix_says_that_only_unsafe_fixes_are_left(lint):
    """It counts the findings that are shown, and is silent where something is fixed."""
    write("u.ini", "[uwsgi]\nhttp-socket = 127.0.0.1:80\nmodule = a\n")
    unsafe = "Fixed nothing: 3 findings need --fix --unsafe-fixes.\n"
    assert lint("u.ini", "--fix")[2] == unsafe
    for options in ("--diff",), ("--fix", "--diff"):
        assert lint("u.ini", *options)[1:] == ("", unsafe.replace("Fixed nothing", "No safe fix"))
    assert "No safe" not in lint("u.ini", "--diff", "--unsafe-fixes")[2]
    assert "Fixed nothing" not in lint("u.ini")[2] + lint("u.ini", "--fix", "--unsafe-fixes")[2]


@pytest.mark.parametrize("name", ["conf.py", "ci.yml"])
def test_a_file_in_which_nothing_is_checked_is_not_checked_as_for_a_container(lint, name):
    """Its one remark says so."""
    write("Dockerfile", "FROM scratch\n")
    write("conf.py", "DEBUG = True\n")
    write("ci.yml", "jobs:\n  web:\n    image: a\n")
    assert lint(name)[2] == ""


def test_remarks_are_counted_and_shown_where_they_are_asked_for(lint):
    """By --all, or by a code."""
    write("u.ini", CLEAN.replace("strict = true\n", ""))
    rest = ["--ignore", "UW312,UW314,UW321,UW4,UW5"]
    assert lint("u.ini", *rest)[:2] == (0, "No findings. 1 remark hidden; see --all.\n")
    for words in (["--all", *rest], ["--select", "UW317"]):
        status, out, _ = lint("u.ini", *words)
        assert (status, "UW317 remark" in out) == (0, True)


def test_an_include_that_cannot_be_read_is_shown_without_all(lint):
    """Rules about options that are not set are silent, because the include may set them."""
    write("u.ini", f"{CLEAN}ini = /srv/base.ini\n")
    line = f"{CLEAN}ini".count("\n") + 1
    status, out, _ = lint("u.ini")
    assert f"u.ini:{line}:1  UW901 remark  this includes /srv/base.ini, which could" in out
    assert status == 0


LACKING = """; lab: ignore[UW314] the include has it
[uwsgi]
module = shop:app
{}
; lab: ignore[UW310] the balancer alone reaches it
http-socket = :8000
procesess = 4
"""


def test_a_missing_include_is_an_error_and_stands_for_what_it_may_have(lint):
    """UW020, at its line; no rule says what is missing, and no suppression is called unused."""
    write("u.ini", LACKING.format("ini = base.ini"))
    status, out, _ = lint("u.ini")
    findings = [tuple(line.split()[:2]) for line in out.splitlines()[:-1]]
    assert (status, findings) == (1, [("u.ini:4:1", "UW020"), ("u.ini:7:1", "UW001")])
    assert "base.ini does not exist" in out
    write("base.ini", "[uwsgi]\nstrict = true\n")
    codes = {line.split()[1] for line in lint("u.ini")[1].splitlines()[:-1]}
    assert {"UW001", "UW312", "UW321"} <= codes
    assert not {"UW020", "UW314", "UW900", "UW901"} & codes


def test_codes_may_be_in_small_letters(lint):
    """On the command line and in a project's file."""
    write("u.ini", WRONG)
    assert lint("u.ini", "--select", "uw205")[1].count("UW205") == 1
    assert "UW205" not in lint("u.ini", "--ignore", "uw2")[1]
    write("pyproject.toml", '[tool.lab.lint]\nignore = ["uw2"]\n')
    assert "UW205" not in lint("u.ini", *QUIET)[1]
    assert lint("--explain", "uw205")[1].startswith("UW205 no effect: ")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", "UW018", "this file has no section [uwsgi], so uWSGI reads nothing of it"),
        ("; later\n", "UW018", "write [uwsgi] above the options"),
        ("[app]\nmaster = 1\n", "UW018", "or name a section that exists: u.ini:app"),
        ("[uwsgi]\nini = %du.ini\n", "UW019", "remove this line"),
        ("\ufeff[uwsgi]\nmaster = 1\n", "UW008", "save the file as UTF-8 without a mark"),
    ],
)
def test_what_uwsgi_reads_nothing_of_is_an_error(lint, text, code, words):
    """It is not said to be clean."""
    write("u.ini", text)
    status, out, _ = lint("u.ini")
    assert status == 1
    assert out.startswith("u.ini:")
    assert f"{code} error" in out
    assert words in out


def test_an_ini_may_have_any_name(lint):
    """It is known by its section; what has none is refused."""
    for name in ("uwsgi.conf", "mysite.uwsgi", "vassal"):
        assert "UW205 no effect" in lint(write(name, WRONG))[1]
    code, _, err = lint(write("nginx.conf", "server {}\n"))
    assert code == 2
    assert "a file with a line [uwsgi], or a command in quotes" in err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("shop.yaml", "shop:\n  processes: 4\n  master: true\n", "UW018 error"),
        ("uwsgi.yaml", "uwsgi: {processes: 4}\n", "UW018 error"),
        ("ci.yaml", "jobs:\n  web:\n    image: shop\n", "UW018 remark"),
        ("compose.yaml", "services:\n  web:\n    image: shop\n", "starts no server"),
        ("shop.json", '{"processes": 4}', 'has no object "uwsgi"'),
        ("Dockerfile", "FROM x\n", "Dockerfile: starts no server that lab knows"),
        ("shop.service", "[Service]\n", "starts no server that lab knows"),
        ("start.sh", "true\n", "starts no server that lab knows"),
    ],
)
def test_a_file_of_another_program_is_not_judged_as_one_of_uwsgi(lint, name, text, words):
    """Without a line `uwsgi:`, its names tell: most of them are no options of uWSGI's."""
    _, out, err = lint(write(name, text))
    assert words in out + err


def test_a_profile_a_run_and_a_command_for_a_shell_are_known(lint):
    """The message says what to name; what a shell gets by -c is read as a command."""
    Path("profiles").mkdir()
    write("profiles/tuned.ini", CLEAN)
    Path("run").mkdir()
    write("run/run.json", "{}")
    assert "did you mean profiles/tuned.ini?" in lint("tuned")[2]
    assert "is the folder of a run: `lab report run`" in lint("run")[2]
    assert "--timout" in lint("sh -c 'exec gunicorn app:app --timout $T'")[1]
    assert "--timout" in lint('["sh", "-c", "gunicorn app:app --timout $T"]')[1]


def test_what_is_no_text_is_refused(lint):
    """As UTF-16 without a mark is."""
    Path("u.ini").write_bytes("[uwsgi]\nmaster = true\n".encode("utf-16-le"))
    code, _, err = lint("u.ini")
    assert code == 2
    assert err == "lab: u.ini: is not text, because it has NUL bytes: save it as UTF-8\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pipe", "pipe: is a pipe, a socket or a device: save it as a file, and"),
        ("folder", "folder has no configuration of uWSGI, gunicorn, granian, uvicorn or hyper"),
        ("no.ini:more", "no.ini:more: there is no file no.ini"),
        ("gunicorn.conf.py:more", "only an .ini has sections: name gunicorn.conf.py"),
        ("uwsgi --http", "--http: the option needs a value"),
        ("uwsgi --processs 4", "uWSGI does not start with this option: write --processes"),
        ("Procfile", "Procfile: starts no server that lab knows: name the command in quotes"),
        ("gunicorn -c prod.conf.py a:b", "prod.conf.py: the file does not exist here, so"),
        ("daphne a:b", "is a command of daphne, a server that lab does not check"),
        ("bob's.ini", "the file does not exist"),
        ("no such.ini", "the file does not exist"),
        ("my-server --port 3", "is no file, and no command of uwsgi or gunicorn or granian"),
        ("fastapi run --workers 4", "is read in a file only, such as a Dockerfile"),
    ],
)  # fmt: skip
def test_what_is_no_file_is_told_as_what_it_is(lint, name, said):
    """With what to do."""
    os.mkfifo("pipe")
    Path("folder").mkdir()
    write("gunicorn.conf.py", "workers = 4\n")
    write("Procfile", "worker: celery -A app\n")
    code, _, errors = lint(name)
    assert code == 2
    assert said in errors


def test_a_command_may_be_longer_than_the_name_of_a_file(lint):
    """It is asked of no file system that refuses such a name."""
    command = f"granian --interface wsgi --access-log-fmt '{'%(path)s ' * 40}' a:b"
    assert "GR005" not in lint(command)[1]
    assert "GU018" in lint(f"gunicorn {command.removeprefix('granian')}")[1]


def test_the_diff_of_what_has_no_last_newline_is_one_that_patch_takes(lint):
    """Such as a command in quotes."""
    command = "granian --worker 4 a:b"
    _, out, _ = lint(command, "--select", "GR005", "--fix", "--unsafe-fixes", "--diff")
    end = "\\ No newline at end of file"
    assert out.splitlines()[3:] == [f"-{command}", end, "+granian --workers 4 a:b", end]


def test_a_template_is_refused(lint):
    """If it has lines of code, of which nobody here knows what they let through."""
    write("v.ini", "[uwsgi]\n{% if debug %}\nmaster = true\n{% endif %}\n")
    problem = "is a template, because it has '{% if': give a file that is rendered from it"
    assert lint("v.ini", "--fix")[::2] == (2, f"lab: v.ini:2: {problem}\n")
    write("x.ini", "[uwsgi]\n<% if debug %>\nmaster = true\n<% end %>\n")
    assert lint("x.ini")[0] == 2
    write("w.ini", '[uwsgi]\nlog-format = {"a":{"b":"%(uri)"}}\n')
    assert lint("w.ini")[0] == 0


def test_a_section_is_written_right_and_nothing_else_is_lost(lint):
    """Neither a comment behind it, nor lines that end with CR alone."""
    for text, after in (
        ("[uwsgi] ; main\nmax-vars = 9\n", "; main\n[uwsgi]\nmax-vars = 9\n"),
        ("[uWSGI]\nmax-vars = 9\n", "[uwsgi]\nmax-vars = 9\n"),
        ("[uwsgi]\rmax-vars = 9\r", "[uwsgi]\nmax-vars = 9\r"),
    ):
        Path("u.ini").write_bytes(text.encode())
        assert lint("u.ini", "--fix", "--unsafe-fixes", "--select", "UW007")[:2] == (
            0,
            "No findings.\n",
        )
        assert Path("u.ini").read_bytes().decode() == after


def test_a_ctrl_c_ends_it(lint, monkeypatch):
    """And is no file that cannot be read, after which others are."""
    write("u.ini", WRONG)

    def interrupted(*_, **__):
        raise Interrupted("SIGINT")

    monkeypatch.setattr("lab.lint.lint.judged", interrupted)
    assert lint("u.ini", "u.ini") == (130, "", "lab: interrupted by SIGINT\n")


def test_a_name_of_a_file_begins_no_line_and_ends_none(lint):
    """GitHub takes a line that begins with :: for a command, wherever it is printed."""
    write("::stop-commands::x.ini", WRONG)
    write("a\n::error::b.ini", f"{WRONG}buffer-size = 99999\n")
    printed = lint("::stop-commands::x.ini", *QUIET)[1]
    printed += lint("a\n::error::b.ini", "--diff", "--select", "UW222")[1]
    code, out, err = lint("a\n::error::b.ini", "--fix", "--select", "UW222")
    assert code == 0
    assert "Fixed 1 finding in a\\n::error::b.ini (UW222)\n" in err
    assert not [line for line in (printed + out + err).splitlines() if line.startswith("::")]


def test_a_diff_has_the_lines_that_patch_has(lint):
    """Only a newline ends one; another mark may stand in a comment."""
    text = "[uwsgi]\nsocket = :3031\n; a\x0cb\x85c\u2028d\nbuffer-size = 99999\n"
    Path("a.ini").write_text(text)
    diff = lint("a.ini", "--diff", "--select", "UW222")[1]
    assert diff.startswith("# No patch: control characters are escaped")
    assert diff.count("\n") == diff.count("\n ") + 6
    assert "\\ No newline" not in diff


def test_a_diff_has_no_other_form(lint):
    """It is not left out in silence."""
    code, _, err = lint(write("a.ini", WRONG), "--diff", "--format", "json")
    assert code == 2
    assert "--diff prints a diff" in err


def test_no_folder_is_a_way_out(lint):
    """A checkout may have a link where a folder is expected."""
    for name in ("here", "there"):
        Path(name).mkdir()
    write("there/a.ini", "[uwsgi]\nsocket = :3031\nbuffer-size = 99999\n")
    os.chdir("here")
    Path("deploy").symlink_to("../there")
    code, _, err = lint("--fix", "deploy/a.ini")
    assert code == 2
    assert "is outside of this folder, so lab does not fix it" in err
    assert "99999" in Path("../there/a.ini").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tool = 3", "has a tool that is not a table"),
        ("[[tool]]", "has a tool that is not a table"),
        ("[tool]\nlab = []", "has a lab that is not a table"),
        ('[tool.lab.lint]\nignore = ["X\\n::error::y"]', r"rule X\n::error::y does not exist"),
    ],
)
def test_a_project_of_another_shape_is_told(lint, text, said):
    """In a line, and with the status of what cannot be read."""
    write("pyproject.toml", text)
    code, _, err = lint(write("a.ini", CLEAN))
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("u.ini", "[uwsgi]\npost-buffering = 9\nlisten = 9\nprocesses = 9k\nharakiri = 9 s\n"),
        ("gunicorn.conf.py", "workers = '9'\nthreads = '9'\nkeepalive = '9'\n"),
        (None, "granian --interface wsgi --workers 9 --backlog 9 site:app"),
    ],
)
def test_a_number_of_any_length_is_judged(lint, name, text):
    """Python itself reads none of more than 4,300 digits."""
    text = text.replace("9", "9" * 5000)
    code, _, err = lint(write(name, text) if name else text)
    assert (code, err) == (1, "")


def test_what_the_kernel_makes_is_not_read(lint):
    """To read /proc/kmsg takes messages away from those for whom they are."""
    Path("a.ini").symlink_to("/proc/self/environ")
    code, _, err = lint("--trusted", "a.ini")
    assert (code, err) == (
        2,
        "lab: a.ini: belongs to the kernel, and reading it may have an effect\n",
    )


def test_half_of_a_character_is_refused(tmp_path, monkeypatch, capsys):
    """JSON may spell one, and no file of uWSGI's can hold it."""
    (tmp_path / "half.json").write_text('{"uwsgi": {"env": "\\ud800", "module": "a:b"}}')
    monkeypatch.chdir(tmp_path)
    code, out, errors = in_process.lab(monkeypatch, capsys, "lint", "half.json")
    assert (code, out) == (2, "")
    assert errors == "lab: half.json:1: has half of a surrogate pair: write the whole character\n"


def test_a_folder_has_configurations_of_gunicorn_and_no_sources(lint):
    """Whatever names a source file sets; one that cannot be read does not hide the others."""
    usual = ("gunicorn.conf.py", "gunicorn_config.py", "prod.gunicorn.py", "gunicorn-conf.py")
    for name in (*usual, "gunicorn.py", "run_gunicorn.py", "test_gunicorn_conf.py"):
        write(name, "worker = 4\n")
    write("gunicorn.conf.dev.py", "worker = (\n")
    code, out, err = lint(".", "--select", "GU001")
    assert code == 2
    assert {line.partition(":")[0] for line in out.splitlines()[:-1]} == set(usual)
    assert err.startswith("lab: gunicorn.conf.dev.py:1: is not Python: ")


PROCFILE = """\
worker: celery -A app
web: gunicorn app:app --reload
api: uwsgi --ini uwsgi.ini --http :$PORT --listen 20
admin: gunicorn admin:app --reload
other: daphne app:app
"""


@pytest.mark.parametrize("name", ["Procfile", "."])
def test_all_servers_of_a_procfile_are_linted(lint, name):
    """At their lines; one line says which cannot be linted."""
    write("uwsgi.ini", "[uwsgi]\nhttp-socket = :80\nmodule = app:app\n")
    write("Procfile", PROCFILE)
    code, out, errors = lint(name, "--select", "GU011,UW313,UW314")
    assert re.findall(r"^(\S+) +(\w+) [a-z]+  ([\w-]+): ", out, re.MULTILINE) == [
        ("Procfile:2:23", "GU011", "web"),
        ("Procfile:3:42", "UW313", "api"),
        ("Procfile:4:27", "GU011", "admin"),
    ]
    assert re.findall(r"^uwsgi.ini:1:1 +(\w+)", out, re.MULTILINE) == ["UW314"]
    assert out.count("[--fix --unsafe-fixes]") == (name == ".")
    unread = "Procfile:5: is a command of daphne, a server that lab does not check"
    assert (code, errors) == (2, f"lab: {unread}\n")


def test_an_error_in_a_procfile_has_its_line(lint):
    """And the other servers are linted."""
    write("Procfile", "web: uwsgi --htp :80\napi: gunicorn a:b --reload\n")
    code, out, errors = lint("Procfile")
    assert code == 2
    assert "Procfile:2:" in out
    assert errors.startswith("lab: Procfile:1: --htp: uWSGI does not start with this option")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "gunicorn a:b -w4 --max-requests 9",
            "--max-requests 9: .*; write --max-requests-jitter 1",
        ),
        ("gunicorn a:b --reload", "--reload: .* and --preload does not work with it"),
        ("gunicorn a:b", "no --worker-tmp-dir: .*; write --worker-tmp-dir /dev/shm"),
        ("gunicorn a:b --forwarded-allow-ips='*'", "--forwarded-allow-ips='[*]': any client"),
        ("granian --interface wsgi --workers 2 a:b", "--workers 2: when one worker"),
        ("GRANIAN_WORKERS=2 granian --interface wsgi a:b", "GRANIAN_WORKERS=2: when one"),
        ("uwsgi --http :$PORT --module a:b --listen 20", "--listen 20: .*; write --listen 1024, "),
        (
            "uwsgi --http-socket :80 --module a",
            "--http-socket :80: .* --add-header 'Connection: cl",
        ),
        ("uwsgi --http :80 --module a", "no --need-app: .*; write --need-app, so"),
        ("uwsgi --http :$PORT --module a", "--http :[$]PORT: .*: write --socket app.sock"),
        ("uwsgi --http :${PORT} --module a", "--http :[$]{PORT}: .*: write --socket app.sock"),
        ("uwsgi --http :80 --module a --processes ${W:-4}", "--processes [$]{W:-4}: without a"),
    ],
)
def test_a_finding_in_a_command_has_its_syntax(lint, command, message):
    """What is written as it stands there, and what to write, quoted for a shell."""
    _, out, _ = lint(command, "--all", "--container")
    assert re.search(f"  {message}", out)
    assert not re.search(r"(: no|: write|; write) \w+[_-]?\w* = ", out)


@pytest.mark.parametrize(
    ("command", "findings"),
    [
        ("UWSGI_HTTP=:80 UWSGI_MASTER=1 uwsgi --module a", {"UW314", "UW315", "UW321", "UW408"}),
        ("UWSGI_HTTP=:80 UWSGI_MODULE=a UWSGI_SHOP=9 uwsgi", {"UW314", "UW321", "UW408"}),
        ("HTTP=:80 UWSGI_NEED_APP=1 uwsgi --module a", set()),
        ("UWSGI_INI=u.ini uwsgi --need-app", {"UW321", "UW408"}),
    ],
)
def test_variables_before_uwsgi_are_its_options(lint, command, findings):
    """As those before granian; what is no option of uWSGI's does nothing."""
    write("u.ini", "[uwsgi]\nhttp = :80\nmodule = a\n")
    _, out, _ = lint(command)
    assert {*re.findall(r"UW\d+", out)} == findings


@pytest.mark.parametrize("value", ["$N", "${N}", "${N:-$M}", "$(nproc)", "$((2*N))"])
def test_a_number_that_only_a_shell_knows_has_no_finding(lint, value):
    """The other options of the command have theirs."""
    options = f"--processes {value} --cheaper 2 --listen {value} --thunder-lock"
    _, out, _ = lint(f"uwsgi --master --http :80 --module a {options}")
    assert re.findall("UW[0-27]..|UW313", out) == []
    assert "UW314" in out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Procfile:web", "web: uwsgi --socket app.sock --module a --processes $W --threads $W\n"),
        ("u.ini", "[uwsgi]\nsocket = app.sock\nmodule = a\nprocesses = $(W)\nthreads = $(W)\n"),
    ],
)
def test_a_number_that_is_unknown_is_said_once_a_file(lint, name, text):
    """As the rules that need it are silent, such as UW301, which finds that there is no master."""
    write(name.partition(":")[0], text)
    options = ("--ignore", "UW012,UW314,UW317,UW321,UW4,UW5")
    assert lint(name, *options)[1] == (
        "No findings. Some settings could not be checked: lab does not know the value of "
        "processes, threads; their rules are silent.\n"
    )
    assert lint(name, *options, "--all")[1].count("UW901") == 1


def test_a_number_of_granian_that_is_unknown_is_named(lint):
    """Of a shell's variable in either form; a text that is no number is none."""
    options = "--workers $N --backlog ${B} --host $H --respawn-failed-workers"
    assert lint(f"granian --interface wsgi {options} a:a")[1].startswith(
        "No findings. Some settings could not be checked: lab does not know the value of "
        "workers, backlog; their rules are silent.\n"
    )


def test_a_finding_in_the_file_of_a_command_has_the_syntax_of_the_file(lint):
    """Only the words of the command are options with dashes."""
    write("gunicorn.conf.py", "max_requests = 1000\n")
    _, out, _ = lint("gunicorn a:b --workers 4")
    assert "max_requests = 1000: " in out
    assert "write max_requests_jitter = 100" in out


def test_the_reason_of_a_finding_in_a_command_has_no_option():
    """`lab tune` lists reasons."""
    command = "gunicorn a:b -w 2 --worker-class gevent --max-requests 9 --bind '0.0.0.0:80'"
    flaws = lint_module.lint(command, Known(), container=False).flaws
    assert {flaw.code: flaw.reason.split()[:2] for flaw in flaws} == {
        "GU005": ["all", "workers"],
        "GU010": ["an", "idle"],
    }


def test_how_to_read_about_a_rule_is_told_to_people(lint, monkeypatch, capsys):
    """At a terminal, below the findings; `lab explain` says it, too."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    write("u.ini", WRONG)
    assert lint("u.ini", *QUIET)[2].endswith("Explain a rule: lab lint --explain UW003\n")
    assert lint("--explain", "UW90")[1].startswith("UW900  a suppression without a finding\n")
    assert "Page: " not in lint("--explain", "UW003")[1]
    monkeypatch.setattr(project, "site", lambda: "https://site.example/")
    page = "https://site.example/rules/UW003/"
    assert lint("--explain", "UW003")[1].endswith(f"\nPage: {page}\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert f"\x1b]8;;{page}\x1b\\UW003\x1b]8;;\x1b\\" in lint("u.ini", *QUIET)[1]
    err = in_process.lab(monkeypatch, capsys, "explain", "UW408")[2]
    assert err == "lab: there is no command explain: `lab lint --explain UW408`\n"


def test_unsafe_fixes_alone_write_nothing(lint):
    """As in ruff; the message says what goes with it."""
    write("u.ini", WRONG)
    status, _, err = lint("u.ini", "--unsafe-fixes")
    assert (status, Path("u.ini").read_text()) == (2, WRONG)
    assert "--unsafe-fixes alone changes nothing: give --fix as well" in err


def test_why_a_container_is_assumed_is_named(lint):
    """And an environment variable that is unknown, with the option that reads it."""
    write("Dockerfile", "FROM x\n")
    write("u.ini", f"{CLEAN}if-env = BIND\nlisten = 9\nendif =\n")
    _, out, err = lint("u.ini", "--select", "UW901,UW205", "--ignore", "UW901")
    assert "because Dockerfile exists; if it does not run in one: --no-container" in err
    out = lint("u.ini", "--ignore", "UW0,UW1,UW2,UW3,UW4,UW5")[1]
    assert out == (
        "No findings. Some settings could not be checked: the environment variable BIND is "
        "unknown; give --trusted to read the environment.\n"
    )
