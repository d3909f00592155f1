"""
What the kernel knows of a server, read before and after the window.

The order matters. The probe that is started last and ended first lies closest to the window, so
that is the CPU; the one that takes longest, the tree's proportional memory, is ended last. Nothing
here needs the server's help, so every server is measured alike.
"""

from __future__ import annotations

from lab.model.parts import Probe
from lab.probes.backing import BackingProbe
from lab.probes.clock import ClockProbe
from lab.probes.cpu import CpuProbe
from lab.probes.facts import facts
from lab.probes.memory import MemoryProbe
from lab.probes.output import OutputProbe
from lab.probes.pressure import PressureProbe
from lab.probes.sockets import SocketProbe
from lab.probes.tcp import TcpProbe

__all__ = ["facts", "probes"]


def probes() -> tuple[Probe, ...]:
    """Return the probes in the order in which they are started; they end in reverse."""
    return (
        MemoryProbe(),
        ClockProbe(),
        SocketProbe(),
        TcpProbe(),
        OutputProbe(),
        PressureProbe(),
        BackingProbe(),
        CpuProbe(),
    )
