"""Several processes of the engine that share one load."""

import math
import os
import signal
import subprocess
import sys
from threading import Timer
from time import monotonic

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.gates.replies import starvation
from lab.bench.load.open_loop import make_engine
from lab.bench.load.process import EngineGenerator
from lab.bench.load.shares import divide_load, phases, shares
from lab.bench.load.wires import HttpWire
from lab.bench.machine.cpus import deal
from lab.errors import GeneratorError
from lab.model.finding import Beside
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.request import Expectation, Request
from tests.kit import builders as make
from tests.kit.lab_process import ROOT, alive, until
from tests.kit.replies import REPLY, WORKLOAD

PROCESSES = st.integers(1, 40)


@given(st.integers(0, 10_000), PROCESSES)
def test_parts_add_up_and_are_as_equal_as_can_be(total, processes):
    """Nothing is lost, and no two parts differ by more than 1."""
    parts = shares(total, processes)
    assert (len(parts), sum(parts)) == (processes, total)
    assert max(parts) - min(parts) <= 1


@given(PROCESSES, st.integers(0, 500), st.integers(1, 5000), st.floats(1, 1e5))
def test_the_parts_of_a_load_are_the_load(processes, more, requests, rate):
    """Connections and requests exactly, each process with a connection; what else, as it is."""
    whole = Load(processes + more, keepalive=False, requests=requests, timeout=3.0)
    parts = divide_load(whole, processes)
    assert sum(part.connections for part in parts) == whole.connections
    assert sum(part.requests for part in parts) == requests
    assert min(part.connections for part in parts) >= 1
    assert {(part.keepalive, part.timeout, part.rate) for part in parts} == {(False, 3.0, None)}
    planned = divide_load(Load(processes + more, rate=rate), processes)
    assert math.fsum(part.rate for part in planned) == pytest.approx(rate, rel=1e-12)
    assert {part.requests for part in planned} == {None}


@given(st.lists(st.integers(0, 300), unique=True, min_size=1), PROCESSES)
def test_every_process_has_cpus_of_its_own(cpus, processes):
    """All are dealt out and none twice; where they are too few, each process may use all."""
    seats = deal(cpus, processes)
    assert len(seats) == processes
    if len(cpus) < processes:
        assert seats == [tuple(cpus)] * processes
    else:
        assert [cpu for seat in seats for cpu in seat] == cpus
        assert all(seats)


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
def test_the_grids_of_an_open_loop_interlock(clock, processes):
    """In any time as many requests are due as with one process, to within the one at its edge."""
    request = Request("/9").encode("127.0.0.1", keepalive=True)
    load, address = Load(processes, rate=1000.0), ("127.0.0.1", 1)
    engines = [
        make_engine(address, HttpWire(request, Expectation()), share, phase)
        for share, phase in zip(divide_load(load, processes), phases(processes), strict=True)
    ]
    try:
        for engine in engines:
            engine.resume()
            engine.open_window()
            clock.now += 0.0001  # they do not begin together
        start = clock.now
        for engine in engines:
            engine.open_window()
        for _ in range(20):
            clock.now += 0.00137
            planned = 0
            for engine in engines:
                engine.step(0)
                planned += engine.attempted - engine._recorder.carried
            assert abs(planned - 1000 * (clock.now - start)) <= 1
    finally:
        for engine in engines:
            engine.close()


def test_two_processes_make_one_timed_load(serve):
    """Each counts its own connections in a window of its own, and both have the same length."""
    server, generator = serve(REPLY), EngineGenerator(2)
    assert (generator.name, EngineGenerator().name) == ("engine x2", "engine")
    with generator.session(Endpoint(*server.address), WORKLOAD, Load(5), None) as session:
        assert len(set(session.pids)) == 2
        session.warm_up(0.1, 20)
        assert server.requests >= 20
        windows = session.measure(0.3)
    assert [window.process for window in windows] == list(session.pids)
    assert [len(window.replies) for window in windows] == [3, 2]
    assert all(count > 0 for window in windows for count in window.replies)
    assert all(window.wall >= 0.3 for window in windows)


def test_two_processes_send_a_counted_load_exactly(serve):
    """And their warm-up falls silent, as that of one does."""
    server = serve(REPLY, close=True)
    load = Load(connections=41, keepalive=False, requests=123)
    with EngineGenerator(2).session(Endpoint(*server.address), WORKLOAD, load, None) as session:
        session.warm_up(0.05, 20)
        warm = server.requests
        assert warm >= 20
        windows = session.measure(0)
        assert server.requests == warm + 123
    assert [window.ok for window in windows] == [62, 61]


def test_a_connection_that_gets_nothing_is_seen_among_those_of_all_processes():
    """The slots of the second process stand behind those of the first."""
    first = make.window(process=1, ok=2000, replies=(63,) * 32)
    fed = make.window(process=2, ok=2000, replies=(63,) * 32)
    starved = make.window(process=2, ok=2000, replies=(65,) * 31 + (0,))
    assert starvation(make.trial(first, fed), {}) is None
    assert starvation(make.trial(first, starved), Beside()).gate.name == "starvation"


def test_one_that_is_killed_ends_the_trial_at_once(serve):
    """Not when the others have come to their end; and none of these is left behind."""
    server, generator, began = serve(REPLY), EngineGenerator(2), monotonic()
    with generator.session(Endpoint(*server.address), WORKLOAD, Load(2), None) as session:
        children = [psutil.Process(pid) for pid in session.pids]
        Timer(0.2, os.kill, (session.pids[1], signal.SIGKILL)).start()
        with pytest.raises(GeneratorError, match="status -9"):
            session.measure(60)
    assert monotonic() - began < 30
    assert not alive(children)


def test_none_survives_the_lab(serve):
    """A lab killed with SIGKILL under load leaves no process of its generator behind."""
    server = serve(REPLY)
    script = f"""
from lab.bench.load.process import EngineGenerator
from lab.model.protocols import Endpoint
from lab.model.plan import Load
from tests.kit.replies import WORKLOAD
server = Endpoint(*{server.address!r})
with EngineGenerator(2).session(server, WORKLOAD, Load(4), None) as session:
    print(*session.pids, flush=True)
    session.measure(60)
"""
    command = (sys.executable, "-c", script)
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as lab:
        assert lab.stdout is not None
        children = [psutil.Process(int(pid)) for pid in lab.stdout.readline().split()]
        until(lambda: server.requests > 10, "a load")
        assert len(alive(children)) == 2
        lab.kill()
    until(lambda: not alive(children), "the generators' end")
