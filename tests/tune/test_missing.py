"""What a configuration lacks, by the linter's rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.cli.tune import missing as lacks
from lab.cli.tune.missing import REMARKS, SAFETY, missing, source
from lab.config import servers
from lab.config.configuration import Known
from lab.errors import ProfileError
from lab.lint import rules
from lab.lint.examples import example
from lab.lint.flaw import Severity
from lab.lint.judge import judged
from lab.lint.rules.rule import RULES
from tests.kit.lab_process import ROOT

INIS = sorted((ROOT / "tests" / "inis").glob("*.ini"))
GOOD = [*(ROOT / "tests" / "lint" / "good").glob("*/*.ini"), ROOT / "profiles" / "safety.ini"]
A = Path("uwsgi.ini")


def of(text, known=None):
    """Return what an ini lacks."""
    known = known or Known()
    path = next((path for path in known.overlay if path.name == "uwsgi.ini"), A)
    return missing(servers.of_file(path).read(path, Known(overlay={**known.overlay, path: text})))


def codes(missing_settings):
    """Return the codes of the rules that speak, in order."""
    return [lack.code for lack in missing_settings.lacks]


MENDED = [
    code
    for code, rule in sorted(RULES.items())
    if code.startswith(SAFETY) and (rule.severity is Severity.DANGEROUS or code in REMARKS)
    and any(flaw.code == code and flaw.steps for flaw in judged(example(code, rule.bad)))
]  # fmt: skip


@pytest.mark.parametrize("code", MENDED)
def test_what_a_rule_finds_is_written_with_its_reason_and_its_source(code):
    """And the rule finds it no more."""
    missing_settings = missing(example(code, RULES[code].bad))
    lack = next(lack for lack in missing_settings.lacks if lack.code == code)
    comment = re.sub(r"^[;#+] | [;#] ", " ", " ".join(lack.added)).strip().replace("%%", "%")
    advised = "advised: " * lack.is_remark
    assert comment.startswith(f"{advised}{lack.reason} ({code}: {source(code)})")
    assert source(code) in RULES[code].source
    assert ";" not in lack.reason
    assert "write" not in lack.reason
    left = {
        flaw.code for flaw in judged(missing_settings.after) if flaw.severity is not Severity.REMARK
    }
    assert code not in left
    text = missing_settings.after.texts[missing_settings.after.file]
    assert "\n".join(lack.added[:1]) in text


def test_enough_rules_are_asked():
    """Of each server."""
    assert {"UW301", "UW303", "UW305", "UW313", "UW314", "UW315", "UW317", "UW319", "UW321"} <= {
        *MENDED
    }
    assert {"GU005", "GU006", "GU011", "GR007", "GR009"} <= {*MENDED}
    assert not [code for code in MENDED if code.startswith("UW5")]


@pytest.mark.parametrize("path", INIS, ids=lambda path: path.name)
def test_the_linter_finds_nothing_new_in_the_result(path):
    """What is written brings no finding of its own, and asked again nothing is missing."""
    before = servers.of_file(path).read(path, Known())
    try:
        missing_settings = missing(before)
    except ProfileError:
        return
    count = {Severity.ERROR, Severity.DANGEROUS, Severity.NO_EFFECT}
    known, now = ({flaw.code for flaw in judged(config) if flaw.severity in count}
                  for config in (before, missing_settings.after))  # fmt: skip
    assert now <= known
    again = missing(missing_settings.after)
    assert not again.lacks
    assert again.after.texts[path] == missing_settings.after.texts[path]


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_nothing_is_missing_where_all_is_there(path):
    """It does not always want more."""
    missing_settings = missing(servers.of_file(path).read(path, Known()))
    assert (codes(missing_settings), missing_settings.status) == ([], 0)


def test_what_a_comment_says_is_meant_so_is_left_out():
    """Of the whole file, or of a line."""
    text = "[uwsgi]\nmaster = true\nmodule = a\nstrict = 1\nbuffer-size = 9999\nsocket = /run/a\n"
    assert codes(of(text)) == ["UW314", "UW315"]
    text = text.replace("master", "; lab: ignore[UW315] systemd sends SIGINT\nmaster")
    assert codes(of(text)) == ["UW314"]
    assert codes(of(f"; lab: ignore-file[UW314]\n{text}")) == []


def test_a_line_may_bring_the_next():
    """A master the question of what SIGTERM means."""
    text = "[uwsgi]\nsocket = /run/a\nprocesses = 4\nstrict = 1\nbuffer-size = 9999\n"
    missing_settings = of(text)
    assert codes(missing_settings) == ["UW301", "UW315"]
    assert [line for line in missing_settings.block if not line.startswith(";")] == [
        "master = true",
        "hook-master-start = unix_signal:15 gracefully_kill_them_all",
    ]


def test_all_rules_run_once_for_each_text(monkeypatch):
    """For the file as it is and after each line, not once more for what comments suppress."""
    texts = []

    def flaws(config):
        texts.append(config.texts[config.file])
        return rules.flaws(config)

    monkeypatch.setattr(lacks, "flaws", flaws)
    missing_settings = of("[uwsgi]\n; lab: ignore[UW312]\nhttp-socket = 127.0.0.1:80\nmodule = a\n")
    assert missing_settings.ignored == ["UW312"]
    assert len(texts) == len(set(texts)) == 1 + len(missing_settings.lacks)


def test_lines_to_add_and_lines_to_change_are_apart():
    """A line of the user's goes where another comes in its place."""
    text = "[uwsgi]\nmaster = 1\nharakiri = 90\nworker-reload-mercy = 30 # s\n"
    missing_settings = of(text)
    (changed,) = missing_settings.changes
    assert changed.removed == ("worker-reload-mercy = 30 # s",)
    assert changed.added[-1] == "worker-reload-mercy = 90 # s"
    assert "worker-reload-mercy" not in "".join(missing_settings.block)


def test_what_stands_in_an_include_is_for_the_hand():
    """Where no line can win; the message names the place."""
    base = {Path("/srv/base.ini"): "[uwsgi]\nlazy = true\n", Path("/srv/uwsgi.ini"): ""}
    missing_settings = of("[uwsgi]\nini = /srv/base.ini\n", Known(overlay=base))
    ((flaw, why),) = missing_settings.by_hand
    assert flaw.code == "UW318"
    assert why.endswith("edit the file by hand, in /srv/base.ini:2")
    assert missing_settings.status == 4


@pytest.mark.parametrize("name", ["app.py", "gunicorn.conf.py"])
def test_a_python_file_without_a_setting_of_gunicorn_is_refused(name):
    """By `lab migrate`, too; one with the name of its configuration is one."""
    path, text = Path(name), "from flask import Flask\n\napp = Flask(__name__)\n"
    server = servers.of_file(path)
    config = server.read(path, Known(overlay={path: text}))
    for use in (missing, server.translator.check_certain):
        if name == "app.py":
            with pytest.raises(ProfileError, match="sets nothing of gunicorn"):
                use(config)
        else:
            use(config)


def test_a_form_that_is_not_changed_is_refused():
    """In one line."""
    path = Path("uwsgi.yaml")
    config = servers.of_file(path).read(path, Known(overlay={path: "uwsgi:\n  processes: 4\n"}))
    with pytest.raises(ProfileError, match="lab cannot change this file: give a uWSGI ini, a guni"):
        missing(config)
