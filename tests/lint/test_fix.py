"""What is mended, and what stays as it was."""

import stat
from pathlib import Path

import pytest

from lab.config import servers
from lab.config.configuration import Known
from lab.config.edits import Edit, applied
from lab.config.spot import Spot
from lab.config.uwsgi import reader
from lab.errors import ProfileError
from lab.lint.examples import example
from lab.lint.judge import judged
from lab.lint.lint import lint
from lab.lint.rules.rule import RULES
from tests.kit.cases import cases

A = Path("a.ini")


def edit(line, column, old, new):
    """Return a change of one place of `A`."""
    return (Edit(Spot(A, line, column), old, new),)


@pytest.mark.parametrize(
    ("text", "fixes", "after"),
    [
        ("a = 1\nb\n", [edit(1, 5, "1", "2")], "a = 2\nb\n"),
        ("a = 1\n; b\nc\n", [edit(1, 1, "a = 1", None)], "; b\nc\n"),
        ("a\nb", [edit(2, 1, "", "c")], "a\nb\nc"),
        ("a\r\nb\r\n", [edit(1, 1, "", "c")], "a\r\nc\r\nb\r\n"),
        ("a\r\nb\r\n", [edit(1, 1, "a", None)], "b\r\n"),
        ("a\nb\n", [edit(1, 1, "a", "x"), edit(1, 1, "a", None)], "x\nb\n"),
        ("a\nb\n", [edit(1, 1, "a", "x"), edit(1, 1, "", "c"), edit(2, 1, "b", None)], "x\nc\n"),
        ("a\nb\n", [edit(2, 1, "z", "x"), edit(9, 1, "a", "x"), edit(1, 1, "z", None)], "a\nb\n"),
    ],
)
def test_lines_are_changed_and_nothing_else(text, fixes, after):
    """A line takes one fix at a time, and one that does not fit is left out."""
    assert applied({A: text}, fixes) == {A: after}


def mended(text, fixes, folder, code="UW"):
    """Return what a file becomes by its fixes."""
    path = folder / servers.of_code(code).file
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    linted = lint(str(path), Known(), fixes=fixes)
    return linted.config.texts[path]


@pytest.mark.parametrize("fixes", ["safe", "unsafe"])
@pytest.mark.parametrize("code", [code for code in sorted(RULES) if code.startswith("UW")])
def test_mending_twice_is_mending_once(code, fixes, tmp_path):
    """And comments stay."""
    text = f"{example(code, RULES[code].bad).texts[Path('uwsgi.ini')]}; the end\n"
    once = mended(text, fixes, tmp_path)
    assert mended(once, fixes, tmp_path) == once
    assert "; the end" in once


@cases("code", sorted(RULES))
def test_a_fix_mends_what_it_is_for(code):
    """What a rule finds in its bad example is gone when it is fixed."""
    config = example(code, RULES[code].bad)
    flaws = [flaw for flaw in judged(config) if flaw.code == code]
    fixes = [flaw.fix.edits for flaw in flaws if flaw.fix is not None]
    if len(fixes) < len(flaws):
        assert not fixes, "some can be fixed and some not: give two rules"
        return
    texts = applied(config.texts, fixes)
    assert texts != config.texts
    again = servers.of_file(config.file).read(config.file, Known(overlay=texts))
    assert code not in {flaw.code for flaw in judged(again)}


@pytest.mark.parametrize(
    ("code", "text", "before", "after"),
    [
        ("UW013", "for = 1 2\nenv = A = %(_)\nendfor =", "A = %(_)", "A=%(_)"),
        ("UW013", "if-env = STATS\nenv = A = %(_)\nendif =", "A = %(_)", "A=%(_)"),
        ("UW013", "env = A = $(STATS)", "A = $(STATS)", "A=$(STATS)"),
        ("UW222", "set-ph = size=99999\nbuffer-size = %(size)", "%(size)", "%(size)"),
    ],
)
def test_a_variable_stays_one(code, text, before, after, tmp_path):
    """A fix that wrote what it is now would be right here alone, or in one round of a loop."""
    path = tmp_path / "uwsgi.ini"
    path.write_text(f"[uwsgi]\n{text}\n")
    linted = lint(str(path), Known(environ={"STATS": "9"}), select=(code,), fixes="unsafe")
    assert f" = {after}\n" in linted.config.texts[path]
    assert [flaw.spot.line for flaw in linted.flaws] == ([3] if before == after else [])


@pytest.mark.parametrize("option", ["socket", "stats", "http-socket"])
def test_an_address_stays_as_it_is(option, tmp_path):
    """The proxy may be on another host: on 127.0.0.1 the service would be out of its reach."""
    path = tmp_path / "uwsgi.ini"
    path.write_text(f"[uwsgi]\n{option} = 0.0.0.0:3031\n")
    linted = lint(str(path), Known(), fixes="unsafe")
    assert f"{option} = 0.0.0.0:3031\n" in linted.config.texts[path]
    assert {"UW310", "UW401", "UW402"} & {flaw.code for flaw in linted.flaws}


@pytest.mark.parametrize(
    "block",
    [
        "for = 1 2\nhttp-socket = 127.0.0.1:808%(_)\nendfor =\n",
        (
            "if-not-env = IPV6\nhttp-socket = 127.0.0.1:8080\nendif =\n"
            "if-env = IPV6\nhttp-socket = [::1]:8080\nendif =\n"
        ),
    ],
)
def test_a_line_for_an_option_in_a_loop_or_condition_is_added_above_it(block, tmp_path):
    """Once, and for all branches."""
    path = tmp_path / "uwsgi.ini"
    path.write_text(f"[uwsgi]\n{block}")
    linted = lint(str(path), Known(environ={}), select=("UW312",), fixes="unsafe")
    assert linted.config.texts[path] == f"[uwsgi]\nadd-header = Connection: close\n{block}"


def test_utf_16_becomes_utf_8(tmp_path, monkeypatch):
    """As uWSGI needs it; a lone mark goes. It is not safe: of the file as it is nothing is read."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.ini"
    for encoding in ("utf-16", "utf-8-sig"):
        file.write_bytes("[uwsgi]\n; \u00e9\nmax-vars = 9\n".encode(encoding))
        assert not lint("a.ini", Known(), fixes="safe").before
        linted = lint("a.ini", Known(), fixes="unsafe")
        assert not linted.flaws
        assert list(linted.write([file]))
        assert file.read_text(encoding="utf-8") == "[uwsgi]\n; \u00e9\nmax-vars = 9\n"


CUTS = {"UW007", "UW008", "UW010"}
"""Rules about where a section or a condition ends: all options below may come or go."""


@cases("code", [e for e in sorted(RULES) if e[:2] == "UW" and e not in CUTS])
def test_a_fix_changes_the_options_that_it_names_and_no_others(code):
    """As the reader gets them, which is as uWSGI gets them."""
    config = example(code, RULES[code].bad)
    for flaw in judged(config):
        if flaw.code != code or flaw.fix is None:
            continue
        texts = applied(config.texts, [flaw.fix.edits])
        after = reader.read(config.file, Known(overlay=texts))
        pairs = [
            {(s.option, s.value) for s in configuration.settings}
            for configuration in (config, after)
        ]
        changed = {name for name, _ in pairs[0] ^ pairs[1]}
        named = {name for name in changed if name in f"{flaw.fix.description} {flaw.message}"}
        assert changed == named


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path, monkeypatch):
    """Nobody finds half a file, nor a temporary one."""
    monkeypatch.chdir(tmp_path)
    file, link = tmp_path / "real.ini", tmp_path / "uwsgi.ini"
    file.write_bytes(b"[uwsgi]\nsocket = :3031\n; \xff\nprocesses = 4 # four\n")
    file.chmod(0o640)
    link.symlink_to(file)
    assert list(lint("uwsgi.ini", Known(), fixes="safe").write([Path("uwsgi.ini")]))
    assert file.read_bytes() == b"[uwsgi]\nsocket = :3031\n; \xff\n# four\nprocesses = 4\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["real.ini", "uwsgi.ini"]


def test_a_file_elsewhere_is_written_if_it_is_named_and_not_through_a_link(tmp_path, monkeypatch):
    """A link in a checkout may point to what a server runs from."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    file = there / "base.ini"
    file.write_text("[uwsgi]\nsocket = :3031\nbuffer-size = 99999\n")
    (here / "link.ini").symlink_to(file)
    (here / "a.ini").write_text(f"[uwsgi]\nini = {file}\n")
    monkeypatch.chdir(here)
    for name in ("link.ini", "a.ini"):
        with pytest.raises(
            ProfileError,
            match=rf"{file}: is outside of this folder, so lab does "
            "not fix",
        ):
            list(lint(name, Known(), fixes="safe").write([Path(name)]))
    assert "99999" in file.read_text()
    assert list(lint(str(file), Known(), fixes="safe").write([file]))
    assert file.read_text() == "[uwsgi]\nsocket = :3031\nbuffer-size = 65535\n"


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    """Also where a part was written."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.ini"
    file.write_text("[uwsgi]\nsocket = :3031\nbuffer-size = 99999\n")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ProfileError, match="No space left"):
        list(lint("a.ini", Known(), fixes="safe").write([file]))
    assert "99999" in file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["a.ini"]


def test_requests_that_fail_are_logged_after_a_fix(tmp_path):
    """Disable-logging alone would drop their lines; a line that is written stays."""
    path = tmp_path / "uwsgi.ini"
    path.write_text("[uwsgi]\nhttp-socket = 127.0.0.1:80\nlog-4xx = false\n")
    linted = lint(str(path), Known(), select=("UW502",), fixes="unsafe")
    added = "disable-logging = true\nlog-5xx = true\n"
    assert linted.config.texts[path].replace("[uwsgi]\n", "") == (
        f"{added}http-socket = 127.0.0.1:80\nlog-4xx = false\n"
    )
