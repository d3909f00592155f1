"""Which two runs may be compared."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lab.analysis.comparable import (
    DifferingKey,
    MismatchError,
    NothingSharedError,
    require_comparable,
)
from lab.model.plan import Load
from tests.kit import builders as make

HERE = {
    "cpu": {"model": "EPYC", "cores": 2},
    "kernel": {"release": "6.8.0"},
    "machine": {"memory": 16_000_000},
    "git": {"commit": "aaaa", "dirty": False},
    "fib": {"implementation": "cython"},
    "distributions": {"flask": "3.1.0", "gevent": "24.1"},
    "now": {"load": [0.1]},
}


def a_run(environment=HERE, **changes):
    """Return a run of two profiles in *environment*, with changes to its plan."""
    run = make.ladder_run(
        {"a": (2000, 4e-4), "b": (2000, 4e-4)}, blocks=2, environments={"x": environment}
    )
    arm_changes = {
        key: changes.pop(key) for key in ("profiles", "workload", "load") if key in changes
    }
    return replace(run, plan=replace(make.altered(run.plan, **arm_changes), **changes))


def refused(before, after):
    """Return the keys for which two runs are refused."""
    with pytest.raises(MismatchError) as caught:
        require_comparable(before, after)
    return {
        difference.key: (difference.before, difference.after)
        for difference in caught.value.differing
    }


def test_what_is_being_compared_may_differ_and_is_shown():
    """The commit, the build, an application's dependency; not the load of the moment."""
    after = HERE | {
        "git": {"commit": "bbbb", "dirty": True},
        "fib": {"implementation": "pure"},
        "distributions": {"flask": "3.2.0", "gevent": "24.1"},
        "machine": {"memory": 16_000_512},
        "now": {"load": [9.0]},
    }
    assert require_comparable(a_run(), a_run(after)) == (
        DifferingKey("distributions.flask", "3.1.0", "3.2.0"),
        DifferingKey("fib.implementation", "cython", "pure"),
        DifferingKey("git.commit", "aaaa", "bbbb"),
        DifferingKey("git.dirty", "False", "True"),
        DifferingKey("machine.memory", "16000000", "16000512"),
    )


@pytest.mark.parametrize(
    ("change", "key", "values"),
    [
        ({"cpu": {"model": "Xeon", "cores": 2}}, "cpu.model", ("EPYC", "Xeon")),
        ({"kernel": {}}, "kernel.release", ("6.8.0", "absent")),
        ({"distributions": {"flask": "3.1.0"}}, "distributions.gevent", ("24.1", "absent")),
    ],
)
def test_another_machine_or_instrument_is_refused(change, key, values):
    """With the key and both values."""
    assert refused(a_run(), a_run(HERE | change)) == {key: values}


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"load": Load(connections=8)}, "load.connections"),
        ({"window": 9.0}, "plan.window"),
        ({"reference": "b"}, "plan.reference"),
        ({"workload": replace(make.plan().workload, path="/1")}, "workload.path"),
    ],
)
def test_another_question_is_refused(change, key):
    """Load, window, reference and workload."""
    assert list(refused(a_run(), a_run(**change))) == [key]


def test_more_blocks_another_order_and_another_checkout_may_be():
    """They change how well the question is answered, not the question."""
    workload = replace(make.plan().workload, chdir=Path("/elsewhere"))
    assert require_comparable(a_run(), a_run(blocks=20, seed=3, workload=workload)) == ()


def test_other_cores_for_the_server_are_refused():
    """Pinned and unpinned runs are two views."""
    after = a_run()
    trials = tuple(
        replace(trial, readings=trial.readings | {"server.cores": 2.0}) for trial in after.trials
    )
    assert refused(a_run(), replace(after, trials=trials)) == {"server.cores": ("1.0", "2.0")}


def test_another_number_of_generators_is_refused():
    """What one process could not show, two may."""
    after = replace(a_run(), generator="engine x2")
    assert refused(a_run(), after) == {"generator": ("engine", "engine x2")}


def test_a_changed_profile_is_refused_with_its_options():
    """Two configurations of one name are a comparison for one run."""
    a, b = a_run().plan.profiles
    options = (("listen", "1024"), ("master", "true"))
    after = a_run(profiles=(a, replace(b, options=options, digest="other")))
    assert refused(a_run(), after) == {
        "profile b": ("master = absent, listen = 100", "master = true, listen = 1024")
    }


def test_two_runs_with_nothing_but_the_reference_in_common_are_refused():
    """There is no ratio that both have; two runs of it alone do not even differ."""
    a, b = a_run().plan.profiles
    alone = a_run(profiles=(a,))
    for before, after in ((a_run(), a_run(profiles=(a, replace(b, name="c")))), (alone, alone)):
        with pytest.raises(NothingSharedError, match="except the reference a: run at least two"):
            require_comparable(before, after)


def test_the_message_says_what_to_do():
    """With a line for each key."""
    with pytest.raises(
        MismatchError,
        match=r"load.connections: 64 / 8\nMake both runs on the "
        "same",
    ):
        require_comparable(a_run(), a_run(load=Load(connections=8)))


def test_a_report_needs_nothing_that_starts_a_server():
    """Comparing and printing stored runs imports neither servers, probes nor profiles."""
    code = (
        "import sys, lab.analysis.comparable, lab.report.across, "
        "lab.report.html_page, lab.report.terminal\n"
        "print(*(name for name in sys.modules if name.startswith('lab.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in done.stdout.split()}
    assert "report" in rooms
    assert not rooms & {"environment", "probes", "profiles", "servers", "uwsgi_config"}


def test_hosts_of_the_load_must_be_alike_whatever_they_are_called():
    """A pod has another name each time; its CPU, its kernel and its Locust may not be others."""
    one, other = ({"cpu": {"model": model}} for model in ("EPYC", "Xeon"))
    before = replace(a_run(), hosts={"pod-x": one, "pod-y": other})
    assert not require_comparable(before, replace(a_run(), hosts={"pod-1": other, "pod-2": one}))
    assert refused(before, replace(a_run(), hosts={"pod-x": one, "pod-y": one})) == {
        "hosts.2.cpu.model": ("Xeon", "EPYC")
    }
    assert refused(before, a_run()).keys() == {"hosts.1.cpu.model", "hosts.2.cpu.model"}


def test_where_the_servers_listen_is_a_condition():
    """Over a network a connection costs more than over loopback."""
    workload = a_run().plan.workload
    there = replace(workload, runtime=replace(workload.runtime, bind="10.0.0.1"))
    assert "workload.runtime.bind" in refused(a_run(), a_run(workload=there))
