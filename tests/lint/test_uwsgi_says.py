"""uWSGI does what the rules say that it does: each start here ends by itself."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.config.configuration import Known
from lab.lint.examples import ELSEWHERE
from lab.lint.lint import lint
from lab.lint.rules.rule import RULES
from tests.kit.linting import codes

UWSGI = Path(sys.executable).with_name("uwsgi")

SHOW = ("--hook-asap", "call:show_config", "--hook-asap", "callint:_exit 0")
"""Prints the options as uWSGI got them, and ends."""

SERVES = "http-socket = 127.0.0.1:0\nneed-app = true\n"
"""A server that ends when it has found no application."""


def started(folder, text, *words, cwd=None):
    """Return what uWSGI says of a file with this text, and how it ends."""
    path = folder / "uwsgi.ini"
    text = text if "[uwsgi" in text else f"[uwsgi]\n{text}\n"
    path.write_text(text, encoding="utf-8")
    bare = {name: value for name, value in os.environ.items() if not name.startswith("UWSGI_")}
    done = subprocess.run(
        [UWSGI, *words, path],
        cwd=cwd or folder,
        env=bare,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=20,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace"), done.returncode


GETS = {
    "UW002": "socket = :8001 # app\n",
    "UW005": 'module = "app:app"\n',
    "UW006": "processes: 4 = \n",
    "UW012": "chdir = %(bsae)/app\n",
    "UW013": "env = DEBUG = 1\n",
    "UW015": "module = app:app \\\n",
}
"""Code -> the line with which uWSGI shows what it got of the rule's bad example."""


@pytest.mark.parametrize("code", GETS)
def test_a_value_is_what_the_rule_says(code, tmp_path):
    """Not what was meant."""
    output, _ = started(tmp_path, RULES[code].bad, *SHOW)
    assert GETS[code] in output


@pytest.mark.parametrize("code", ["UW007", "UW008", "UW010"])
def test_lines_are_not_read(code, tmp_path):
    """Neither below a section that is called otherwise, nor in a condition that does not hold."""
    for text, there in ((RULES[code].bad, False), (RULES[code].good, True)):
        output, _ = started(tmp_path, text, *SHOW)
        assert text.splitlines()[-1] in output if there else text.splitlines()[-1] not in output


def test_a_percent_sign_takes_what_follows(tmp_path):
    """The next character, or the end of the line."""
    output, _ = started(tmp_path, RULES["UW009"].bad, *SHOW)
    assert f"log-date = --{tmp_path}/\n" in output
    output, _ = started(tmp_path, "env = A=1%\nenv = B=2", *SHOW)
    assert "env = A=1env = B=2\n" in output
    output, _ = started(tmp_path, "; 50 %\nharakiri = 2", *SHOW)
    assert "harakiri" not in output


MERCY = [
    ("UW003", "four", 0),
    ("UW003", "30s", 30),
    ("UW003", "4k", 4),
    ("UW003", "true", 0),
    ("UW002", "30 ; half a minute", 30),
    ("UW014", "30\nworker-reload-mercy = 60", 60),
    ("UW017", "30\n[other]\n[uwsgi]\nworker-reload-mercy = 60", 60),
    ("UW012", "%(cpu_count * 2 + 1)", 1),
]


@pytest.mark.parametrize(("code", "value", "got"), MERCY)
def test_a_number_is_what_uwsgi_makes_of_it(code, value, got, tmp_path):
    """Its log says which number it has."""
    text = f"[uwsgi]\n{SERVES}worker-reload-mercy = {value}\n"
    assert code in codes(text)
    output, status = started(tmp_path, text)
    assert f"your mercy for graceful operations on workers is {got} seconds" in output
    assert status == 22  # no application


def test_none_is_yes(tmp_path):
    """Of any switch."""
    for word, on in (("none", True), ("false", False)):
        output, _ = started(tmp_path, f"{SERVES}master = {word}")
        assert ("running uWSGI without its master" in output) is not on


def test_listen_is_read_before_variables_are(tmp_path):
    """As all options that are obeyed at once."""
    text = f"listen = $(PATH)\n{SERVES}"
    assert "UW012" in codes(text)
    output, _ = started(tmp_path, text)
    assert "listen backlog is limited to 0 connections" in output


def test_of_a_file_without_its_section_nothing_is_read(tmp_path):
    """uWSGI says so in its log, and goes on."""
    text = "[uwsgi]\nini = :nosuch\nharakiri = 2\n"
    assert "UW018" in codes(text)
    output, _ = started(tmp_path, text, *SHOW)
    assert 't find section "nosuch" in INI configuration file' in output
    assert "harakiri = 2" in output


def test_files_that_include_each_other_crash_uwsgi(tmp_path):
    """Its stack has an end."""
    text = "[uwsgi]\nini = %duwsgi.ini\n"
    assert "UW019" in codes(text)
    assert started(tmp_path, text)[1] == -signal.SIGSEGV


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
def test_a_socket_beside_the_ini_may_be_closed_to_another_user(tmp_path):
    """So that the fix of UW505 would keep it from starting; without uid it would not."""
    lines = "socket = %dapp.sock\nneed-app = true\n"  # a router would outlive it
    assert "UW505" in codes("http = 127.0.0.1:0")
    assert "UW505" not in codes("http = 127.0.0.1:0\nuid = 65534")
    assert "bind(): Permission denied" not in started(tmp_path, lines)[0]
    assert "bind(): Permission denied" in started(tmp_path, f"{lines}uid = 65534")[0]


def test_an_include_hangs_on_the_folder_of_the_start(tmp_path):
    """Not on that of the file."""
    (tmp_path / "base.ini").write_text("[uwsgi]\nharakiri = 2\n")
    assert "harakiri = 2" in started(tmp_path, RULES["UW016"].bad, *SHOW)[0]
    output, status = started(tmp_path, RULES["UW016"].bad, *SHOW, cwd="/")
    assert "realpath() of base.ini failed" in output
    assert status == 1
    assert "harakiri = 2" in started(tmp_path, RULES["UW016"].good, *SHOW, cwd="/")[0]


REFUSED = [
    ("UW001", "strict = true\nprocesess = 4", "unknown config directive: procesess"),
    ("UW011", "if-env = PATH\nif-env = HOME\nmaster = true\nendif =", "recursive logic"),
    ("UW101", "listen = 99999999", "greater than the system max net.core.somaxconn"),
    ("UW102", "processes = 4\ncheaper = 4", "invalid cheaper value"),
    ("UW102", "cheaper = 1", "invalid cheaper value"),
    ("UW103", "master = true\nmax-worker-lifetime = 10", "invalid min-worker-lifetime value"),
    ("UW104", RULES["UW104"].bad, "requires enabling also memory-report"),
    ("UW104", "cheaper-rss-limit-hard = 9", "requires setting also cheaper-rss-limit-soft"),
    (
        "UW104",
        "memory-report = 1\ncheaper-rss-limit-soft = 9\ncheaper-rss-limit-hard = 9",
        "higher",
    ),
    ("UW108", "need-plugins = python3", 'unable to load plugin "python3"'),
    ("UW109", "chdir = /nonexistent/app", "chdir(): No such file or directory"),
    ("UW114", "chmod-socket = 0666", "invalid chmod value: 0666"),
    ("UW117", "static-map = /srv/static", "invalid document root in static map"),
    ("UW117", "mount = site:app", "invalid mountpoint: site:app"),
    ("UW114", "chmod-socket", "invalid chmod value"),
    ("UW114", "chmod-socket = 888", "invalid chmod value: 888"),
]


@pytest.mark.parametrize(("code", "text", "words"), REFUSED)
def test_uwsgi_does_not_start(code, text, words, tmp_path):
    """In its own words."""
    assert code in codes(text)
    output, status = started(tmp_path, f"{text}\n{SERVES}")
    assert words in output
    assert status == 1


@pytest.mark.parametrize("loop", ["gevent", "asyncio"])
def test_a_loop_with_one_place_ends(loop, tmp_path):
    """After the application was loaded."""
    assert "UW105" in codes(f"{loop} = 1")
    (tmp_path / "site_.py").write_text("def application(environ, start): pass\n")
    text = f"http-socket = 127.0.0.1:0\nmodule = site_\n{loop} = 1"
    output, status = started(tmp_path, text)
    assert f"the {loop} loop engine requires async mode" in output
    assert status == 1


def test_another_user_needs_root():
    """Whoever else starts it."""
    assert "UW116" in codes("uid = 1", known=ELSEWHERE["UW116"])
    nobody = {"user": 65534, "group": 65534, "extra_groups": ()} if os.getuid() == 0 else {}
    command = [UWSGI, "--http-socket", "127.0.0.1:0", "--need-app", "--uid", "1"]
    try:
        done = subprocess.run(
            command, cwd="/", capture_output=True, text=True, timeout=20, check=False, **nobody
        )
    except PermissionError:
        pytest.skip("another user may not run what lies in this folder")
    if "error while loading shared libraries" in done.stderr:
        pytest.skip("another user may not read the library of this Python")
    assert "cannot setuid() as non-root user" in done.stderr
    assert done.returncode == 1


def test_an_address_is_bound_once(tmp_path):
    """The statistics want one of their own."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    text = f"http-socket = {address}\nstats = {address}\nmodule = nosuch"
    assert "UW111" in codes(text)
    output, status = started(tmp_path, text)
    assert "Address already in use" in output
    assert status == 1


def test_a_server_needs_a_socket_and_an_application(tmp_path):
    """Without the one it ends; without the other it answers 500."""
    output, status = started(tmp_path, "module = nosuch")
    assert "The -s/--socket option is missing" in output
    assert status == 1
    output, _ = started(tmp_path, "http-socket = 127.0.0.1:0\nhook-post-app = callint:_exit 0")
    assert "no app loaded. going in full dynamic mode" in output


def test_a_built_in_plugin_is_looked_for_in_vain(tmp_path):
    """And the server starts all the same."""
    output, status = started(tmp_path, f"plugins = python3\n{SERVES}")
    assert "UNABLE to load uWSGI plugin: ./python3_plugin.so" in output
    assert status == 22


def test_other_forms_are_judged_and_not_fixed(tmp_path):
    """A name stands there twice; the finding is at its line, and an empty file is an error."""
    path = tmp_path / "a.xml"
    text = "<uwsgi>\n<socket>/run/a.sock</socket>\n<procesess>2</procesess>\n</uwsgi>\n"
    path.write_text(text)
    linted = lint(str(path), Known.of_caller(), select=("UW001",), fixes="unsafe")
    assert [(flaw.spot.line, flaw.spot.column, flaw.fix) for flaw in linted.flaws] == [(3, 2, None)]
    assert not linted.before
    path = tmp_path / "a.yml"
    path.write_text("other:\n  master: true\n")
    assert [flaw.code for flaw in lint(str(path), Known.of_caller()).flaws] == ["UW018"]


def test_what_only_uwsgi_takes_for_yaml_is_read_as_uwsgi_reads_it(tmp_path):
    """Public files have it: a value that begins with %, or has a colon."""
    path = tmp_path / "a.yaml"
    lines = ("log-format: %%(addr) - %%(uri)", "logformat : A: %%(uri) # c", "max-vars: 9")
    path.write_text("".join(["uwsgi:\n", *(f"  {line}\n" for line in lines), "- x\n"]))
    shown = subprocess.run(
        [UWSGI, *SHOW, path], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    linted = lint(str(path), Known())
    ours = [f"{setting.option} = {setting.value}" for setting in linted.config.settings]
    assert ours == ["log-format = %(addr) - %(uri)", "logformat = A: %(uri)", "max-vars = 9"]
    assert all(line in shown.stdout + shown.stderr for line in ours)
    assert "only a uWSGI without libyaml reads on" in linted.config.guesses
