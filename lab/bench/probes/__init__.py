"""
Readings of the kernel, before and after a window.

The order matters. The probe that is started last and ended first lies closest to the window, so
that is the CPU; the one that takes longest, the tree's proportional memory, is ended last. Nothing
here needs the server's help, so every server is measured alike.
"""

from __future__ import annotations

from lab.bench.probes.backing import BackingProbe
from lab.bench.probes.clock import ClockProbe
from lab.bench.probes.cpu import CpuProbe
from lab.bench.probes.facts import facts
from lab.bench.probes.memory import MemoryProbe
from lab.bench.probes.output import OutputProbe
from lab.bench.probes.pressure import PressureProbe
from lab.bench.probes.requests import RequestProbe
from lab.bench.probes.sockets import SocketProbe
from lab.bench.probes.tcp import TcpProbe
from lab.model.protocols import Probe

__all__ = ["facts", "probes"]


def probes() -> tuple[Probe, ...]:
    """Return the probes in the order in which they are started; they end in reverse."""
    return (
        MemoryProbe(),
        RequestProbe(),
        ClockProbe(),
        SocketProbe(),
        TcpProbe(),
        OutputProbe(),
        PressureProbe(),
        BackingProbe(),
        CpuProbe(),
    )
