"""What lint, migrate and tune --dry-run print of files that may be of others: what they hold."""

from functools import partial
from pathlib import Path

import pytest

from tests.kit import in_process

SECRET = "s3cr3t"

COMMANDS = {
    "lint": ("lint", "--all"),
    "migrate": ("migrate", "--to", "gunicorn"),
    "tune": ("tune", "--dry-run"),
}

NAMED = {
    "above": "ini = ../away/cred.ini",
    "by a link": "ini = link.ini",
    "in a linked folder": "ini = linked/cred.ini",
    "hidden": "ini = .env",
    "by its whole path": "ini = {away}/cred.ini",
    "of YAML": "yaml = ../away/cred.yaml",
    "of XML": "xml = ../away/cred.xml",
    "of JSON": "json = ../away/cred.json",
    "by any ending": "include = ../away/cred.yaml",
    "content": "processes = @(../away/cred.ini)",
    "a line": "for-readline = ../away/cred.ini\nmodule = %(_)\nendfor =",
    "the kernel's": "for-readline = /proc/self/environ\nmodule = %(_)\nendfor =",
    "a variable": "module = $(TOKEN)",
}

FORMS = {
    "u.yaml": "uwsgi:\n  ini: ../away/cred.ini\n",
    "u.json": '{"uwsgi": {"ini": "../away/cred.ini"}}',
    "u.xml": "<uwsgi><ini>../away/cred.ini</ini></uwsgi>",
}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in a checkout beside which a secret lies."""
    away, checkout = tmp_path / "away", tmp_path / "checkout"
    for folder in (away, checkout):
        folder.mkdir()
    text = f"[uwsgi]\nmodule = {SECRET}:app\nprocesses = {SECRET}\n"
    (away / "cred.ini").write_text(text)
    (away / "cred.yaml").write_text(f"uwsgi:\n  module: {SECRET}:app\n")
    (away / "cred.json").write_text(f'{{"uwsgi": {{"module": "{SECRET}:app"}}}}')
    (away / "cred.xml").write_text(f"<uwsgi><module>{SECRET}:app</module></uwsgi>")
    (away / "conf.py").write_text(f'wsgi_app = "{SECRET}:app"\nbind = "{SECRET}"\n')
    (checkout / ".env").write_text(text)
    (checkout / "link.ini").symlink_to(away / "cred.ini")
    (checkout / "linked").symlink_to(away)
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("TOKEN", SECRET)
    lab = partial(in_process.lab, monkeypatch, capsys)
    return lambda command, *words: lab(*COMMANDS[command], *words)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", NAMED)
def test_nothing_else_is_printed(how, command, run, tmp_path):
    """Neither of what lies outside, nor of what is hidden, nor of the environment."""
    named = NAMED[how].format(away=tmp_path / "away")
    Path("u.ini").write_text(f"[uwsgi]\nhttp-socket = :8000\n{named}\n")
    code, out, err = run(command, "u.ini")
    assert code in {0, 1, 4}
    assert SECRET not in out + err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("form", FORMS)
def test_other_forms_print_nothing_else(form, command, run):
    """What YAML, JSON and XML include."""
    Path(form).write_text(FORMS[form])
    assert SECRET not in "".join(run(command, form)[1:])


@pytest.mark.parametrize("command", ["migrate", "tune"])
def test_a_file_of_a_command_lies_here(command, run):
    """gunicorn's --config: one outside is not read, and the error names the way."""
    words = "gunicorn -c ../away/conf.py"
    given = ("--to", "granian", words) if command == "migrate" else (words,)
    code, out, err = run(command, *given)
    assert code == 2
    assert SECRET not in out + err
    assert "use --trusted to read it" in err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_that_is_named_leads_nowhere(command, run):
    """A file of the checkout that is a link was made by whoever wrote that."""
    code, out, err = run(command, "link.ini")
    assert (code, out) == (2, "")
    assert "use --trusted to read it" in err


@pytest.mark.parametrize("command", COMMANDS)
def test_trusted_reads_all(command, run):
    """The way out that messages name."""
    Path("u.ini").write_text(f"[uwsgi]\nhttp-socket = :8000\n{NAMED['above']}\n")
    config = run(command, "--trusted", "u.ini")
    assert SECRET in config[1] or command == "tune"
    assert run(command, "--trusted", "link.ini")[0] in {0, 1, 4}


def test_variables_that_are_given_are_known(run):
    """By --env, as they are the caller's word."""
    Path("u.ini").write_text("[uwsgi]\nmodule = $(TOKEN)\n")
    assert "given:app" in run("migrate", "--env", "TOKEN=given:app", "u.ini")[1]
