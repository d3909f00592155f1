"""A sound trial, and trials that differ from it in what a gate looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.model.measurement import Trial, Window
from lab.model.plan import Arm, Load, Slot
from lab.model.profile import Profile
from lab.model.request import Expectation
from lab.model.workload import Workload

READINGS: Mapping[str, float] = {
    "elapsed": 2.1,
    "server.cpu_user": 1.5,
    "server.cpu_system": 0.39,
    "server.pss": 40e6,
    "server.switches_voluntary": 42.0,
    "server.cores": 1.0,
    "server.busiest": 0.9,
    "listener.drops": 0.0,
    "tcp.TCPSynRetrans": 0.0,
    "machine.foreign_cpu": 0.05,
    "machine.steal": 0.0,
}
"""Readings of a sound trial: 1.89 s of CPU in 2.1 s, for 2,000 replies a second."""

IDLE: Mapping[str, float] = {
    "server.cpu_user": 0.3,
    "server.cpu_system": 0.1,
    "server.busiest": 0.2,
}
"""Readings of a server that has little to do."""

CLOSED = Load()
OPEN = Load(rate=2000.0)


def window(**changes: Any) -> Window:
    """Return a sound window: 4,000 replies in 2 s by 64 connections, 32 ms each."""
    sound: dict[str, Any] = {
        "process": 1,
        "wall": 2.0,
        "ok": 4000,
        "errors": {},
        "unfinished": 64,
        "retried": 0,
        "connections": 0,
        "replies": (63,) * 32 + (62,) * 32,
        "received": 400_000,
        "latency": {31_000: 3950, 40_000: 50},
        "latency_sum": 125.0,
        "cpu": 0.6,
        "wait": 0.1,
    }
    return Window(**(sound | changes))


PROFILE = Profile(
    name="example",
    server="uwsgi",
    path=Path("profiles/example.ini"),
    summary="An example",
    against=None,
    options=(("listen", "100"),),
    digest="",
)

TRIAL = Trial(
    slot=Slot(0, 0, Arm("example", PROFILE, Workload("fib", "/", Expectation(body=b"x")), CLOSED)),
    attempt=0,
    started_at=0.0,
    digest="",
    environment="",
    windows=(window(),),
    readings=READINGS,
)
"""A sound trial, in which no gate fires."""


def trial(
    *windows: Window,
    readings: Mapping[str, float] | None = None,
    load: Load = CLOSED,
    profile: Profile = PROFILE,
    at: Mapping[str, str] | None = None,
    **counted: Any,
) -> Trial:
    """
    Return a sound trial, but for what is named.

    Args:
        windows: Its windows; none for one that has what is *counted*.
        readings: These instead of its own, or added to them.
        load: What was asked of the generator.
        profile: What was measured.
        at: See `Arm.at`.
        counted: Fields of its window.
    """
    arm = replace(TRIAL.slot.arm, load=load, profile=profile, at=at or {})
    return replace(
        TRIAL,
        slot=replace(TRIAL.slot, arm=arm),
        windows=windows or (window(**counted),),
        readings={**READINGS, **(readings or {})},
    )
