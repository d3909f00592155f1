"""What one process of the engine is told, be it a child of the lab's or a worker of Locust's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from lab.bench.load.engine import Engine
from lab.bench.load.open_loop import make_engine
from lab.bench.load.wires import AnyWire, wire_of
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.runtime import OURS
from lab.model.workload import Workload


@dataclass(frozen=True, slots=True)
class Setup:
    """Whom to load, with what, and how."""

    endpoint: Endpoint
    workload: Workload
    load: Load
    """The process's own share."""
    cores: tuple[int, ...] | None = None
    """CPUs that it may use; None for all."""
    phase: float | None = None
    """See `lab.bench.load.open_loop.OpenLoop`."""

    def encode(self) -> dict[str, Any]:
        """Return it as JSON values, without how the application runs, with what must be sent."""
        requests = tuple(request.revealed() for request in self.workload.requests)
        workload = replace(self.workload, chdir=None, runtime=OURS, requests=requests)
        setup = replace(self, workload=workload)
        encoded: dict[str, Any] = msgspec.to_builtins(setup)
        return encoded

    def wire(self) -> AnyWire:
        """Return what its connections speak; see `wire_of`."""
        return wire_of(self.workload, keepalive=self.load.keepalive)

    def engine(self) -> Engine:
        """Return the engine, idle; see `Engine` and `wire_of` for what may be wrong."""
        return make_engine(self.endpoint.target, self.wire(), self.load, self.phase)


def decode_setup(encoded: object) -> Setup:
    """Return what `Setup.encode` gave *encoded* for."""
    return msgspec.convert(encoded, Setup)
