"""The engine in a process of its own."""

import os
import signal
import subprocess
import sys
from time import monotonic, perf_counter

import psutil
import pytest

from lab.bench.load.process import EngineGenerator
from lab.errors import GeneratorError, UsageError
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.lab_process import ROOT, alive, until
from tests.kit.replies import REPLY, WORKLOAD


def test_timed_load(serve):
    """A window lasts as long as asked, and a load goes on between warm-up and windows."""
    server = serve(REPLY)
    core = min(os.sched_getaffinity(0))
    generator = EngineGenerator()
    with generator.session(Endpoint(*server.address), WORKLOAD, Load(4), [core]) as session:
        assert os.sched_getaffinity(session.pids[0]) == {core}
        assert server.accepted == 0
        session.warm_up(0.1, 50)
        warm = server.requests
        assert warm >= 50
        until(lambda: server.requests > warm + 20, "more requests")
        before = perf_counter()
        first = session.measure(0.2)[0]
        assert 0.2 <= first.wall <= perf_counter() - before
        second = session.measure(0.1)[0]
    assert first.process == session.pids[0]
    assert first.connections == second.connections == 0
    assert 0 < first.ok + second.ok < server.requests
    assert len(first.replies) == 4
    assert first.errors == {}
    assert 0 < first.cpu <= first.wall


def test_a_paused_load_is_silent_and_goes_on(serve):
    """The requests under way have their replies, and no connection is left."""
    server = serve(REPLY)
    with EngineGenerator().session(Endpoint(*server.address), WORKLOAD, Load(4), None) as session:
        session.warm_up(0.1, 50)
        session.pause()
        requests = server.requests
        session.pause()
        assert server.requests == requests
        session.warm_up(0.05, 20)
        (window,) = session.measure(0.1)
    assert server.accepted == 8
    assert window.ok
    assert window.connections == 0
    assert window.errors == {}


def test_counted_load(serve):
    """A counted load's warm-up falls silent, and then the server sees exactly its number."""
    server = serve(REPLY, close=True)
    load = Load(connections=40, keepalive=False, requests=120)
    with EngineGenerator().session(Endpoint(*server.address), WORKLOAD, load, None) as session:
        session.warm_up(0.05, 20)
        warm = server.requests
        windows = [session.measure(0)[0] for _ in range(2)]
        assert server.requests == warm + 240
    assert [window.ok for window in windows] == [120, 120]
    assert [window.connections for window in windows] == [120, 120]


def test_open_loop(serve):
    """A rate reaches the child, and its grid goes on from the warm-up through the windows."""
    load = Load(4, rate=200)
    with EngineGenerator().session(
        Endpoint(*serve(REPLY).address), WORKLOAD, load, None
    ) as session:
        session.warm_up(0.05, 5)
        before = perf_counter()
        (window,) = session.measure(0.2)
        took = perf_counter() - before
    assert 200 * 0.2 - 1 <= window.planned <= 200 * took + 1
    assert sum(window.service.values()) == window.ok > 0
    assert window.connections == 0


@pytest.mark.slow
def test_warm_up_of_a_dead_server_ends():
    """Without a single reply a warm-up ends 5 s after its time, and the window has the errors."""
    load = Load(connections=1, timeout=1)
    with EngineGenerator().session(Endpoint("127.0.0.1", 1), WORKLOAD, load, None) as session:
        start = monotonic()
        session.warm_up(0, 1)
        assert 4.9 <= monotonic() - start < 8
        window = session.measure(0.1)[0]
    assert window.ok == 0
    assert window.errors["refused"] > 0


def test_path_that_cannot_be_sent():
    """A path with a space is refused before anything starts."""
    workload = Workload("odd", "/a b", Expectation())
    with (
        pytest.raises(UsageError, match="odd"),
        EngineGenerator().session(Endpoint("127.0.0.1", 1), workload, Load(), None),
    ):
        pass


def test_child_that_fails_is_told_with_its_words():
    """What stops the child is the message of the error in the lab."""
    with (
        pytest.raises(GeneratorError, match="ulimit"),
        EngineGenerator().session(Endpoint("127.0.0.1", 1), WORKLOAD, Load(1 << 40), None),
    ):
        pass


def test_child_that_is_killed_is_an_error(serve):
    """A killed child ends the measurement with an error that has its status."""
    server = serve(REPLY)
    with EngineGenerator().session(Endpoint(*server.address), WORKLOAD, Load(1), None) as session:
        os.kill(session.pids[0], signal.SIGKILL)
        with pytest.raises(GeneratorError, match="status -9"):
            session.measure(0.1)


def test_child_dies_with_the_lab(serve):
    """A lab killed with SIGKILL under load leaves no generator behind."""
    server = serve(REPLY)
    script = f"""
from lab.bench.load.process import EngineGenerator
from lab.model.protocols import Endpoint
from lab.model.plan import Load
from tests.kit.replies import WORKLOAD
with EngineGenerator().session(Endpoint(*{server.address!r}), WORKLOAD, Load(2), None) as session:
    print(session.pids[0], flush=True)
    session.measure(60)
"""
    command = (sys.executable, "-c", script)
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as lab:
        assert lab.stdout is not None
        child = psutil.Process(int(lab.stdout.readline()))
        until(lambda: server.requests > 10, "a load")
        assert alive([child])
        lab.kill()
    until(lambda: not alive([child]), "the generator's end")


def test_a_series_of_windows_has_no_gap(serve):
    """Every request that became due is in one window, and the drain leaves none undecided."""
    server = serve(REPLY)
    load = Load(8, rate=400, timeout=5)
    with EngineGenerator().session(Endpoint(*server.address), WORKLOAD, load, None) as session:
        before = perf_counter()
        began = session.record(0.05)
        until(lambda: server.requests >= 100, "100 requests")
        least = perf_counter() - began
        recording = session.finish(6)
        most = perf_counter() - began
    assert before <= began <= before + 5
    assert least <= sum(window.wall for window in recording.windows) <= most
    assert len(recording.windows) >= 2  # a busy machine joins several
    assert recording.windows[-1].unfinished == 0
    assert sum(window.errors.get("refused", 0) for window in recording.windows) == 0
    assert recording.attempted == sum(window.ok for window in recording.windows) == server.requests


def test_every_request_of_a_series_has_an_outcome(serve):
    """Correct, an error, or unfinished at the end: these add up to what was attempted."""

    def second_is_never_answered(conn):
        if server.request(conn):
            if server.requests % 2:
                conn.sendall(REPLY)
            else:
                server.request(conn)  # until the client goes

    server = serve(handler=second_is_never_answered)
    load = Load(4, rate=100, timeout=0.3)
    with EngineGenerator().session(Endpoint(*server.address), WORKLOAD, load, None) as session:
        for drain, decided in ((0.0, False), (3.0, True)):
            reached = server.requests + 10
            session.record(0.05)
            until(lambda reached=reached: server.requests > reached, "ten more")
            recording = session.finish(drain)
            ok = sum(window.ok for window in recording.windows)
            errors = sum(sum(window.errors.values()) for window in recording.windows)
            unfinished = recording.windows[-1].unfinished
            assert recording.attempted == ok + errors + unfinished
            assert ok > 0
            assert not unfinished if decided else unfinished
            if decided:
                assert errors > 0


def test_a_counted_load_is_begun_and_awaited(serve):
    """So that something else can be done while its requests are under way."""
    server = serve(REPLY, close=True)
    load = Load(connections=40, keepalive=False, requests=40)
    with EngineGenerator().session(Endpoint(*server.address), WORKLOAD, load, None) as session:
        for turn in (1, 2):
            before = perf_counter()
            began = session.begin()
            until(lambda turn=turn: server.requests == 40 * turn, "all forty")
            window = session.end()
            assert window.ok == 40
            assert before <= began <= began + window.wall <= perf_counter()
