"""A load that comes from other hosts: what the runner makes of it, with scripted parts."""

import os
from contextlib import contextmanager
from dataclasses import replace

import pytest

from lab.bench.trials.hosts import clients_side
from lab.bench.trials.runner import run, run_trial
from lab.errors import WorkersChangedError
from lab.model.measurement import Failure
from lab.model.plan import Slot
from tests.kit import builders as make
from tests.kit.scripted import Script, arm, plan

HERE = {"tcp.TCPSynRetrans": 1.0, "tcp.RetransSegs": 2.0, "tcp.time_wait": 5.0, "tcp.ports": 100.0}


def window(host, **tcp):
    """Return a window of a host."""
    return make.window(host=host, tcp={f"tcp.{name}": value for name, value in tcp.items()})


def test_what_clients_counted_is_added_to_what_was_counted_here():
    """Workers of one host have counted the same; of two hosts each has its own."""
    windows = (
        window("a", TCPSynRetrans=3.0, time_wait=10.0, ports=100.0),
        window("a", TCPSynRetrans=4.0, time_wait=11.0, ports=100.0),
        window("b", TCPSynRetrans=5.0, time_wait=90.0, ports=1000.0),
    )
    assert clients_side(HERE, windows) == {
        "tcp.TCPSynRetrans": 10.0,
        "tcp.RetransSegs": 2.0,
        "tcp.time_wait": 11.0,  # of the most crowded host
        "tcp.ports": 100.0,
    }


def test_ports_of_this_host_count_where_a_client_is():
    """A server's side of a connection in TIME_WAIT takes no port from anybody."""
    crowded, there = HERE | {"tcp.time_wait": 90.0}, window("a", time_wait=11.0, ports=100.0)
    assert clients_side(crowded, (there,))["tcp.time_wait"] == 11.0
    assert clients_side(crowded, (there, make.window()))["tcp.time_wait"] == 90.0


def test_of_a_load_from_here_nothing_changes():
    """Its end of TCP is the one that was read."""
    assert clients_side(HERE, (make.window(),)) == {}


@pytest.mark.parametrize(
    ("server", "elsewhere", "expected"),
    [
        ((0, 1), False, {"server.cores": 2.0, "cores.shared": 1.0}),
        ((0, 1), True, {"server.cores": 2.0, "cores.shared": 0.0}),
        (None, True, {"server.cores": float(len(os.sched_getaffinity(0)))}),
        (None, False, {}),
    ],
    ids=["named", "named, load elsewhere", "all of them, load elsewhere", "anywhere"],
)
def test_a_load_from_elsewhere_takes_no_core(server, elsewhere, expected):
    """Then an unpinned server has the machine to itself, and a pinned one its cores."""
    script = Script()
    script.elsewhere = elsewhere
    parts = replace(script.parts(), server_cores=server, generator_cores=(0,), probes=())
    trial = run_trial(plan("a"), Slot(0, 0, arm("a")), 0, parts, script)
    assert trial.readings == expected


def test_a_worker_that_is_lost_ends_the_run_after_its_trial():
    """It is recorded with the reason, and none is made with the workers that are left."""
    script = Script()
    session, left = script.session, iter([True])

    @contextmanager
    def losing(*given):
        with session(*given) as the_session:
            yield the_session
            if not next(left, False):
                raise WorkersChangedError("load-2 ended, or lost its connection")

    script.session = losing
    with pytest.raises(WorkersChangedError, match="load-2"):
        run(plan("a", blocks=5), script.parts(), script)
    sound, lost = script.trials
    assert sound.failure is None
    assert lost.failed is Failure.LOAD
    assert lost.windows == ()
    assert "load-2 ended, or lost its connection" in lost.failure
