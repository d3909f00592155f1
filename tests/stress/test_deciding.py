"""What is decided of a trial from its counts, and what is done to a server, without one."""

import os
import signal
from time import perf_counter
from types import SimpleNamespace

import pytest

from lab.bench.load.process import Recording
from lab.cli.stress import faults
from lab.cli.stress.result import Counts, FaultOutcome
from lab.cli.stress.trial import Pace, counted, disturbed, had_effect, untouched
from lab.errors import GeneratorError
from lab.model.protocols import Endpoint
from lab.model.workload import Wire

from .conftest import burst, window

LATE = {600_000: 1}

CALM = window(10)


@pytest.mark.parametrize(
    ("before", "whole"),
    [
        ([CALM, window(9, {"reset": 1})], [CALM]),
        ([CALM, window(1, latency=LATE)], [CALM]),
        ([CALM], [CALM, window(10, late=2)]),
    ],
    ids=["error", "late", "starved"],
)
def test_what_is_felt_before_the_fault_is_not_its_doing(before, whole):
    """Nor what the generator itself sends too late, whenever that is."""
    assert disturbed(before, whole)


def test_what_is_felt_of_the_fault_does_not_disturb():
    """Nor is a request lost that was under way when the fault came."""
    before = [CALM, window(9, unfinished=1)]
    assert not disturbed(before, [*before, window(1, {"reset": 9}), window(1, latency=LATE)])


def test_of_the_control_everything_is_before_the_fault():
    """There is none; of a fault it is what had ended when it was planted."""
    windows = [CALM, window(9, {"reset": 1})]
    assert untouched("none", windows, Pace(before=0.3)) == windows
    assert untouched("kill", windows, Pace(before=0.3)) == windows[:1]


@pytest.mark.parametrize(
    ("counts", "seen", "planted", "effect"),
    [
        (Counts(9, 0, 0, 0), True, (0.3,), True),
        (Counts(9, 0, 0, 0), False, (0.3,), False),
        (Counts(9, 1, 0, 0), False, (0.3,), True),
        (Counts(9, 0, 1, 0), False, (0.3,), True),
        (Counts(9, 0, 0, 1), False, (0.3,), True),
        (Counts(9, 0, 0, 0, turned_away=5), False, (0.3,), False),
        (Counts(9, 1, 0, 0), False, (), False),
    ],
)
def test_what_clients_felt_is_an_effect(counts, seen, planted, effect):
    """Though no burst was under way; not where nothing was planted."""
    assert had_effect(FaultOutcome("drain", steady=counts, planted=planted), seen) is effect


@pytest.mark.parametrize("where", ["steady", "burst"])
def test_without_a_local_port_nothing_is_told(where):
    """It is this machine that could not ask."""
    bad = {"ports": 1}
    steady = Recording(2, (window(2),) if where == "burst" else (window(1, bad),))
    bursts = [burst(0.2, ok=1, errors=bad)] if where == "burst" else []
    with pytest.raises(GeneratorError, match="no local port is free"):
        counted(FaultOutcome("kill"), steady, bursts, None)


class Workers:
    """A target of three workers, the oldest first; one that is killed may get a successor."""

    def __init__(self, replaced=True):
        self.alive = [101, 102, 103]
        self.killed = []
        self.replaced = replaced

    def kill(self, pid, number):
        """Take the place of `os.kill`."""
        self.killed.append((pid, number))
        self.alive.remove(pid)
        self.alive += [pid + 100] * self.replaced

    def workers(self):
        """Return those that live."""
        return list(self.alive)

    spawned = workers

    def until(self, condition, _seconds):
        """Look once."""
        return condition()

    def _nothing(self):
        pass

    press = mark = settle = _nothing
    server = SimpleNamespace(commands=())


@pytest.fixture
def workers(monkeypatch):
    """Return a function that makes a target, of which two workers are killed without a pause."""
    monkeypatch.setattr(faults, "KILLS", 2)
    monkeypatch.setattr(faults, "KILL_EVERY", 0.0)

    def make(**wanted):
        made = Workers(**wanted)
        monkeypatch.setattr(os, "kill", made.kill)
        return made

    return make


def test_the_oldest_worker_is_killed_outright(workers):
    """By SIGKILL, which it cannot answer; each time the one that has served the longest."""
    made = workers()
    seen = faults.kill(made)
    assert made.killed == [(101, signal.SIGKILL), (102, signal.SIGKILL)]
    assert (seen.effect, seen.killed, seen.replaced, seen.note) == (True, 2, 2, "")


def test_workers_that_are_not_replaced_are_counted(workers):
    """What is left goes on; with none left that is said."""
    seen = faults.kill(workers(replaced=False))
    assert (seen.killed, seen.replaced, seen.note) == (2, 0, "")
    few = workers(replaced=False)
    few.alive = [101]
    seen = faults.kill(few)
    assert (seen.killed, seen.replaced) == (1, 0)
    assert seen.note == "no worker was left at the end"


def test_where_no_worker_is_known_none_is_killed(workers):
    """A fault that was never planted is no success."""
    made = workers()
    made.alive = []
    seen = faults.kill(made)
    assert not seen.effect
    assert seen.note == "there is no worker to kill"
    assert made.killed == []


def test_slow_clients_are_not_planted_behind_a_proxy():
    """What is asked as a proxy asks never meets one: a fault that cannot be is not survived."""
    endpoint = Endpoint("127.0.0.1", 0, socket="/nonexistent", wire=Wire.UWSGI)
    seen = faults.slow_clients(SimpleNamespace(server=SimpleNamespace(endpoint=endpoint)))
    assert (seen.possible, seen.note) == (
        False,
        "it serves a proxy, which buffers slow clients",
    )


class Balanced:
    """A target whose first command stands before others; each that is started again is asked."""

    def __init__(self, backends, returns=True):
        self.backends = lambda: backends
        self.done = []
        self.planted = []
        self.returns = returns
        self.server = SimpleNamespace(start_again=lambda index: self.done.append(("start", index)))

    def kill(self, index):
        """Note that it was killed."""
        self.done.append(("kill", index))

    def mark(self):
        """Note when."""
        self.planted.append(perf_counter())

    def pace(self, index):
        """Return how busy it is: before it is killed, and when it came back."""
        return 50.0 if not self.done or self.returns else 0.0

    def until(self, condition, _seconds):
        """Look once."""
        return condition()

    def _nothing(self):
        pass

    press = settle = _nothing


@pytest.fixture
def at_once(monkeypatch):
    """Start a killed server without waiting."""
    monkeypatch.setattr(faults, "DOWN", 0.0)


def test_one_server_behind_a_balancer_is_killed_and_started_again(at_once):
    """The same one; how long it was away and when it was asked again is said."""
    target = Balanced([1, 2])
    seen = faults.kill_backend(target)
    assert target.done == [("kill", 1), ("start", 1)]
    assert (seen.effect, seen.possible) == (True, True)
    assert seen.note == "started again 0.0 s after its end, it was asked again within 0.0 s"


def test_a_server_that_its_balancer_forgets_is_said(at_once):
    """It runs, and nobody asks it."""
    seen = faults.kill_backend(Balanced([1, 2], returns=False))
    assert seen.note == "started again 0.0 s after its end, it was not asked again within 10 s"


@pytest.mark.parametrize(("backends", "number"), [([], "none"), ([1], "one")])
def test_without_two_servers_none_is_killed(backends, number):
    """Nobody else could answer, and the fault says what it needs."""
    target = Balanced(backends)
    seen = faults.kill_backend(target)
    assert (seen.possible, target.done) == (False, [])
    assert seen.note == f"it needs two servers behind a balancer, and there is {number}"
