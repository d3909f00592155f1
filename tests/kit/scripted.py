"""A server, a generator and a probe that only write down what is asked of them, in order."""

# ruff: noqa: D102, D103 - each is the protocol's method of the same name in lab.model

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lab.bench.trials.runner import Parts
from lab.errors import ServerStartError
from lab.model.comparison import Departure
from lab.model.measurement import Trial, Window
from lab.model.plan import Arm, CounterRun, Load, Plan, Slot
from lab.model.profile import Profile
from lab.model.protocols import Endpoint, Stop, Subject
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit import builders


def arm(name: str, body: bytes | None = b"x") -> Arm:
    profile = replace(builders.profile(name), options=(("processes", "2"),))
    workload = Workload("w", "/", Expectation(body=body))
    return Arm(name, profile, workload, Load(connections=2))


def plan(*names: str, blocks: int = 1, body: bytes | None = b"x") -> Plan:
    arms = tuple(arm(name, body) for name in names)
    return Plan(arms, reference=names[0], blocks=blocks, warmup=0.5, window=3.0, seed=1)


class Script:
    """Everything a run needs, and the list of what happened to it."""

    def __init__(
        self,
        *,
        broken: Sequence[str] = (),
        dies: Sequence[str] = (),
        foreign: Mapping[tuple[str, int], float] | None = None,
    ) -> None:
        self.events: list[str] = []
        self.trials: list[Trial] = []
        self.broken = broken
        self.dies = dies
        self.foreign = dict(foreign or {})
        self.name = "scripted"
        self.pids = (7,)
        self.elsewhere = False
        self.found: dict[str, dict[str, object]] = {}
        self.pid = 42
        self.endpoint = Endpoint("127.0.0.1", 9)
        self._profile = ""
        self._attempts: dict[str, int] = {}

    def parts(self) -> Parts:
        return Parts(
            server=self,
            generator=self,
            probes=(_Probe(self, "outer"), _Probe(self, "inner")),
            facts=lambda _subject: {"fib": "pure"},
            record=self._record,
            environment="env",
            lab=(1,),
            server_cores=(1,),
            generator_cores=(0,),
            clock=lambda: 100.0,
        )

    @contextmanager
    def start(
        self, profile: Profile, workload: Workload, folder: Path, cores: Sequence[int] | None
    ) -> Iterator[Script]:
        self._profile = profile.name
        self._attempts[profile.name] = self._attempts.get(profile.name, -1) + 1
        assert folder.is_dir()
        self.events.append(f"start {profile.name} on {cores}")
        if profile.name in self.broken:
            raise ServerStartError(profile.name, "ended with status 1", "no such module")
        try:
            yield self
        finally:
            self.events.append("stop")

    def hosts(self, address: str) -> dict[str, dict[str, object]]:
        return self.found

    @contextmanager
    def session(
        self, endpoint: Endpoint, workload: Workload, load: Load, cores: Sequence[int] | None
    ) -> Iterator[Script]:
        self.events.append(f"session {endpoint.port} on {cores}")
        yield self
        self.events.append("session ends")

    def warm_up(self, seconds: float, requests: int) -> None:
        self.events.append(f"warm-up {seconds} s, {requests} requests")

    def measure(self, seconds: float) -> tuple[Window, ...]:
        self.events.append(f"window {seconds} s")
        return (builders.window(wall=3.0),)

    def pause(self) -> None:
        self.events.append("pause")

    def ended(self) -> str | None:
        return "uwsgi ended with signal 11" if self._profile in self.dies else None

    def log_tail(self, lines: int = 20) -> str:
        return "segmentation fault"

    def reading(self) -> float:
        return self.foreign.get((self._profile, self._attempts[self._profile]), 0.01)

    def settled(self, plan: Plan) -> None:
        pass

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        pass

    def finished(self, trial: Trial, findings: Sequence[object]) -> None:
        self.events.append(f"finished {trial.slot.arm.name} {[f.gate.name for f in findings]}")

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        self.events.append(f"confirming {[counter.cause for counter in counters]}")

    def leaving(self, departures: Sequence[Departure]) -> None:
        self.events += map(str, departures)

    def _record(self, trial: Trial) -> None:
        self.trials.append(trial)
        self.events.append("recorded")


class _Probe:
    def __init__(self, script: Script, name: str) -> None:
        self.script = script
        self.name = name

    def start(self, subject: Subject) -> Stop:
        self.script.events.append(f"{self.name} probe starts on {subject.server}")
        return self._stop

    def _stop(self) -> Mapping[str, float]:
        self.script.events.append(f"{self.name} probe stops")
        if self.name == "outer":
            return {}
        return builders.READINGS | {"machine.foreign_cpu": self.script.reading()}
