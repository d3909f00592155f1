"""What a configuration names may be a secret: the linter quotes the files at hand alone."""

import os
from functools import partial
from pathlib import Path

import pytest

from tests.kit import in_process

SECRET = "s3cr3t"


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    """Return a function that lints in a checkout beside which a secret lies."""
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "cred").write_text(f"[default]\nkey = {SECRET}\nprocesses = {SECRET}\n")
    checkout = tmp_path / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (checkout / ".git" / "config").write_text(f"[http]\nextraheader = {SECRET}\n")
    (checkout / "token").write_text(f"{SECRET}\n")
    (checkout / "link").symlink_to(tmp_path / "away" / "cred")
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("TOKEN", SECRET)
    return partial(in_process.lab, monkeypatch, capsys, "lint")


LEAKS = {
    "a variable": "processes = $(TOKEN)",
    "a condition": f"if-env = TOKEN={SECRET}\nprocesses = x{SECRET}\nendif =",
    "the variable of a condition": "if-env = TOKEN\nprocesses = %(_)\nendif =",
    "a file": "processes = @(token)",
    "lines of a file": "for-readline = ../away/cred\nprocesses = %(_)\nendfor =",
    "names of files": "for-glob = ../away/*\nprocesses = %(_)\nendfor =",
    "an ini elsewhere": "ini = ../away/cred:default",
    "an ini elsewhere, by a link": "ini = link:default",
    "an option of one elsewhere": "ini = ../away/cred:default\nthreads = %(key)",
    "what is hidden": "ini = .git/config:http",
}


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "gitlab", "markdown"])
@pytest.mark.parametrize("how", [leak for leak in LEAKS if leak != "a condition"])
def test_nothing_of_it_is_printed(how, form, lint):
    """In no form, and not by --diff: a pull request names what its author wants to read."""
    Path("u.ini").write_text(f"[uwsgi]\nsocket = :8000\n{LEAKS[how]}\n")
    code, out, err = lint("--format", form, "u.ini")
    assert code in {0, 1}
    assert SECRET not in out + err
    assert "cred" not in out.replace("away/cred", "")
    assert SECRET not in "".join(lint("--unsafe-fixes", "--diff", "u.ini")[1:])


def test_whether_a_variable_is_set_cannot_be_guessed(lint):
    """By a condition that lets a line through if it is right."""
    Path("u.ini").write_text(f"[uwsgi]\nsocket = :8000\n{LEAKS['a condition']}\n")
    assert "UW003" not in lint("u.ini")[1]


def test_what_is_not_read_is_said(lint):
    """With the option by which it would be."""
    Path("u.ini").write_text("[uwsgi]\nsocket = :8000\nini = /etc/uwsgi/site.ini\n")
    assert (
        "/etc/uwsgi/site.ini, which could not be read without --trusted"
        in lint("u.ini", "--all")[1]
    )
    assert "UW901 remark" in lint("u.ini", "--ignore", "UW2,UW3,UW4,UW5")[1]


@pytest.mark.parametrize("how", ["a variable", "a file", "an ini elsewhere", "what is hidden"])
def test_all_is_read_of_what_is_trusted(how, lint):
    """By --trusted: of one's own files more is known then."""
    Path("u.ini").write_text(f"[uwsgi]\nsocket = :8000\n{LEAKS[how]}\n")
    assert SECRET in lint("--trusted", "u.ini")[1]


def test_a_file_that_leads_elsewhere_is_not_read(lint):
    """A link of the checkout's is named by whoever wrote that."""
    Path("x.ini").symlink_to("../away/cred")
    code, out, err = lint("x.ini")
    assert (code, out) == (2, "")
    assert (
        err == "lab: x.ini: lies outside of this folder, or is hidden: use --trusted to read it\n"
    )


def test_a_file_elsewhere_is_read_that_is_named(lint, tmp_path):
    """With what lies beside it; it may be a link, as Debian's in apps-enabled are."""
    server = tmp_path / "server"
    for name in ("enabled", "available"):
        (server / name).mkdir(parents=True)
    (server / "available" / "base.ini").write_text("[uwsgi]\nlisten = x\n")
    (server / "available" / "u.ini").write_text("[uwsgi]\nini = base.ini\nprocesses = x\n")
    (server / "enabled" / "u.ini").symlink_to("../available/u.ini")
    for name, count in (("available/u.ini", 2), ("enabled/u.ini", 1)):
        assert lint(os.fspath(server / name), "--select", "UW003")[1].count("UW003") == count
