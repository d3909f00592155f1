"""The ladder: which profiles there are, and what each changes."""

import os

import pytest

from lab import profiles
from lab.profiles import Step

FRONT = "{host}:{port}"
CPUS = str(max(2, os.cpu_count()))

STEPS = {
    "processes-threads": Step(
        added=(("enable-threads", "true"), ("processes", "4"), ("threads", "2"))
    ),
    "disable-logging": Step(added=(("disable-logging", "true"),)),
    "max-worker-lifetime": Step(added=(("max-worker-lifetime", "30"),)),
    "cython": Step(
        added=(("env FIB_REQUIRE_CYTHON", "1"),), changed=(("env FIB_PURE_PYTHON", "1", "0"),)
    ),
    "listen": Step(added=(("listen", "1024"),)),
    "master": Step(added=(("master", "true"),)),
    "max-worker-lifetime-delta": Step(added=(("max-worker-lifetime-delta", "7"),)),
    "http-socket": Step(added=(("http-socket", FRONT),), removed=(("http", FRONT),)),
    "processes-per-cpu": Step(changed=() if CPUS == "4" else (("processes", "4", CPUS),)),
    "one-thread": Step(changed=(("threads", "2", "1"),)),
    "connection-close": Step(added=(("add-header", "Connection: close"),)),
    "safety": Step(
        added=(
            ("buffer-size", "32768"),
            ("harakiri", "30"),
            ("hook-master-start", "unix_signal:15 gracefully_kill_them_all"),
            ("ignore-sigpipe", "true"),
            ("max-vars", "256"),
            ("need-app", "true"),
            ("post-buffering", "8192"),
            ("single-interpreter", "true"),
            ("vacuum", "true"),
        ),
        changed=(
            ("max-worker-lifetime", "30", "3600"),
            ("max-worker-lifetime-delta", "7", "60"),
        ),
    ),
    "tuned": Step(
        added=(("module", "app.wsgi:app"),),
        removed=(
            ("callable", "app"),
            ("env FIB_PURE_PYTHON", "0"),
            ("env FIB_REQUIRE_CYTHON", "1"),
            ("wsgi-file", "app/article.py"),
        ),
    ),
    "http11-socket": Step(added=(("http11-socket", FRONT),), removed=(("http-socket", FRONT),)),
    "thunder-lock": Step(added=(("thunder-lock", "true"),)),
    "gunicorn-sync": Step(changed=(("server", "uwsgi", "command"),)),
}


def test_ladder():
    """The ladder leads from the article's baseline to `tuned`, five of its steps the article's."""
    assert profiles.ladder() == (
        "baseline",
        "processes-threads",
        "disable-logging",
        "max-worker-lifetime",
        "cython",
        "listen",
        "master",
        "max-worker-lifetime-delta",
        "http-socket",
        "processes-per-cpu",
        "one-thread",
        "connection-close",
        "safety",
        "tuned",
    )


def test_baseline():
    """The baseline is the article's four options, with the loop in plain Python."""
    assert profiles.read("baseline").options == (
        ("strict", "true"),
        ("http", FRONT),
        ("chdir", "{root}"),
        ("wsgi-file", "app/article.py"),
        ("callable", "app"),
        ("env", "FIB_PURE_PYTHON=1"),
    )


def test_every_profile_has_its_step():
    """No profile but the baseline is without a step that is stated here."""
    assert set(profiles.find()) == {"baseline", *STEPS}


@pytest.mark.parametrize("name", STEPS)
def test_step(name):
    """A profile differs from the one it is against in exactly its step."""
    profile = profiles.read(name)
    assert profiles.step(profile, profiles.read(profile.against)) == STEPS[name]


@pytest.mark.parametrize("name", profiles.find())
def test_header(name):
    """Every profile says what it does, what its limit is, and where to read more."""
    header = profiles.read_header(profiles.read(name).path)
    assert header.summary
    assert any(each.startswith("Limit:") for each in header.paragraphs)
    assert header.link


@pytest.mark.parametrize("name", [each for each in profiles.find() if each != "gunicorn-sync"])
def test_strict(name):
    """Every uWSGI profile refuses a mistyped option."""
    assert ("strict", "true") in profiles.read(name).options


@pytest.mark.parametrize("path", sorted((profiles.ROOT / "uwsgi").glob("*")), ids=lambda p: p.name)
def test_fragments_are_ini(path):
    """Nothing in uwsgi/ can be imported: inside the server that name is a built-in module."""
    assert path.suffix == ".ini"


@pytest.mark.parametrize("path", sorted(profiles.ROOT.glob("*/*.ini")), ids=lambda p: p.name)
def test_no_comment_after_a_value(path):
    """No value carries a comment, which uWSGI would take for a part of it."""
    values = [line for line in path.read_text().splitlines() if line and line[0] not in ";["]
    assert [line for line in values if ";" in line or "#" in line] == []
