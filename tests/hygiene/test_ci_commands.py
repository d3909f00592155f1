"""What others wrote is no command to the runner of CI that keeps what the lab prints as its log."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess

import pytest
from rich.text import Text

from lab.cli.lint.formats import FORMATS
from lab.model.document import Document
from lab.model.wording import without_commands
from lab.report import terminal
from lab.report.console import Console
from lab.report.edge import Edge
from tests.hygiene.test_edge import STORED, lab, write_site
from tests.kit.lab_process import SMALL

COMMANDS = "::error::PWN\n   ::stop-commands::tok\n##[add-mask]e\nx##vso[task.setvariable]y\n"
"""At the beginning of a line, behind blanks, and where two runners look for them: anywhere."""


def refuse_commands(text):
    """Return *text*, of which no line is a command to GitHub's, Azure's or TeamCity's runner."""
    for line in text.splitlines():
        # As .NET compares, which leaves out what cannot be seen.
        seen = re.sub("[\u200c\u200d\ufe0e\ufe0f]", "", line)
        assert not seen.lstrip().startswith("::"), ascii(line)
        assert not re.search(r"##\w*\[", seen), ascii(line)
    return text


def printed(*words, cwd, status):
    """Return what `lab` prints on both streams; neither has a command, nor its exit another."""
    exit_status, out, err = lab(*words, cwd=cwd)
    assert exit_status == status, err
    return refuse_commands(out + err)


# -- spelling --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", r":\x3aerror::x"),
        ("a\n\t \u2003::x", "a\n\t \u2003:\\x3ax"),
        (":\u200d:x", ":\u200d\\x3ax"),
        ("\ufe0f::x", "\ufe0f:\\x3ax"),
        ("a ##[group]", r"a ##\x5bgroup]"),
        ("a ##vso[x]", r"a ##vso\x5bx]"),
        ("a ##teamcity[x]", r"a ##teamcity\x5bx]"),
        ("#\u200d#v\u200dso\ufe0f[x]", "#\u200d#v\u200dso\ufe0f\\x5bx]"),
        ("at ::1, :8080 and [::]", "at ::1, :8080 and [::]"),
        ("## heading [link]", "## heading [link]"),
        (": a\n#[b]", ": a\n#[b]"),
    ],
)
def test_the_character_that_makes_a_command_is_spelt(text, shown):
    """And no other: an address in a line stays as it is."""
    assert without_commands(text) == shown


def test_a_command_that_is_written_in_parts_is_seen():
    """As a traceback is, of which each part comes alone; what stands within a line is none."""
    stream = io.StringIO()
    edge = Edge(stream)
    for part in (" ", ":", ":error::x", "\n#", "#", "vso", "[y]\n", "to ", "::1", "a" * 200, "::"):
        edge.write(part)
    assert stream.getvalue() == f" :\\x3aerror::x\n##vso\\x5by]\nto ::1{'a' * 200}::"


def test_a_line_that_a_table_breaks_begins_with_no_command():
    """A terminal folds texts where a column ends."""
    text = f"{'a' * 38} ::error::x {'b' * 30} ##[group]"
    stream = io.StringIO()
    Console(file=stream, width=40, force_terminal=True).print(Text(text))
    assert ":\\x3aerror::x" in refuse_commands(stream.getvalue())
    content = Document(text, (text,), (text,), (), (text,), (text,), (text,))
    refuse_commands(terminal.render_document(content, 40))


# -- the linter ------------------------------------------------------------------------------------

NAME = "##vso[task.setvariable]x.ini"


@pytest.fixture(scope="module")
def configurations(tmp_path_factory):
    """Return a folder with configurations that hold commands in names, options and values."""
    folder = tmp_path_factory.mktemp("lint")
    (folder / NAME).write_text("[uwsgi]\nfoo = ##[add-mask]e\n##[group]x = 1\n")
    (folder / " ::error::x.ini").write_text(
        "[uwsgi]\nhttp-socket = :8080\n ::error::PWN = 1\n"
        "   ::stop-commands::tok\nbuffer-size = 99999\n"
    )
    return folder


@pytest.mark.parametrize("form", sorted({*FORMATS} - {"github"}))
def test_no_form_of_the_linter_has_a_command(configurations, form):
    """What a file says stays in its line, and JSON says the same by its own escapes."""
    words = ("lint", NAME, " ::error::x.ini", "--format", form)
    out = printed(*words, cwd=configurations, status=1)
    assert form not in {"json", "gitlab", "sarif"} or json.loads(out)
    assert form != "json" or NAME in {finding["file"] for finding in json.loads(out)}


@pytest.mark.parametrize("words", [("migrate", "--to", "gunicorn"), ("tune", "--dry-run")])
def test_json_of_a_configuration_is_json(tmp_path, words):
    """A command in a value is said by JSON's own escapes, and is the value to who reads it."""
    (tmp_path / "u.ini").write_text("[uwsgi]\nmodule = m:app\nprocesses = 4\nenv = A=##[group]x\n")
    out = printed(*words, "u.ini", "--format", "json", cwd=tmp_path, status=4)
    assert "##[group]x" in str(json.loads(out))


def test_annotations_are_the_only_commands(configurations):
    """Each is the linter's own, and what it is about ends none of it."""
    words = ("lint", NAME, " ::error::x.ini", "--format", "github")
    status, out, err = lab(*words, cwd=configurations)
    assert (status, err) == (1, "")
    assert out
    for line in out.splitlines():
        refuse_commands(re.sub("^::(error|warning|notice) file=", "", line))
        assert line.startswith("::")


def test_a_diff_with_a_command_is_said_to_be_no_patch(configurations):
    """A line that is not changed begins with a blank, which GitHub's runner takes away."""
    words = ("lint", " ::error::x.ini", "--diff")
    output = printed(*words, cwd=configurations, status=1)
    assert output.startswith("# No patch: ")
    assert "\n  :\\x3aerror::PWN = 1\n" in output
    assert "\n-buffer-size = 99999\n" in output


@pytest.mark.skipif(not shutil.which("patch"), reason="patch is not installed")
def test_a_diff_without_any_is_a_patch(tmp_path):
    """`patch` takes it as it is printed."""
    text = "[uwsgi]\nhttp-socket = [::1]:8080\nbuffer-size = 99999\n"
    (tmp_path / "u.ini").write_text(text)
    diff = printed("lint", "u.ini", "--diff", "--select", "UW222", cwd=tmp_path, status=1)
    assert diff.startswith("--- ")
    subprocess.run(["patch", "-s", "u.ini"], input=diff, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "u.ini").read_text() == text.replace("99999", "65535")


def test_a_profile_is_shown_without_commands(tmp_path):
    """`lab show` prints options in the first column."""
    (tmp_path / "d.ini").write_text("[uwsgi]\nhttp-socket = :8080\n::error::PWN = 1\n")
    _, out, err = lab("show", "./d.ini", cwd=tmp_path)
    assert "error::PWN" in refuse_commands(out + err)


# -- somebody's run --------------------------------------------------------------------------------

PLACES = (
    ("command",),
    ("generator",),
    ("plan", "arms", 0, "workload", "name"),
    ("plan", "arms", 0, "workload", "path"),
    ("environments", None, "cpu", "model"),
    ("environments", None, "kernel", "release"),
    ("environments", None, "machine", "virtualisation"),
    ("environments", None, "python", "version"),
    ("environments", None, "uwsgi", "version"),
    ("environments", None, "fib", "implementation"),
)
"""Texts of a run.json that a report quotes; None is whatever key is there."""


def foreign(folder, places, value):
    """Return a copy of a stored run in which each of *places* ends with *value*."""
    copy = shutil.copytree(STORED, folder / "run")
    header = copy / "run.json"
    run = json.loads(header.read_text())
    for place in places:
        inside = run
        for key in place[:-1]:
            inside = inside[next(iter(inside)) if key is None else key]
        inside[place[-1]] = f"{inside.get(place[-1], '')}{value}"
    header.write_text(json.dumps(run))
    return str(copy)


@pytest.mark.parametrize("words", [(), ("--markdown",), ("--json",)], ids=str)
def test_a_foreign_run_makes_no_line_of_its_own(tmp_path, words):
    """Its values are quoted within the lines of the report, whatever ends of lines they hold."""
    run = foreign(tmp_path, PLACES, f"\n{COMMANDS}")
    out = printed("report", run, *(words or ("--full",)), cwd=tmp_path, status=0)
    assert "stop-commands" in out
    assert words or out.count(r"PWN\n") == 10


def test_a_damaged_run_is_told_in_a_line(tmp_path):
    """What a field of it says is quoted in the error."""
    run = foreign(tmp_path, [("plan", "reference")], f"\n{COMMANDS}")
    assert printed("report", run, cwd=tmp_path, status=1).count("\n") == 1


# -- an application --------------------------------------------------------------------------------


def test_an_exception_of_an_application_is_no_command(tmp_path):
    """Its message keeps its lines, and is read."""
    ini = write_site(tmp_path, f"raise RuntimeError({COMMANDS!r})\n")
    output = printed("run", ini, "--path", "/", *SMALL, cwd=tmp_path, status=1)
    assert "RuntimeError: ::error::PWN" in output
    assert r"    :\x3astop-commands::tok" in output
    assert r"##\x5badd-mask]e" in output
