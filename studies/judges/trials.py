"""The trials of a recording: plan and arms, and two servers that are loaded at once."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace

from lab.analysis.observations import observed
from lab.bench import profiles, workloads
from lab.bench.machine import temporary
from lab.bench.probes.cpu import CpuProbe
from lab.bench.store.environment import Cores
from lab.bench.trials.plan import alone, arm_of
from lab.bench.trials.runner import Parts, Silent, run_trial
from lab.errors import LabError
from lab.model.measurement import Trial
from lab.model.plan import Arm, Load, Plan, Slot
from lab.model.protocols import RunningServer, Session, Subject
from lab.model.runtime import Runtime, Variables
from studies.judges.blocks import EFFECTS, OLDS
from studies.judges.recording import DUET, TrialSizes

PROFILE = "safety"
"""The profile that `lab ab` serves an application with where nobody says."""

APPLICATION = "studies.judges.planted:application"

BASE = 0.06
"""What the old version spins, as a share of the rest, so that a new one can need less."""

CALIBRATION, PROBED = 8, 40_000
"""Trials each of a handler that does not spin and of one that spins for so many turns: the medians
of their CPU per request say what a turn costs in a server."""

MOST_BLOCKS = 1000
"""Of a run, for the plan: what is made is decided by the time."""


def arm(name: str, turns: int, connections: int) -> Arm:
    """Return the arm of one version."""
    values = {"SPIN": str(turns)}
    digest = hashlib.sha256(repr(values).encode()).hexdigest()
    runtime = Runtime(variables=Variables.of(values, digest))
    workload = replace(workloads.read("fib").workload, app=APPLICATION, apps={}, runtime=runtime)
    made = arm_of(profiles.read(PROFILE), workload, Load(connections=connections))
    return replace(made, name=name, profile=replace(made.profile, name=name, against=None))


def plan_of(turns: Mapping[str, int], seed: int, sizes: TrialSizes) -> Plan:
    """Return the plan of a run, with an arm for each version."""
    arms = tuple(arm(name, count, sizes.connections) for name, count in turns.items())
    return Plan(arms, OLDS[0], MOST_BLOCKS, sizes.warmup, sizes.window, seed, inert={})


def calibrate(
    parts: Parts, sizes: TrialSizes, may_go_on: Callable[[], bool]
) -> tuple[float, float]:
    """
    Return the CPU seconds of a request that does not spin, and of a turn of the loop.

    Args:
        parts: With what trials are made.
        sizes: How long they last.
        may_go_on: Waits until the machine is idle; False where there is no more time.

    Raises:
        LabError: It does not run here, or too few valid trials.
    """
    by_turns: dict[int, list[float]] = {0: [], PROBED: []}
    block = 0
    while min(map(len, by_turns.values())) < CALIBRATION and may_go_on():
        for turns, seen in by_turns.items():
            one = arm("calibration", turns, sizes.connections)
            plan = alone(one, sizes.window, sizes.warmup)
            trial = run_trial(plan, Slot(block, 0, one), 0, parts, Silent())
            seen += [value for name, value in observed(trial).metrics.items() if name == "cpu"]
        block += 1
    if min(map(len, by_turns.values())) < CALIBRATION // 2:
        raise LabError("too few trials of the calibration count: stop other work on this machine")
    bare, spun = (statistics.median(seen) for seen in by_turns.values())
    return bare, (spun - bare) / PROBED


def planted_turns(bare: float, turn: float) -> tuple[dict[str, int], float]:
    """
    Return version -> turns a request, and the CPU seconds of a request of the old version.

    Args:
        bare: CPU seconds of a request that does not spin.
        turn: CPU seconds of a turn.
    """
    old = bare * (1 + BASE)
    spun = {name: BASE * bare + share * old for name, share in EFFECTS.items()}
    return {name: round(seconds / turn) for name, seconds in spun.items()}, old


@dataclass(frozen=True, slots=True)
class Duet:
    """Two servers on the server's CPUs, two loads on the load's, all at once."""

    plan: Plan
    parts: Parts
    cores: Cores

    def trials(self, old: Slot, new: Slot, number: int) -> tuple[Trial, Trial]:
        """
        Load both at once, and return what old and new did; who is started first takes turns.

        Raises:
            ServerStartError: One of them did not start.
            GeneratorError: A load could not be made.
        """
        order = (new, old) if number % 2 else (old, new)
        with ExitStack() as stack:
            servers = [self._start(stack, slot) for slot in order]  # none is loaded yet
            sides = [self._load(stack, *pair) for pair in zip(order, servers, strict=True)]
            with ThreadPoolExecutor(2) as pool:
                measured = [pool.submit(side.measure, self.plan.window) for side in sides]
                made = [replace(future.result(), facts={DUET: str(number)}) for future in measured]
        first, second = sorted(made, key=lambda trial: trial.slot.position)
        return first, second

    def _start(self, stack: ExitStack, slot: Slot) -> RunningServer:
        profile, folder = slot.arm.profile, stack.enter_context(temporary.folder())
        server = self.parts.server.start(profile, slot.arm.workload, folder, self.cores[0])
        return stack.enter_context(server)

    def _load(self, stack: ExitStack, slot: Slot, server: RunningServer) -> _Side:
        arm, parts = slot.arm, self.parts
        load = replace(arm.load, connections=max(1, arm.load.connections // 2))
        session = stack.enter_context(
            parts.generator.session(server.endpoint, arm.workload, load, self.cores[1])
        )
        session.warm_up(self.plan.warmup, self.plan.warm)
        trial = Trial(slot, 0, parts.clock(), arm.profile.digest, parts.environment)
        return _Side(trial, Subject(server.pid, server.endpoint.port), session)


@dataclass(frozen=True, slots=True)
class _Side:
    trial: Trial
    subject: Subject
    session: Session

    def measure(self, seconds: float) -> Trial:
        """Record a window, and what the server used meanwhile."""
        stop = CpuProbe().start(self.subject)
        windows = tuple(self.session.measure(seconds))
        return replace(self.trial, windows=windows, readings=dict(stop()))
