"""The head of a report: machine and versions."""

from dataclasses import replace

import pytest

from lab.analysis.machine import facts, network
from lab.report.machine import environment_lines, machine_lines, network_lines
from tests.kit import builders as make


def test_the_machine_and_the_versions_are_a_line_each():
    """What was read is said, in a reader's order."""
    environment = {
        "cpu": {"model": "AMD EPYC", "cores": 2},
        "kernel": {"release": "6.8.0"},
        "python": {"version": "3.11.9"},
        "uwsgi": {"version": "2.0.31"},
        "git": {"commit": "0123456789abcdef"},
    }
    assert machine_lines(facts({"digest": environment})) == (
        "AMD EPYC, 2 cores, Linux 6.8.0",
        "Python 3.11.9, uWSGI 2.0.31, commit 0123456789ab",
    )


def test_what_was_not_read_is_not_mentioned():
    """An empty environment gives no line, and neither does none."""
    assert machine_lines(facts({"digest": {"cpu": {}}})) == ()
    assert machine_lines(facts({})) == ()


def test_versions_are_found_where_the_environment_has_them():
    """Locust's among the distributions; a commit with changes that are in no commit says so."""
    environment = {
        "distributions": {"locust": "2.43.0"},
        "fib": {"implementation": "cython"},
        "git": {"commit": "0123456789abcdef", "dirty": True},
    }
    (line,) = machine_lines(facts({"digest": environment}))
    assert line == "Locust 2.43.0, fib cython, commit 0123456789ab (modified)"


def loaded(hosts, *windows):
    """Return a run whose load came from *hosts*."""
    run = make.ladder_run({"a": (2000, 4e-4)}, blocks=1)
    return replace(run, hosts=hosts, trials=tuple(make.trial(window) for window in windows))


def test_a_load_over_a_network_says_how_far_and_from_where():
    """Hosts that are alike share a line; the nearest window of each counts."""
    facts = {"cpu": {"model": "EPYC", "cores": 2}, "network": {"mtu": 1500}}
    run = loaded(
        {"a": facts, "b": facts, "c": {"kernel": {"release": "6.8"}}},
        make.window(host="a", rtt=0.0004),
        make.window(host="a", rtt=0.00021),
        make.window(host="b", rtt=0.0052),
        make.window(host="c"),
    )
    assert network_lines(network(run)) == (
        "load over a network, 0.21 ms to 5.2 ms away, from 3 hosts",
        "a, b: EPYC, 2 cores, MTU 1500",
        "c: Linux 6.8",
    )


def test_a_distance_that_is_not_known_is_not_invented():
    """As with a client that does not tell; and of a load from here nothing is said."""
    (line, _) = network_lines(
        network(loaded({"a": {"python": {"version": "3.13"}}}, make.window(host="a")))
    )
    assert line == "load over a network, at a distance not known, from 1 host"
    assert network_lines(network(loaded({}, make.window()))) == ()


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        ("gunicorn (version 27.0.1)", "gunicorn 27.0.1"),
        ("nginx version: nginx/1.22.1", "nginx 1.22.1"),
        ("Running uvicorn 0.54.0 with CPython 3.11.7 on Linux", "uvicorn 0.54.0"),
        ("command not found", ""),
    ],
)
def test_the_servers_have_their_versions(printed, line):
    """As their commands print them."""
    environment = {"servers": {"a": printed, "b": printed}}
    assert environment_lines(environment) == ((line,) if line else ())
