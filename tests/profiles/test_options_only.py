"""A profile is options and comments: nothing in it runs a program, when it is read or later."""

import re
from dataclasses import replace

from lab.bench.machine import project
from lab.config.configuration import Known
from lab.config.uwsgi import reader
from tests.kit.cases import cases
from tests.kit.lab_process import ROOT

INIS = sorted((*project.profiles().rglob("*.ini"), *(ROOT / "uwsgi").glob("*.ini")))

RUNS = re.compile(
    r"(exec|call|mount|umount)-.*|.*daemon.*|.*cron2?|spooler.*|mules?|emperor.*|inject-.*|fallback-.*"
)
"""Options by which uWSGI runs, or reads, something that is no request."""

HOOK = re.compile(r"unix_signal:\d+ \w+")
"""What a hook may do: a signal has another meaning."""


@cases("path", INIS)
def test_a_profile_runs_nothing(path):
    """No option, and nothing that a value holds; whatever a comment tells the linter."""
    known = replace(Known.of_caller(), environ={"BIND": "127.0.0.1", "PORT": "8080"})
    config = reader.read(path, known)
    assert not config.guesses
    for setting in config.settings:
        assert not RUNS.fullmatch(setting.option), setting
        assert "://" not in setting.value, setting
        assert "@(" not in setting.value, setting
        assert not setting.option.startswith("hook-") or HOOK.fullmatch(setting.value), setting
