"""A sound trial, trials that differ from it, and two for each gate: one fires it, one does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lab.analysis.gates import (
    backing,
    effect,
    effort,
    hosts,
    machine,
    network,
    open_loop,
    replies,
    slowed,
)
from lab.model.finding import Gate
from lab.model.measurement import Failure, Trial, Window
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

SLOWED: Mapping[str, float] = {
    "server.cores": 2.0,
    "server.share": 0.25,
    "server.window": 0.008,
    "cores.shared": 0.0,
    "server.cpu_user": 0.85,
    "server.cpu_system": 0.1,
    "server.busiest": 0.95,
}
"""Readings of a server of two CPUs that was slowed down, in 2 s."""

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


@dataclass(frozen=True, slots=True)
class Example:
    """Two trials that a gate judges."""

    bad: Trial
    """It fires the gate."""

    good: Trial
    """It is nearly the same, and fires no gate."""

    swept: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """See `lab.model.finding.Beside.swept`."""

    prices: tuple[float, float] = (1.0, 1.0)
    """Of the arms of both: see `lab.model.finding.Beside.prices`."""


EXAMPLES: Mapping[Gate, Example] = {
    replies.NO_LOAD: Example(
        replace(TRIAL, windows=(), failure="it was given up", failed=Failure.LOAD), TRIAL
    ),
    replies.DIED: Example(
        replace(TRIAL, failure="the server ended before the window's end: by signal 11"), TRIAL
    ),
    effect.NO_EFFECT: Example(
        trial(at={"workers": "8"}),
        trial(at={"workers": "4"}),
        swept={"example": {"2": 3.0, "4": 5.0, "8": 6.0}},
    ),
    replies.ERRORS: Example(trial(errors={"closed": 41}), trial(errors={"closed": 4})),
    network.TRACKING: Example(
        trial(readings={"tcp.conntrack_drop": 64.0}), trial(readings={"tcp.conntrack_drop": 0.0})
    ),
    network.PORTS: Example(
        trial(errors={"ports": 40}, readings={"tcp.time_wait": 131_072.0}),
        trial(readings={"tcp.time_wait": 131_072.0}),
    ),
    replies.STARVATION: Example(
        trial(replies=(4000,) + (0,) * 63), trial(replies=(3937,) + (1,) * 63)
    ),
    network.ACCEPT_QUEUE: Example(
        trial(readings={"listener.drops": 50.0, "tcp.TCPSynRetrans": 50.0}),
        trial(readings={"listener.drops": 50.0}),
    ),
    effort.GENERATOR_BOUND: Example(
        trial(cpu=1.8, wait=0.1, readings=IDLE), trial(cpu=1.6, wait=0.1, readings=IDLE)
    ),
    effort.SHARED_CORES: Example(
        trial(readings={"cores.shared": 1.0}), trial(readings={"cores.shared": 0.0})
    ),
    slowed.SHORT_WINDOWS: Example(
        trial(readings=SLOWED), trial(readings=SLOWED), prices=(1.7, 1.4)
    ),
    slowed.NOT_BUSY: Example(
        trial(readings={**SLOWED, "server.cpu_user": 0.4, "server.busiest": 0.6}),
        trial(readings=SLOWED),
    ),
    backing.UPSTREAM: Example(
        trial(readings={"upstream.busiest": 0.7}), trial(readings={"upstream.busiest": 0.69})
    ),
    open_loop.LATE_GENERATOR: Example(
        trial(load=OPEN, planned=4000, late=41, unfinished=0),
        trial(load=OPEN, planned=4000, late=40, unfinished=0),
    ),
    open_loop.OVERLOAD: Example(
        trial(load=OPEN, ok=3000, planned=4000, queued=1000, service={20_000: 3000}),
        trial(load=OPEN, planned=4000, service={31_000: 4000}, unfinished=0),
    ),
    open_loop.CUT_OFF: Example(
        trial(load=OPEN, planned=4000, latency={200: 4000}, unfinished=64),
        trial(load=OPEN, planned=4000, latency={200: 4000}, unfinished=40),
    ),
    replies.RECONNECTS: Example(
        trial(profile=replace(PROFILE, keepalive=True), connections=4000),
        trial(profile=replace(PROFILE, keepalive=True), connections=400),
    ),
    network.QUANTISED: Example(
        trial(
            latency={3_000: 2000, 41_000: 2000},
            readings={"server.cpu_user": 1.0, "server.busiest": 0.7, "tcp.DelayedACKs": 2000.0},
        ),
        trial(
            latency={3_000: 2000, 33_000: 1000, 41_000: 1000},
            readings={"server.cpu_user": 1.0, "server.busiest": 0.7, "tcp.DelayedACKs": 2000.0},
        ),
    ),
    hosts.LINK: Example(
        trial(
            host="a",
            latency={31_000: 3980, 1_240_000: 20},
            readings={"tcp.RetransSegs": 20.0},
        ),
        trial(
            host="a",
            latency={31_000: 3998, 1_240_000: 2},
            readings={"tcp.RetransSegs": 20.0},
        ),
    ),
    hosts.WINDOW_SKEW: Example(
        trial(window(host="a"), window(host="b", skew=0.1)),
        trial(window(host="a"), window(host="b", skew=0.04)),
    ),
    machine.MACHINE: Example(
        trial(readings={"machine.foreign_cpu": 0.6}), trial(readings={"machine.foreign_cpu": 0.1})
    ),
    effort.IDLE_SERVER: Example(trial(readings=IDLE), trial(cpu=0.9, wait=0.1, readings=IDLE)),
}
