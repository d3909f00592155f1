"""Small real servers, honest and lying, and engines that load them; all end with the test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import pytest

from lab.bench.load import engine as closed_loop
from lab.bench.load import open_loop
from lab.bench.load.engine import Engine
from lab.bench.load.open_loop import make_engine
from lab.bench.load.wires import AnyWire, HttpWire
from lab.model.plan import Load
from lab.model.request import Expectation, Request
from lab.model.workload import Transport
from tests.kit.replies import BODY
from tests.kit.socket_server import SocketServer, socket_servers


@pytest.fixture
def serve() -> Iterator[Callable[..., SocketServer]]:
    """Return what starts a server, see `socket_servers`."""
    with socket_servers() as start:
        yield start


@pytest.fixture(params=list(Transport))
def at(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Path]:
    """Return what makes a server of `serve` listen over each transport."""
    return {"path": tmp_path / "server.sock"} if request.param is Transport.UNIX else {}


@pytest.fixture
def engine() -> Iterator[Callable[..., Engine]]:
    """Make an engine against an address; it is closed at the end."""
    engines: list[Engine] = []

    def make(
        address: tuple[str, int] | str,
        expect: Expectation | None = None,
        *,
        connections: int = 2,
        keepalive: bool = True,
        timeout: float = 5.0,
        rate: float | None = None,
        wire: AnyWire | None = None,
    ) -> Engine:
        request = Request("/9").encode("127.0.0.1", keepalive=keepalive)
        wire = wire or HttpWire(request, expect or Expectation(body=BODY))
        load = Load(connections, keepalive, timeout=timeout, rate=rate)
        engines.append(make_engine(address, wire, load))
        return engines[-1]

    yield make
    for made in engines:
        made.close()


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = perf_counter()

    def __call__(self) -> float:
        """Take the place of `perf_counter`."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock by which every engine plans, sends and tells latencies."""
    clock = Clock()
    for module in (closed_loop, open_loop):
        monkeypatch.setattr(module, "perf_counter", clock)
    return clock
