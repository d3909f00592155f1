"""Profiles of ours beside a user's ini: they are asked as it is, unless the fronts are compared."""

import json

import pytest

from lab.bench.trials.conduct import prepare
from lab.cli.options.execution import application, carry_out, understand
from lab.cli.options.table import Job
from lab.errors import UsageError
from lab.model.workload import Transport, Wire
from tests.kit.lab_process import PACED, SITES, run

HTTP = (Wire.HTTP, Transport.TCP)
BY_TCP, BY_UNIX = (Wire.UWSGI, Transport.TCP), (Wire.UWSGI, Transport.UNIX)
SITE = "module = flask_site:application\nmaster = true\nprocesses = 2\n"


@pytest.fixture
def planned(tmp_path):
    """Return a function that plans a comparison of an ini of one's own with profiles of ours."""

    def planned(address, *names, **options):
        ini = tmp_path / "mine.ini"
        ini.write_text(f"[uwsgi]\n{address}\nchdir = {SITES}\n{SITE}")
        job = Job(profiles=(str(ini), *names), path=("/where/Bonn",), blocks=1, **options)
        return prepare(understand(job).options, application(job))

    return planned


def asked_in(prepared):
    """Return how each arm is asked, by its name."""
    workloads = {arm.name: arm.workload for arm in prepared.plan.arms}
    return {name: (workload.wire, workload.transport) for name, workload in workloads.items()}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("socket = /run/shop.sock", BY_UNIX),
        ("socket = 127.0.0.1:3031", BY_TCP),
        ("uwsgi-socket = shop.sock", BY_UNIX),
        ("socket = 127.0.0.1:3031\nprotocol = http", HTTP),
        ("http = :8080\nsocket = /run/shop.sock", HTTP),
        ("http-socket = :8080", HTTP),
    ],
)
def test_ours_are_asked_as_the_users_own_is(planned, address, expected):
    """At a socket of the same kind, also reference lines, whatever was in front of them."""
    prepared = planned(address, "baseline", "tuned", "constant", "http-keepalive")
    assert set(asked_in(prepared).values()) == {expected}
    for arm in prepared.plan.arms:
        assert arm.load.keepalive == (expected is HTTP)
        if expected is not HTTP:
            options = dict(arm.profile.options)
            address = options.get("socket") or options["uwsgi-socket"]
            assert address == ("{socket}" if expected is BY_UNIX else "{host}:{port}")
            assert not [name for name in options if name.startswith("http")]
            assert not arm.profile.keepalive


def test_fronts_can_be_compared_as_well(planned):
    """Then ours, and servers of other kinds always, are asked over HTTP."""
    prepared = planned("socket = /run/shop.sock", "tuned", "gunicorn-sync", front="http")
    assert asked_in(prepared) == {"mine": BY_UNIX, "tuned": HTTP, "gunicorn-sync": HTTP}
    prepared = planned("socket = /run/shop.sock", "tuned", "gunicorn-sync")
    assert asked_in(prepared) == {"mine": BY_UNIX, "tuned": BY_UNIX, "gunicorn-sync": HTTP}


def test_an_application_that_is_named_beside_it_changes_no_front(planned):
    """`--app` says what is served, and the ini still how it is asked."""
    prepared = planned(
        "socket = /run/shop.sock", "tuned", app="flask_site:application", chdir=SITES
    )
    assert asked_in(prepared) == {"mine": BY_UNIX, "tuned": BY_UNIX}


def test_ours_without_an_own_ini_stay_as_they_are():
    """A name alone is a profile of ours over HTTP."""
    job = Job(profiles=("baseline", "tuned"), blocks=1)
    assert set(asked_in(prepare(understand(job).options, application(job))).values()) == {HTTP}


def test_both_are_asked_in_the_uwsgi_protocol_and_answer(tmp_path):
    """A whole comparison over UNIX sockets: one connection per request, and no error."""
    (tmp_path / "mine.ini").write_text(f"[uwsgi]\nsocket = my.sock\nchdir = {SITES}\n{SITE}")
    options = ("--path", "/where/Bonn", "--no-confirm")
    done = run("lab", "run", "mine.ini", "tuned", *options, *PACED, cwd=tmp_path)
    assert done.returncode in {0, 3}, done.stdout + done.stderr
    assert "/where/Bonn by the uwsgi protocol over a UNIX socket" in done.stdout
    assert "two protocols" not in done.stdout
    assert "tuned also uses the uwsgi protocol." in done.stderr
    (lines,) = (file.read_text().splitlines() for file in tmp_path.glob("results/*/trials.ndjson"))
    windows = [window for line in lines for window in json.loads(line)["windows"]]
    assert len(windows) >= 3
    for window in windows:
        assert window["ok"] > 0
        assert (window["errors"], window["retried"]) == ({}, 0)
        assert window["connections"] == pytest.approx(window["ok"], abs=64)
    assert not (tmp_path / "my.sock").exists()


def test_a_client_that_speaks_http_only_is_refused(tmp_path):
    """Before anything starts, although nothing but the ini says how it is asked."""
    ini = tmp_path / "mine.ini"
    ini.write_text(f"[uwsgi]\nsocket = my.sock\nchdir = {SITES}\n{SITE}")
    job = Job(profiles=(str(ini),), blocks=1, client="fasthttp")
    with pytest.raises(UsageError, match=r"fasthttp speaks http over tcp; .* is uwsgi over unix"):
        carry_out(job, understand(job), lambda *_: pytest.fail("it was run"), list)
