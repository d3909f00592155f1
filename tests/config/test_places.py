"""The reader of inis gets what uWSGI gets, and knows where it stands."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from lab.bench.machine.programs import binary
from lab.bench.profiles.known import of_machine, with_build
from lab.bench.profiles.reading import shown
from lab.config.configuration import Known
from lab.config.spot import Spot
from lab.config.uwsgi import reader
from lab.errors import ProfileError
from tests.kit.generated_inis import TEXTS
from tests.kit.lab_process import ROOT
from tests.kit.uwsgi_options import RefusedError, options

INIS = sorted(
    path for name in ("profiles", "uwsgi", "tests") for path in ROOT.glob(f"{name}/**/*.ini")
)

CUT = "cron2"
"""An option whose value uWSGI itself cuts before it prints it."""

BIND = {"BIND": "127.0.0.1", "PORT": "0", "PATH": os.environ["PATH"], "HOME": "/nowhere"}


def read(text, environ=BIND):
    """Return the configuration in *text*."""
    path = Path("/srv/site.d/app.v2.ini")
    return reader.read(path, Known(overlay={path: text}, environ=environ))


def pairs(text, environ=BIND):
    """Return options and values in *text*."""
    return [(setting.option, setting.value) for setting in read(text, environ).settings]


@pytest.fixture(scope="module")
def known():
    """Return what the uWSGI of the tests can do."""
    return replace(with_build(of_machine(Known.of_caller()), binary()), environ=BIND)


def compared(path, known):
    """Return what is read from a file, and what uWSGI reads from it."""
    config = reader.read(path, known)
    assert not config.guesses
    return [(setting.option, setting.value) for setting in config.settings], options(config)


@pytest.mark.parametrize("path", INIS, ids=lambda path: path.stem)
def test_every_ini_of_this_project_is_read_as_uwsgi_reads_it(path, known):
    """In the same order, repeats kept."""
    try:
        ours, uwsgis = compared(path, known)
    except RefusedError as error:
        if "Permission denied" in str(error):
            pytest.skip(f"uWSGI reads it for root alone: {error}")
        raise
    assert [pair for pair in ours if pair[0] != CUT] == [p for p in uwsgis if p[0] != CUT]


def agree(lines, others, known, folder):
    """Write two files, and hold the reader to what uWSGI says of the first."""
    path = folder / "a.ini"
    path.write_bytes("\n".join(["[uwsgi]", "set-ph = foo=2", *lines, ""]).encode())
    (folder / "b.ini").write_bytes("\n".join(["[uwsgi]", *others, ""]).encode())
    try:
        config = reader.read(path, known)
    except ProfileError as error:
        if "is more than the lab reads" in str(error):
            return
        raise
    if config.guesses:
        return
    try:
        expected = options(config)
    except RefusedError:
        return
    ours = [
        [shown(text) for text in (setting.option, setting.value)] for setting in config.settings
    ]
    assert ours == [list(pair) for pair in expected]


@example(lines=["env = A=%P%O%D%S%C%E%N%X"], others=[])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=TEXTS, others=TEXTS)
def test_what_a_generator_writes_is_read_as_uwsgi_reads_it(lines, others, known, tmp_path):
    """Sections, conditions, loops, includes and variables, in any order."""
    agree(lines, others, known, tmp_path)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=TEXTS, others=TEXTS)
def test_two_thousand_are_read_as_uwsgi_reads_them(lines, others, known, tmp_path):
    """The same, more of them."""
    agree(lines, others, known, tmp_path)


@pytest.mark.parametrize(
    ("line", "value", "place", "raw"),
    [
        ("processes = 4", "4", (2, 1, 13), "4"),
        ("  processes=4 ", "4", (2, 3, 13), "4"),
        ("processes", "", (2, 1, 10), ""),
        ("env = A=%n", "A=app.v2", (2, 1, 7), "A=%n"),
        ("log-date = %Y-%m", "-", (2, 1, 12), "%Y-%m"),
        ("env = A=%\nthreads = 2", "A=threads = 2", (2, 1, 7), "A=%"),
        ("chdir = %dx", "/srv/site.d/x", (2, 1, 9), "%dx"),
        ("set-ph = a=1", "a=1", (2, 1, 10), "a=1"),
        ("socket = :1 ; x", ":1 ; x", (2, 1, 10), ":1 ; x"),
        ("pidfile = %Px", "/srv/site.d/app.v2.inix", (2, 1, 11), "%Px"),
        ("home = é%%40", "é%40", (2, 1, 8), "é%%40"),
    ],
)
def test_an_option_has_its_place_and_is_kept_as_written(line, value, place, raw):
    """Line and column of its name, column of its value; what is replaced counts as the place."""
    first = read(f"[uwsgi]\n{line}\n").settings[0]
    assert (first.value, first.raw) == (value, raw)
    assert (first.spot.line, first.spot.column, first.column) == place


def test_what_is_included_has_its_place_in_its_own_file(tmp_path):
    """Below the section that is asked for; what is inherited comes last."""
    path, base = tmp_path / "a.ini", tmp_path / "base.ini"
    path.write_text("[uwsgi]\nini = base.ini:more\ninherit = base.ini\nthreads = 2\n")
    base.write_text("[uwsgi]\nlisten = 9\n[more]\nstats = :1\n")
    places = [(s.option, s.spot.file, s.spot.line) for s in reader.read(path, Known()).settings]
    assert places == [
        ("ini", path, 2),
        ("stats", base, 4),
        ("inherit", path, 3),
        ("threads", path, 4),
        ("listen", base, 2),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("ini = exec://cat x", "exec://cat x"),
        ("include = base.ini", "cannot read /srv/site.d/base.ini"),
        ("stats = @(http://x/)", "http://x/"),
        ("json = x.json", "cannot read /srv/site.d/x.json"),
        ("ldap = ldap://x/", "ldap://x/"),
        ("for-glob = /*/*/*.ini\nthreads = 2", "look for /*/*/*.ini"),
        ("a = x%(a)", "contains itself"),
        ("pidfile = /run/%t", "%t"),
        ("if-env = HOME\nif-env = PORT", "a condition in a condition"),
    ],
)
def test_what_cannot_be_known_is_said(line, why):
    """Nothing is run, and no network is asked."""
    assert why in read(f"[uwsgi]\n{line}\n").guesses


@pytest.mark.parametrize("option", ["ini", "include", "inherit"])
def test_files_that_include_each_other_end(option, tmp_path):
    """As they do in uWSGI, which has no memory left then; the include is named."""
    path, base = tmp_path / "a.ini", tmp_path / "base.ini"
    path.write_text(f"[uwsgi]\nthreads = 2\n{option} = base.ini\n{option} = base.ini\n")
    base.write_text(f"[uwsgi]\n{option} = a.ini\n")
    circle = reader.read(path, Known()).circle
    assert circle.spot in {Spot(path, 3, 1), Spot(path, 4, 1), Spot(base, 2, 1)}


def test_a_file_that_many_include_is_no_circle(tmp_path):
    """However often it is read."""
    path, base = tmp_path / "a.ini", tmp_path / "base.ini"
    path.write_text("[uwsgi]\n" + "ini = base.ini\n" * 90)
    base.write_text("[uwsgi]\nthreads = 2\n")
    config = reader.read(path, Known())
    assert (config.circle, config.guesses, len(config.all("threads"))) == (None, "", 90)


def test_a_section_of_the_same_file_has_its_name(tmp_path, monkeypatch):
    """By which the user named it, so that it is one file and not two."""
    monkeypatch.chdir(tmp_path)
    path = Path("a.ini")
    path.write_text("[uwsgi]\nini = %d./a.ini:b\n[b]\nthreads = 2\n")
    config = reader.read(path, Known())
    assert list(config.texts) == [path]
    assert config.first("threads").spot == Spot(path, 4, 1)
