"""The environment: complete, stable, and comparable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from copy import deepcopy
from importlib import metadata
from pathlib import Path

import pytest

from lab.analysis.comparable import differences
from lab.bench.machine.programs import output_of, parse_plugins
from lab.bench.probes.machine import divide, parse_boot, parse_cpu_list
from lab.bench.store.environment import default_generators, digest, read_environment, split_cores

PLUGINS = """\

*** uWSGI loaded generic plugins ***
gevent
http

*** uWSGI loaded request plugins ***
0: python
17: spooler
--- end of plugins list ---

"""


@pytest.fixture(scope="module")
def environment():
    """Return this machine's."""
    return read_environment()


def test_it_survives_json(environment):
    """It is written into every run's folder."""
    assert json.loads(json.dumps(environment)) == environment


def test_it_names_what_a_result_depends_on(environment):
    """Machine, kernel, limits, interpreter, packages."""
    assert environment["cpu"]["cores"] == os.cpu_count()
    assert environment["cpu"]["affinity"] == sorted(os.sched_getaffinity(0))
    assert environment["kernel"]["release"] == os.uname().release
    assert environment["python"]["version"] == sys.version.split()[0]
    assert environment["distributions"]["flask"] == metadata.version("flask")
    assert environment["uwsgi"]["version"] == metadata.version("uwsgi")
    assert "python" in environment["uwsgi"]["plugins"]
    assert environment["limits"]["nofile"][0] != 0


def test_it_tells_which_build_of_fib_would_be_taken(environment):
    """The same that a program started here would take."""
    command = [sys.executable, "-W", "ignore", "-c", "import fib; print(fib.BUILD)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert environment["fib"]["implementation"] == done.stdout.strip()


def test_it_holds_no_path_of_this_machine(environment):
    """Results are published."""
    assert f"{Path.home()}/" not in json.dumps(environment)
    assert f"{Path.cwd()}/" not in json.dumps(environment)


def test_the_load_of_the_moment_changes_no_digest(environment):
    """What differs from minute to minute does not keep results apart."""
    later = deepcopy(environment)
    later["now"] = {"load": [99.0, 99.0, 99.0]}
    assert digest(later) == digest(environment)
    assert list(differences(later, environment)) == []


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda e: e["kernel"].update(release="2.4"), "kernel.release"),
        (lambda e: e["distributions"].pop("flask"), "distributions.flask"),
        (lambda e: e["cpu"].update(affinity=[7]), "cpu.affinity"),
        (lambda e: e.update(container="x"), "container"),
    ],
)
def test_a_change_is_named_and_changes_the_digest(environment, change, key):
    """Changed, gone or new."""
    other = deepcopy(environment)
    change(other)
    assert [difference.key for difference in differences(environment, other)] == [key]
    assert digest(environment) != digest(other)


def test_a_tool_that_is_missing_is_absent(monkeypatch, tmp_path):
    """Without git, uwsgi and the load tools nothing is said of them."""
    monkeypatch.setattr("lab.bench.machine.programs.find_command", lambda name: None)
    machine = read_environment()
    assert not {"git", "uwsgi", "tools", "fib"} & machine.keys()
    assert "kernel" in machine


def test_server_and_generator_get_cores_of_their_own():
    """Together all that this process may use, and none twice."""
    split = split_cores()
    usable = os.sched_getaffinity(0)
    if len(usable) == 1:
        assert split is None
    else:
        assert split is not None
        assert sorted(split[0] + split[1]) == sorted(usable)
        assert all(split)


@pytest.mark.parametrize(
    ("cores", "expected"),
    [
        ([{0}, {1}], ((0,), (1,))),
        ([{0}, {1}, {2}], ((0, 1), (2,))),
        # four cores of two threads: twins stay on one side, and beside each other
        (
            [{0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}],
            ((0, 4, 1, 5), (2, 6, 3, 7)),
        ),
        # one core of two threads is better than none
        ([{0, 1}, {0, 1}], ((0,), (1,))),
        ([{3}], None),
        ([], None),
    ],
)
def test_cores_are_divided_without_dividing_a_core(cores, expected):
    """Half each, at least one."""
    assert divide(cores) == expected


@pytest.mark.parametrize(
    ("cores", "connections", "expected"),
    [
        (None, 64, 1),  # nothing is pinned
        (((0,), (1,)), 64, 1),
        (((0, 1), (2, 3)), 64, 1),
        (((0, 1, 2), (3, 4)), 64, 2),
        (((0, 1, 2, 3), (4, 5, 6, 7)), 64, 4),
        (((0, 1, 2, 3), (4, 5, 6, 7)), 20, 2),  # at least 8 connections each
        (((0, 1, 2, 3), (4, 5, 6, 7)), 1, 1),
    ],
)
def test_how_many_generators_are_usual(monkeypatch, cores, connections, expected):
    """One on up to four CPUs; on more, one for each core that the server does not get."""
    monkeypatch.setattr(
        "lab.bench.store.environment.read_siblings", lambda cpus: [{c} for c in cpus]
    )
    assert default_generators(cores, connections) == expected


def test_a_core_of_two_threads_has_one_generator(monkeypatch):
    """Its twin would slow it down."""
    twins = [{4, 6}, {5, 7}, {4, 6}, {5, 7}]
    monkeypatch.setattr("lab.bench.store.environment.read_siblings", lambda _: twins)
    assert default_generators(((0, 2, 1, 3), (4, 6, 5, 7)), 64) == 2


@pytest.mark.parametrize(("text", "cpus"), [("0", {0}), ("0-2,5\n", {0, 1, 2, 5})])
def test_a_set_of_cpus_is_parsed(text, cpus):
    """As the kernel writes it."""
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize("text", ["", "a", "0-"])
def test_nonsense_is_no_set_of_cpus(text):
    """An empty set would pin a server to nothing."""
    with pytest.raises(ValueError):
        parse_cpu_list(text if text != "0-" else "-1")


def test_uwsgis_plugins_are_parsed():
    """Of both lists, without their numbers."""
    assert parse_plugins(PLUGINS) == ["gevent", "http", "python", "spooler"]
    assert parse_plugins("uwsgi: unrecognized option '--plugin-list'\n") == []


def test_only_boot_parameters_that_matter_are_kept():
    """The others are nobody's business."""
    assert parse_boot("quiet mitigations=off token=secret nosmt") == {
        "mitigations": "off",
        "nosmt": "",
    }


def test_a_command_that_cannot_run_has_no_output():
    """Absent, not empty."""
    assert output_of("no-such-command-anywhere") is None
