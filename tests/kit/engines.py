"""Drive the load engine by hand, until a condition holds."""

from collections.abc import Callable
from time import monotonic

from lab.bench.load.engine import Engine
from lab.model.measurement import Window


def step_until(engine: Engine, finished: Callable[[], object], timeout: float = 30.0) -> None:
    """Let *engine* work until *finished* holds."""
    deadline = monotonic() + timeout
    while not finished():
        assert monotonic() < deadline, f"the engine did not get there in {timeout} s"
        engine.step(0.05)


def right_at_a_rate(engine: Engine, replies: int) -> Window:
    """Return the window of an open loop in which so many replies were right."""
    engine.open_window()
    engine.resume()
    step_until(engine, lambda: engine.ok >= replies)
    return engine.close_window()


def count(engine: Engine, requests: int = 4, timeout: float = 30.0) -> Window:
    """Return the window of so many requests, each of which has an outcome."""
    engine.begin_count(requests)
    step_until(engine, lambda: engine.done, timeout)
    window = engine.close_window()
    assert engine.attempted == requests == window.ok + sum(window.errors.values())
    return window
