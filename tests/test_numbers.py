"""Commands refuse a number that is none, is not finite or is out of range, before they act."""

from __future__ import annotations

import shlex
import subprocess
from functools import partial

import click
import pytest

from lab.analysis.thresholds import parse
from lab.cli.commands import cli
from lab.cli.types import ParsedType
from lab.errors import UsageError
from lab.model.wording import Number, seconds, share, size
from tests.kit import in_process

WRONG = (
    "nan",
    "inf",
    "-inf",
    "-1",
    "1e400",
    "9" * 30,
    "",
    " ",
    "x",
    "1x",
    "1_0",
    "0x10",
    "٣",
    "true",
)
"""What is no number of anybody's; a number with an exponent is none that people type."""

NUMERIC = (seconds, share, size)
WORDS = {"migrate": ("u.ini", "--to", "granian", "--measure"), "tune": ("u.ini",),
         "ab": ("a", "b", "--app", "a:b"), "claims": ("--run",)}  # fmt: skip
"""Command -> what it needs besides an option to act."""


def numeric():
    """Yield every command with every option of it that takes a number."""
    for name in cli.commands:
        for option in cli.commands[name].params:
            parse_text = getattr(option.type, "parse", None)
            if isinstance(parse_text, Number) or parse_text in NUMERIC:
                yield name, option.opts[0]


def test_numbers_have_one_type():
    """An option with click's own types takes nan, and says what is expected in other words."""
    kinds = (click.types.IntParamType, click.types.FloatParamType)
    options = [option for name in cli.commands for option in cli.commands[name].params]
    assert [option.opts for option in options if isinstance(option.type, kinds)] == []
    assert len([*numeric()]) > 30


@pytest.mark.parametrize(("command", "option"), [*numeric()])
def test_a_wrong_number_is_refused(command, option, tmp_path, monkeypatch, capsys):
    """In one line that names the option; nothing is started or written."""
    (tmp_path / "u.ini").write_text("[uwsgi]\nmodule = m:app\nhttp-socket = :8000\n")
    monkeypatch.chdir(tmp_path)
    start = "a program was started"
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail(start))
    lab = partial(in_process.lab, monkeypatch, capsys)
    for text in WRONG:
        code, out, errors = lab(command, *WORDS.get(command, ()), f"{option}={text}")
        assert (code, out) == (2, ""), (text, errors)
        assert errors.startswith(f"lab: {option}: {text!r}"), errors
        assert len(errors.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["u.ini"]


@pytest.mark.parametrize(
    "text",
    ["cpu(a/b) > nan", "cpu(a/b) > inf", "cpu(a/b) > -1", "cpu(a/b) > 1e999", "cpu(a/b) > x"],
)
def test_a_limit_is_finite(text):
    """A limit that nothing crosses is none."""
    with pytest.raises(UsageError, match="--fail-if"):
        parse(text)


@pytest.mark.parametrize("words", ["--rate nan", "--rate 1e400", "--sweep connections=nan,1",
                                   f"--sweep connections=1,{'9' * 30}", f"--rate {'9' * 30}",
                                   "--sweep rate=inf,5", f"--sweep workers=1,{'9' * 30}",
                                   "--server-cores nan", f"--server-cores {'9' * 30}",
                                   f"--server-cores 0-{'9' * 30}"])  # fmt: skip
def test_a_list_of_numbers_is_refused_as_well(words, monkeypatch, capsys, tmp_path):
    """Also one that would take all memory."""
    monkeypatch.chdir(tmp_path)
    code, out, errors = in_process.lab(monkeypatch, capsys, "run", "tuned", *words.split())
    assert (code, out) == (2, ""), errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("lint ''", "FILE: '' names nothing"),
        ("migrate '' --to granian", "CONFIG: '' names nothing"),
        ("tune ' ' --dry-run", "CONFIG: ' ' names nothing"),
        ("run ''", "PROFILE: '' names nothing"),
        ("report ''", "RUN: '' names nothing"),
        ("ab '' HEAD --app a:b", "OLD: '' names nothing"),
        ("migrate u.ini --to granian --output no/x.sh", "--output: no/x.sh: there is no folder"),
        ("tune u.ini --dry-run --output no/x.ini", "--output: no/x.ini: there is no folder no"),
        ("tune u.ini --resume .", "--resume .: not a folder of lab tune"),
        ("tune u.ini --resume no", "--resume"),
        ("migrate u.ini --to granian --env =x", "--env =x: write NAME=VALUE"),
        ("migrate u.ini --to granian --env 1=x", "--env 1=x: write NAME=VALUE"),
        ("run tuned --results u.ini", "--results: u.ini: is a file, not a folder"),
        ("tune 'gunicorn -c no.py m:app' --dry-run", "no.py: the file does not exist"),
        ("migrate 'gunicorn -c no.py m:app' --to granian", "no.py: the file does not exist"),
        ("tune 'gunicorn -c python:m m:app' --dry-run", "python:m: is a module"),
        ("ab a b --app a:b --markdown no/x.md", "--markdown: no/x.md: there is no folder no"),
        ("report no", "no: there is no such run"),
        ("compare no no", "no: there is no such run"),
        ("run --results ''", "--results: '' names nothing"),
        ("report --results u.ini", "--results: u.ini: is a file, not a folder"),
        ("run u.ini --requests ''", "--requests: '' names nothing"),
        ("run u.ini --python ~nosuchuser/x", "--python: ~nosuchuser/x: there is no such user"),
        ("show ~nosuchuser/x.ini", "PROFILE: ~nosuchuser/x.ini: there is no such user"),
        ("ab ~nosuchuser HEAD --app a:b", "OLD: ~nosuchuser: there is no such user"),
        (f"run {'x' * 300}", "x" * 300),  # what is said of it is Python's choice since 3.14
        (f"report {'x' * 300}", "x" * 300),
        (f"migrate u.ini --to granian --output {'x' * 300}", "File name too long"),
        (f"tune u.ini --dry-run --output {'x' * 300}/y", "File name too long"),
        ("ab a b --app a:b --markdown ''", "--markdown: '' names no file"),
    ],
)
def test_what_a_command_names_must_be_there(words, says, tmp_path, monkeypatch, capsys):
    """With status 2, as wrong usage has it, and the option or argument that is wrong."""
    (tmp_path / "u.ini").write_text("[uwsgi]\nmodule = m:app\nhttp-socket = :8000\n")
    monkeypatch.chdir(tmp_path)
    code, out, errors = in_process.lab(monkeypatch, capsys, *shlex.split(words))
    assert (code, out) == (2, ""), errors
    assert says in errors
    assert [path.name for path in tmp_path.iterdir()] == ["u.ini"]


def test_a_file_that_gunicorns_command_names_may_have_a_prefix(tmp_path, monkeypatch, capsys):
    """`file:` is gunicorn's own."""
    (tmp_path / "g.py").write_text("workers = 3\n")
    monkeypatch.chdir(tmp_path)
    words = ("migrate", "gunicorn -c file:g.py m:app", "--to", "granian")
    code, out, errors = in_process.lab(monkeypatch, capsys, *words)
    assert (code, errors) == (4, "")
    assert "--workers 3" in out


def test_a_number_keeps_its_kind():
    """Whole numbers are ints, so that they are printed as such."""
    assert repr([Number(1, 10, whole=True)("7"), Number(0, 10)("7"), Number(0, 1)(".5")]) == (
        "[7, 7.0, 0.5]"
    )
    assert ParsedType(Number(0, 1)).convert(None, None, None) is None
