"""`lab check`: what is judged, and that every complaint says what to do."""

from __future__ import annotations

import time
from copy import deepcopy

import pytest
from click.testing import CliRunner

from lab.bench.store.fitness import Moment, assess, check
from lab.cli.check import check_command

SOUND = {
    "cpu": {"cores": 4, "affinity": [0, 1, 2, 3], "governor": "performance", "turbo": False},
    "kernel": {
        "parameters": {
            "net.core.somaxconn": "4096",
            "net.ipv4.ip_local_port_range": "32768 60999",
        }
    },
    "limits": {"nofile": [20000, 20000]},
    "uwsgi": {"version": "2.0.31"},
    "tools": {"ss": "6.1.0", "wrk": "4.1.0", "ab": "2.3"},
    "distributions": {"gunicorn": "23.0", "locust": "2.47.0"},
    "fib": {"implementation": "cython", "stale": False},
}

QUIET = {
    "machine.foreign_cpu": 0.02,
    "machine.steal": 0.0,
    "pressure.cpu_some": 0.01,
    "pressure.io_some": 0.0,
    "pressure.memory_some": 0.0,
    "tcp.time_wait": 12.0,
}


def judged(environment=SOUND, *, memory=8e9, swapped=0, routing=True, tracked=None, **readings):
    """Return the findings by name, of a sound and quiet machine with these differences."""
    known = QUIET | {name.replace("__", "."): value for name, value in readings.items()}
    moment = Moment(
        {name: value for name, value in known.items() if value is not None},
        int(memory),
        swapped,
        routing,
        tracked,
    )
    return {finding.name: finding for finding in assess(environment, moment)}


def changed(path, value):
    """Return SOUND with one item replaced, or without it for None."""
    environment = deepcopy(SOUND)
    *folders, name = path.split("/")
    inner = environment
    for folder in folders:
        inner = inner[folder]
    if value is None:
        del inner[name]
    else:
        inner[name] = value
    return environment


def test_a_sound_machine_has_nothing_to_complain_of():
    """All findings are ok, and none gives advice."""
    findings = judged().values()
    assert {finding.level for finding in findings} == {"ok"}
    assert not any(finding.cost or finding.advice for finding in findings)


@pytest.mark.parametrize(
    ("path", "value", "name", "level"),
    [
        ("cpu/affinity", [2], "cores", "warn"),
        ("cpu/governor", "powersave", "governor", "warn"),
        ("cpu/turbo", True, "turbo", "warn"),
        ("limits/quota", 1.5, "CPU quota", "warn"),
        ("limits/nofile", [2048, 4096], "open files", "warn"),
        ("limits/nofile", [1024, 1024], "open files", "fail"),
        ("limits/nofile", [-1, -1], "open files", "ok"),
        ("kernel/parameters/net.core.somaxconn", "128", "somaxconn", "fail"),
        ("kernel/parameters/net.core.somaxconn", "1024", "somaxconn", "ok"),
        ("uwsgi", None, "uwsgi", "fail"),
        ("tools/ss", None, "ss", "warn"),
        ("tools/wrk", None, "wrk", "warn"),
        ("tools/ab", None, "ab", "warn"),
        ("distributions/gunicorn", None, "gunicorn", "warn"),
        ("distributions/locust", None, "locust", "warn"),
        ("fib/implementation", "pure", "fib", "warn"),
        ("fib/stale", True, "fib", "warn"),
        ("fib", None, "fib", "fail"),
    ],
)
def test_what_a_machine_lacks_is_judged(path, value, name, level):
    """It alone is complained of, with what it costs and what to do."""
    findings = judged(changed(path, value))
    assert findings[name].level == level
    assert [f.name for f in findings.values() if f.level != "ok"] == [name] * (level != "ok")
    assert bool(findings[name].cost and findings[name].advice) is (level != "ok")


@pytest.mark.parametrize(
    ("moment", "name"),
    [
        ({"machine__foreign_cpu": 0.3}, "other load"),
        ({"machine__steal": 0.05}, "steal"),
        ({"pressure__io_some": 0.2}, "pressure"),
        ({"tcp__time_wait": 20000.0}, "local ports"),
        ({"memory": 100e6}, "memory"),
        ({"swapped": 2**30}, "swap"),
        ({"routing": False}, "uwsgi routing"),
        ({"tracked": (900, 262_144)}, "firewall"),
    ],
)
def test_what_goes_on_is_judged(moment, name):
    """It is a warning: it may be over in a minute."""
    findings = judged(**moment)
    assert [f.name for f in findings.values() if f.level != "ok"] == [name]
    assert findings[name].level == "warn"


@pytest.mark.parametrize(
    ("environment", "foreign", "not_ready"),
    [
        (SOUND, 0.3, []),
        (SOUND, 0.9, []),
        (SOUND, 2.0, ["CPU busy (2.00 cores used by other programs)"]),
        (changed("cpu/affinity", [0, 1]), 0.9, ["CPU busy (0.90 cores used by other programs)"]),
        (changed("uwsgi", None), 0.0, ["uwsgi missing"]),
        (changed("cpu/governor", "powersave"), 0.0, []),
    ],
)
def test_what_prevents_a_valid_trial(environment, foreign, not_ready):
    """A busy CPU by the limit at which trials are invalid, and all that stops a run."""
    findings = judged(environment, machine__foreign_cpu=foreign).values()
    assert [finding.not_ready for finding in findings if finding.not_ready] == not_ready
    assert all((finding.level == "fail") == bool(finding.not_ready) for finding in findings)


def test_the_last_line_is_the_verdict(monkeypatch):
    """And the exit status says the same."""
    busy = judged(machine__foreign_cpu=2.0).values()
    for findings, verdict, status in (
        (judged().values(), "Ready to measure.", 0),
        (busy, "Not ready to measure: CPU busy (2.00 cores used by other programs).", 1),
    ):
        monkeypatch.setattr("lab.bench.store.fitness.check", lambda findings=findings: findings)
        result = CliRunner().invoke(check_command, standalone_mode=False)
        assert result.output.splitlines()[-1] == verdict
        assert result.return_value == status


def test_the_resource_that_is_short_is_named():
    """In the sentence of the finding."""
    finding = judged(pressure__cpu_some=0.2, pressure__io_some=0.2)["pressure"]
    assert finding.cost == "Tasks, including the server, are waiting for CPU and I/O"


@pytest.mark.parametrize("tracked", [(0, 262_144), (900, 4_194_304)])
def test_a_firewall_that_tracks_nothing_or_enough_is_fine(tracked):
    """Only a table that the load can fill drops handshakes."""
    assert {finding.level for finding in judged(tracked=tracked).values()} == {"ok"}


def test_a_kernel_without_pressure_is_said_to_have_none():
    """It costs two causes that cannot be named any more."""
    finding = judged(pressure__cpu_some=None, pressure__io_some=None, pressure__memory_some=None)
    assert finding["pressure"].value == "unknown"
    assert finding["pressure"].level == "warn"


def test_what_cannot_be_read_is_not_complained_of():
    """A virtual machine tells neither governor nor turbo."""
    environment = deepcopy(SOUND)
    del environment["cpu"]["governor"], environment["cpu"]["turbo"]
    findings = judged(environment)
    assert "governor" not in findings
    assert {finding.level for finding in findings.values()} == {"ok"}


def test_this_machine_is_judged_within_seconds():
    """Every finding names what was found."""
    started = time.monotonic()
    findings = check()
    assert time.monotonic() - started < 10
    names = [finding.name for finding in findings]
    assert {"cores", "somaxconn", "other load", "uwsgi", "ss", "fib"} <= set(names)
    assert len(names) == len(set(names))
    assert all(finding.value for finding in findings)
    assert all(finding.cost and finding.advice for finding in findings if finding.level != "ok")
