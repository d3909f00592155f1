"""What others wrote cannot act on who reads it: on a terminal, in a page, in a log of CI."""

from __future__ import annotations

import ast
import io
import json
import os
import pty
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree as ET

import pytest
from rich.progress import Progress, TextColumn
from rich.text import Text

from lab.cli.lint.formats import FORMATS
from lab.model.wording import ACTING
from lab.report.console import Console
from tests.kit.lab_process import BIN, ROOT, SMALL, environment, run
from tests.locust.web_ui import LOCUST

TITLE = "\x1b]0;pwn\x07\x1b[2J"
"""Retitles a terminal and clears it."""

SHOWN = r"\x1b]0;pwn\x07\x1b[2J"

HOSTILE = f"{TITLE}\x9b31m\r\x7f\u202egpj\u2066\u200f\u2028"

STORED = ROOT / "docs" / "runs" / "tuned-granian-close"
"""A small run of two profiles."""

HELLO = ("--workload", "hello", *SMALL)


def lab(*words, cwd, program="lab", encoding="utf-8"):
    """Run a command of ours; return its status, and what it wrote, in which nothing may act."""
    done = run(program, *words, cwd=cwd, timeout=120, PYTHONIOENCODING=encoding)
    out, err = refuse_acting(done.stdout), refuse_acting(done.stderr)
    assert "Traceback" not in err, err
    return done.returncode, out, err


def refuse_acting(text):
    """Return *text*, in which nothing acts."""
    assert not (match := ACTING.search(text)), ascii(text[match.start() - 60 : match.end() + 60])
    return text


def on_terminal(*words, cwd):
    """Return what `lab` writes to a terminal."""
    ours, theirs = pty.openpty()
    colours = {k: v for k, v in environment().items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen([BIN / "lab", *words], cwd=cwd, env=colours, stdout=theirs):
        os.close(theirs)
        output = b""
        try:
            while some := os.read(ours, 65536):
                output += some
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return output.decode()


def write_site(folder, code):
    """Write an application and its ini into *folder*; return what `lab run` calls it."""
    (folder / "site_of_mine.py").write_text(code)
    ini = folder / "uwsgi.ini"
    ini.write_text("[uwsgi]\nhttp-socket = :8000\nmodule = site_of_mine:application\n")
    return str(ini)


# -- an application --------------------------------------------------------------------------------

RAISES = f"raise RuntimeError({HOSTILE!a})\n"
ENDS = f"import os\nimport uwsgi\nos.write(2, ({TITLE!a} + '\\n').encode())\nos._exit(7)\n"
"""It ends uWSGI, and where the lab asks Python for it, it raises: there is no such module."""
ANSWERS = "def application(environ, start):\n    start('200 OK', [])\n    return [b'Pong!']\n"
FAILS = f"def application(environ, start):\n    raise RuntimeError({HOSTILE!a})\n"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("code", [RAISES, ENDS, FAILS], ids=["import", "last lines", "request"])
def test_an_application_that_fails_cannot_act_on_the_terminal(tmp_path, code, encoding):
    """What it raises or last says is read, whatever the terminal's encoding."""
    ini = write_site(tmp_path, code)
    status, out, err = lab("run", ini, "--path", "/", *SMALL, cwd=tmp_path, encoding=encoding)
    assert (status, out) == (1, "")
    assert SHOWN in err


def test_a_server_that_ends_cannot_act_on_the_terminal(tmp_path):
    """The last lines of its log are shown as they are stored, but for what acts."""
    (tmp_path / "ends.toml").write_text(
        'summary = "End"\n'
        f"run = [['sh', '-c', 'printf \"{SHOWN}\\n\" >&2; exit 3', '{{port}}']]\n".replace(
            r"\x1b", r"\033"
        ).replace(r"\x07", r"\007")
    )
    status, _, err = lab("run", "./ends.toml", *HELLO, cwd=tmp_path)
    assert status == 1
    assert SHOWN in err


@pytest.mark.costly
def test_locusts_log_shows_what_an_application_raises(tmp_path):
    """The other door writes by Locust's own handlers."""
    write_site(tmp_path, RAISES)
    words = ("--headless", "--profiles", "tuned", "--app", "site_of_mine:application")
    status, _, err = lab(
        *LOCUST[1:], *words, "--chdir", str(tmp_path), cwd=tmp_path, program="locust"
    )
    assert status == 1
    assert SHOWN in err


# -- somebody's run --------------------------------------------------------------------------------

KEPT = {
    *("body", "role", "server", "wire", "transport", "failed", "gate", "digest", "generator"),
    *("standing", "started_at", "severity", "environment"),
}
"""Fields whose values are words of the lab's or bytes: another one is refused."""


def poisoned(value, key=""):
    """Return JSON with `HOSTILE` in each text of it."""
    if isinstance(value, dict):
        return {name: poisoned(child, name) for name, child in value.items()}
    if isinstance(value, list):
        return [poisoned(child, key) for child in value]
    return value + HOSTILE if isinstance(value, str) and key not in KEPT else value


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """Return the folder of a run of somebody who means harm, in which every text acts."""
    copy = shutil.copytree(STORED, tmp_path_factory.mktemp("foreign") / "run")
    header = copy / "run.json"
    header.write_text(json.dumps(poisoned(json.loads(header.read_text()))))
    trials = copy / "trials.ndjson"
    lines = [poisoned(json.loads(line)) for line in trials.read_text().splitlines()]
    trials.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return copy


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize(
    "words",
    [
        ("report", "{run}"),
        ("report", "{run}", "--markdown"),
        ("compare", "{run}", "{run}"),
        ("compare", "{run}", "{run}", "--markdown"),
        ("claims", "{run}"),
    ],
    ids=" ".join,
)
def test_a_foreign_run_cannot_act_on_the_terminal(foreign, words, encoding):
    """Its profiles, its command and its machine are what somebody wrote."""
    arguments = [word.format(run=foreign) for word in words]
    status, out, _ = lab(*arguments, cwd=foreign, encoding=encoding)
    assert status in {0, 3}
    assert words[0] == "claims" or "pwn" in out


def test_a_foreign_run_keeps_its_tables(foreign):
    """A character takes the room of its spelling, and no line of a table is cut by another."""
    _, out, _ = lab("report", str(foreign), "--markdown", cwd=foreign)
    blocks = [block.splitlines() for block in out.split("\n\n") if block.startswith("|")]
    assert blocks
    for rows in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    _, out, _ = lab("report", str(foreign), "--full", cwd=foreign)
    table = out.partition("\nMeasured\n")[2].split("\n\n")[0].splitlines()
    rule = next(line for line in table if line.startswith("─"))
    assert max(map(len, table)) <= len(rule) + 1


def test_on_a_terminal_only_the_labs_own_styles_act(foreign):
    """A report is in colour, and what is in a run does nothing."""
    output = on_terminal("report", str(foreign), cwd=foreign)
    assert re.search("\x1b\\[[0-9;]*m", output)
    refuse_acting(re.sub("\x1b\\[[0-9;]*m|\r", "", output))
    assert SHOWN in output


@pytest.mark.parametrize("command", ["report", "compare", "claims"])
def test_json_says_what_somebody_wrote_by_its_own_escapes(foreign, command):
    """A program reads the true text, and a terminal is shown none of it."""
    folders = [str(foreign)] * (2 if command == "compare" else 1)
    _, out, _ = lab(command, *folders, "--json", cwd=foreign)
    document = json.loads(out)
    assert command != "report" or document["profiles"][0]["name"].endswith(HOSTILE)
    assert command != "compare" or document["before"].endswith("run")


class Texts(HTMLParser):
    """Collects the texts and the attributes of a page."""

    def __init__(self):
        """Begin with none."""
        super().__init__()
        self.found = []

    def handle_data(self, data):
        """Keep a text."""
        self.found.append(data)

    def handle_starttag(self, _tag, attrs):
        """Keep the values of attributes, in which references are resolved."""
        self.found += [value or "" for _, value in attrs]


def check_page(text):
    """Refuse a page in which something acts, or a figure of which is no XML; return its texts."""
    refuse_acting(text)
    parser = Texts()
    parser.feed(text)
    figures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert figures
    for figure in figures:
        parser.found += ET.fromstring(figure).itertext()
    return [refuse_acting(page_text) for page_text in parser.found]


def test_a_foreign_runs_page_is_well_formed(foreign, tmp_path):
    """Neither its HTML nor a figure holds a character that acts."""
    status, _, _ = lab("report", str(foreign), "--html", "page.html", cwd=tmp_path)
    assert status in {0, 3}
    texts = check_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert sum(SHOWN in page_text for page_text in texts) > 5


# -- names of files --------------------------------------------------------------------------------

NAMES = {
    b"a\x1b[2Jb": r"a\x1b[2Jb",
    "r\u202elve".encode(): r"r\u202elve",
    b"byt\xff": r"byt\udcff",
    rb"$\frac$": r"$\frac$",
}
"""What a profile's file is called, and how it is shown."""


@pytest.mark.slow
def test_a_run_ends_with_its_report_whatever_its_profiles_are_called(tmp_path):
    """Their names are shown in each form of it, and the stored run is read again."""
    ini = Path(write_site(tmp_path, ANSWERS))
    for name in NAMES:
        shutil.copy(ini, tmp_path / os.fsdecode(name + b".ini"))
    paths = [b"./" + name + b".ini" for name in NAMES]
    small = ("--connections", "8", *SMALL)
    status, out, err = lab("run", *paths, "--path", "/", "--full", *small, cwd=tmp_path)
    assert status in {0, 1, 3}, err  # the machine may be too busy for all replies
    (folder,) = (tmp_path / "results").iterdir()
    page = " ".join(check_page((folder / "report.html").read_text(encoding="utf-8")))
    table = refuse_acting((folder / "report.md").read_text(encoding="utf-8"))
    refuse_acting((folder / "summary.json").read_text(encoding="utf-8"))
    _, again, _ = lab("report", str(folder), "--full", cwd=tmp_path)
    for shown in NAMES.values():
        assert all(shown in text for text in (out, page, table.replace("\\\\", "\\"), again))


def test_a_gunicorn_conf_py_of_no_utf_8_is_refused(tmp_path):
    """Python reads no such text: the private copy could not name it."""
    name = tmp_path / os.fsdecode(b"byt\xff.conf.py")
    name.write_text("wsgi_app = 'site_of_mine:application'\n")
    status, _, err = lab("run", b"./byt\xff.conf.py", *SMALL, cwd=tmp_path)
    assert status == 2
    assert r"byt\udcff.conf.py: its path is not UTF-8" in err


# -- the linter ------------------------------------------------------------------------------------

FILE = "a\n::error::pwned\x1b[2J\u202e|`x`\udcff.conf.py"
"""A name is of any bytes but a slash and 0."""


@pytest.fixture(scope="module")
def linted(tmp_path_factory):
    """Return a folder with configurations of which a name, options and values act."""
    folder = tmp_path_factory.mktemp("lint")
    value = f"a\n::error::b{TITLE}"
    text = f"workerz = 1\nworker_class = {value!r}\nloglevel = {value!r}\n"
    (folder / FILE).write_text(text)
    (folder / "u.ini").write_text(f"[uwsgi]\nmodule = x\nworkerz{TITLE} = {TITLE}\n")
    return folder


def by_form(folder, form):
    """Return what `lab lint` prints of them in *form*."""
    status, out, _ = lab("lint", os.fsencode(FILE), "u.ini", "--format", form, cwd=folder)
    assert status == 1
    return out


@pytest.mark.parametrize("form", FORMATS)
def test_no_form_of_the_linter_acts(linted, form):
    """Nor does a name or a value begin a line of its own, which CI would take for a command."""
    out = by_form(linted, form)
    assert out.count("\n") > 1
    for line in out.splitlines():
        assert not line.startswith("::error::")
    if form == "github":
        for line in out.splitlines():
            assert re.fullmatch(r"::(error|warning|notice) file=[^:,]*,line=\d+,.*", line)


@pytest.mark.parametrize("form", ["json", "gitlab", "sarif"])
def test_json_of_the_linter_names_the_true_file(linted, form):
    """A program opens the file that it is told of."""
    document = json.loads(by_form(linted, form))
    if form == "json":
        assert {finding["file"] for finding in document} == {FILE, "u.ini"}
        assert any(TITLE in finding["message"] for finding in document)
    elif form == "gitlab":
        assert {finding["location"]["path"] for finding in document} == {FILE, "u.ini"}
    else:
        (place,) = document["runs"][0]["results"][0]["locations"]
        uri = place["physicalLocation"]["artifactLocation"]["uri"]
        assert unquote_to_bytes(uri) == os.fsencode(FILE)


def test_a_file_that_cannot_be_read_begins_no_line(tmp_path):
    """Standard error stands in the same log."""
    status, _, err = lab("lint", "a\n::error::pwned.ini", cwd=tmp_path)
    assert status == 2
    assert [line for line in err.splitlines() if line.startswith("::")] == []


# -- the edge itself -------------------------------------------------------------------------------


def test_a_console_acts_by_its_own_styles_alone():
    """Also in a progress bar, which moves the cursor."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="standard", width=80)
    console.print(Text(TITLE, style="red"), TITLE, markup=False)
    with Progress(TextColumn("{task.description}"), console=console) as bar:
        bar.add_task(f"{TITLE} is measured")
    output = stream.getvalue()
    assert "\x1b[31m" in output
    assert TITLE not in output
    assert "\x1b]" not in output
    assert "\x1b[2J" not in output


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_what_python_itself_prints_goes_through_the_edge(name):
    """A traceback, a warning, or a line that somebody forgot to clean."""
    code = (
        "import sys; from lab.report.edge import guard_streams; guard_streams();"
        f"stream = sys.{name};"
        f"print({HOSTILE!a}, file=stream); stream.writelines([{HOSTILE!a}]);"
        f"raise RuntimeError({HOSTILE!a})"
    )
    done = subprocess.run(
        [BIN / "python", "-c", code], cwd=ROOT, capture_output=True, check=False, timeout=60
    )
    refuse_acting((done.stdout + done.stderr).decode())
    assert getattr(done, name).decode().count(SHOWN) >= 2


PRINTS = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}
MAKES = {"rich.print", "rich.console.Console", "rich.get_console"}
OWN_PROCESSES = {"lab/bench/load/child.py", "lab/bench/servers/ask_app.py"}
"""Programs whose output the lab reads."""


@pytest.mark.costly
def test_all_that_is_printed_goes_through_the_edge():
    """`say`, `say_json` and the lab's own `Console` are the ways out, and there is no other."""
    for path in sorted((ROOT / "lab").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name in {"lab/report/edge.py", "lab/report/console.py"} | OWN_PROCESSES:
            continue
        for line, called in calls(path):
            assert called not in PRINTS | MAKES, f"{name}:{line}: {called}: use lab.report.edge"
            assert not re.match(r"sys\.(stdout|stderr)\.buffer\b", called), f"{name}:{line}"


def calls(path: Path):
    """Yield the line and the full name of what each call of a file calls."""
    tree = ast.parse(path.read_text())
    names = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, *rest = ast.unparse(node.func).split(".")
            yield node.lineno, ".".join((names.get(first, first), *rest))
