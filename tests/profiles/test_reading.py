"""One reading of an own ini: made once, and passed to whoever asks what it says."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench import profiles
from lab.bench.profiles import asking
from lab.bench.profiles.asking import confirm
from lab.bench.profiles.reading import HOST, PORT, Reading, read_ini, refused
from lab.bench.trials.conduct import prepare
from lab.cli.options.execution import application, understand
from lab.cli.options.runtime import runtime
from lab.cli.options.table import Job
from lab.config.spot import Spot
from lab.config.uwsgi import reader
from lab.errors import ProfileError
from lab.lint.flaw import Flaw, Severity
from lab.lint.rules.rule import RULES, Rule
from lab.model.profile import PrivateCopy
from lab.model.runtime import OURS

INI = "[uwsgi]\nhttp = $(BIND):$(PORT)\nmodule = site_app\nchdir = %d\nthunder-lock = true\n"


@pytest.fixture
def ini(tmp_path):
    """Return an ini with a line without effect, and its application beside it."""
    app = "def application(environ, start):\n    start('200 OK', [])\n    return [b'x']\n"
    (tmp_path / "site_app.py").write_text(app)
    path = tmp_path / "site.ini"
    path.write_text(INI)
    return path


@pytest.fixture
def calls(ini, monkeypatch):
    """Count what is done with the ini."""
    counts = Counter()
    read, ask, flaws = reader.Reader.load, asking.ask, Rule.flaws

    def reads(self, file, *args, **more):
        counts["read"] += file == str(ini)
        return read(self, file, *args, **more)

    def asks(uwsgi, given, path, *args):
        counts["asked"] += path == ini
        return ask(uwsgi, given, path, *args)

    def judges(self, config):
        # What is served stands in no file.
        counts["judged" if config.texts else "served"] += config.file == ini
        return flaws(self, config)

    monkeypatch.setattr(reader.Reader, "load", reads)
    monkeypatch.setattr(asking, "ask", asks)
    monkeypatch.setattr(Rule, "flaws", judges)
    return counts


def test_an_own_ini_is_read_asked_about_and_judged_once(ini, calls):
    """Before the first trial; its copy, which is what is served, by the rules of no effect."""
    job = Job(profiles=(str(ini), "tuned"))
    prepared = prepare(understand(job).options, application(job))
    assert all(isinstance(profile.private_copy, PrivateCopy) for profile in prepared.plan.profiles)
    (warning,) = prepared.warnings
    assert warning.startswith(f"{ini}:5: thunder-lock = true: ")
    assert (calls["read"], calls["asked"], calls["judged"]) == (1, 1, len(RULES))
    assert calls["served"] < len(RULES) / 4  # those of no effect


def test_uwsgi_is_asked_again_only_where_a_file_has_changed(ini, calls):
    """However often the same file is prepared, as `lab tune` does."""
    job = Job(profiles=(str(ini),))
    for number in (1, 1, 2):
        ini.write_text(f"{INI}threads = {number}\n")
        prepare(understand(job).options, application(job))
    assert calls["asked"] == 2


def test_what_uwsgi_reads_otherwise_is_refused(ini):
    """With the option, its line and both values; a value that may be a secret is hidden."""
    reading = read_ini(ini)
    confirm(reading, OURS)
    first, *others = reading.config.settings
    misread = replace(reading.config, settings=(first, *others[1:]))
    with pytest.raises(ProfileError) as caught:
        confirm(Reading(misread, misread), OURS)
    message = f"{ini}:4: uWSGI reads module = site_app, and lab chdir = {ini.parent}/; give a copy"
    assert str(caught.value) == f"{message} without that line"
    secret = runtime(env=["NAME=hunter2!"])
    ini.write_text(f"{INI}env = A=$(NAME)\n")
    reading = read_ini(ini, secret)
    shorter = replace(reading.config, settings=reading.config.settings[:-1])
    with pytest.raises(
        ProfileError, match=r"env = A=\$\(NAME\), and lab nothing more; give a copy"
    ):
        confirm(Reading(shorter, shorter), secret)


def test_to_show_a_profile_starts_nothing(ini, monkeypatch):
    """Neither uWSGI nor anything else."""

    def started(*_words, **_more):
        raise AssertionError

    monkeypatch.setattr(subprocess, "Popen", started)
    for name in (str(ini), "tuned", "gunicorn-sync"):
        assert list(profiles.lines_of(profiles.read(name)))


def test_an_address_that_a_trial_sets_is_told_as_its_variable():
    """And not as what stands for it while the file is read."""
    spot = Spot(Path("a.ini"), 2, 1)
    flaw = Flaw("UW1", Severity.ERROR, f"http = {HOST}:{PORT}: it is taken", spot)
    assert str(refused(flaw, OURS)) == "a.ini:2: http = $(BIND):$(PORT): it is taken"
