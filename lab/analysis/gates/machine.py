"""The gate on what else the machine did: other programs, the hypervisor, the wall clock."""

from __future__ import annotations

from collections.abc import Mapping

from lab.analysis.metrics import usable_cores
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Trial

FOREIGN_CPU = 0.10
"""Cores used by others, for each core of the server: from here on a trial is repeated."""

FOREIGN_CPU_SEVERE = 0.50
"""The same: from here on the trial is the others' as much as the server's, and does not count."""

STEAL = 0.02
"""Share of time that the hypervisor gave to others; the floor of every comparison is 2 %."""

READ_WELL = 0.5
"""Share of the time of a server below which the limits above do not shrink with it: 0.03 to 0.08
cores were read for others in windows of 3 in 30 ms where nothing else ran, as ticks are counted."""

CLOCK_STEP = 0.050
"""Seconds that the wall clock was set forwards or back: far more than reading two clocks can differ
by, and far less than any timer of a server that goes by it."""


def machine(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether something outside disturbed the trial.

    It asks for a repeat. A slight disturbance withholds nothing: in shuffled blocks it widens the
    intervals (simulated: 8.3 % instead of 6.7 %) and leaves their coverage at 95 %, and the A/A
    arm shows whether it was too much. A severe one withholds everything, and so does a step of the
    wall clock, by which servers time out what has just begun.
    """
    readings = trial.readings
    # Unpinned, the server may use every core. None read: the least that it can have.
    # What others use, they use in a slowed server's own time.
    cores = max(1.0, usable_cores(readings) or 1.0) * max(READ_WELL, trial.share)
    crowded = readings.get("machine.foreign_cpu", 0.0) > FOREIGN_CPU_SEVERE * cores
    # What is printed is the limit that decided.
    parts = _disturbances(readings, (FOREIGN_CPU_SEVERE if crowded else FOREIGN_CPU) * cores)
    if not parts:
        return None
    return Finding(
        MACHINE,
        "; ".join(parts),
        "Stop other work on this machine"
        + (": until then no block is valid." if crowded else ", or run more blocks."),
        withholds=None if crowded or _clock_stepped(readings) else frozenset(),
    )


MACHINE = Gate(
    "machine",
    180,
    machine,
    Whose.MACHINE,
    fires="others used 0.10 of a core for each that the server may use, steal above 2 %, "
    "throttling, the wall clock set by more than 50 ms",
    withholds="a remark, and the trial is repeated; everything from 0.50 on, and where the clock "
    "was set, by which servers time out what has just begun",
    because="slight disturbances in shuffled blocks leave the coverage at 95 % (simulated)",
    outside=True,
    explains=True,
)


def _clock_stepped(readings: Mapping[str, float]) -> bool:
    return abs(readings.get("machine.clock_step", 0.0)) > CLOCK_STEP


def _disturbances(readings: Mapping[str, float], limit: float) -> list[str]:
    disturbances = []
    if (foreign := readings.get("machine.foreign_cpu", 0.0)) > limit:
        disturbances.append(f"other programs used {foreign:.2f} cores (limit {limit:.2f})")
    if (steal := readings.get("machine.steal", 0.0)) > STEAL:
        disturbances.append(f"the hypervisor took {steal:.1%} of the time (limit {STEAL:.0%})")
    if readings.get("machine.throttled", 0.0) > 0:
        disturbances.append("the CPU quota of the control group was used up")
    if _clock_stepped(readings):
        disturbances.append(f"the wall clock jumped by {readings['machine.clock_step']:+.3g} s")
    return disturbances
