"""Locust's workers as one `lab.model.protocols.Generator`, over Locust's messages."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from ipaddress import ip_address
from itertools import count
from typing import Any

from locust.runners import STATE_MISSING, LocalRunner, MasterRunner, Runner

from lab.bench.load.child import WARM_UP_CONNECTIONS, WARM_UP_GRACE
from lab.bench.load.codec import decode_window
from lab.bench.load.process import longest_count
from lab.bench.load.setup import Setup
from lab.bench.trials.hosts import location
from lab.cli.options.table import CLIENTS
from lab.errors import GeneratorError, UsageError, WorkersChangedError
from lab.locust.crew import ANSWER, ORDER, Answer
from lab.model.measurement import Window
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.workload import Workload

PATIENCE = 10.0
"""Seconds in which every worker must answer an order."""

LOOK = 0.25
"""Seconds between two looks at who is there: Locust leaves one in which a lost worker shows."""


class LocustGenerator:
    """
    Gives orders to every worker, and waits for every answer.

    Args:
        runner: A lone Locust's, or a master's.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._client = CLIENTS[0]
        self._numbers = count(1)
        self._answers: dict[int, list[Answer]] = {}
        self._sent = 0.0
        """When the last order was, by the monotonic clock."""
        self._crew: frozenset[str] = frozenset()
        """Workers of a comparison, from its beginning on; none where there is no comparison."""
        self._names: dict[str, str] = {}
        """Network of each other host -> the host's name."""
        runner.register_message(ANSWER, self._receive)

    def begin(self, client: str, *, same: bool) -> None:
        """
        Load with *client*, and with the workers that are connected now.

        Args:
            client: One of `lab.cli.options.CLIENTS`.
            same: Whether another set of workers ends the test, from now on.
        """
        self._client = client
        self._crew, self._names = self._there() if same else frozenset(), {}

    @property
    def name(self) -> str:
        """Return "locust", the client unless it is the engine, and the number of workers if any."""
        client = "" if self._client == CLIENTS[0] else f" {self._client}"
        workers = "" if isinstance(self._runner, LocalRunner) else f" x{self._workers()}"
        return f"locust{client}{workers}"

    def hosts(self, address: str) -> dict[str, dict[str, Any]]:
        """See `lab.model.protocols.Generator.hosts`."""
        self._names = {}
        answers = self.order("describe", address=address)
        here, facts_by_name = location(), dict[str, dict[str, Any]]()
        for answer in sorted(answers, key=lambda answer: str(answer["worker"])):
            worker_location = answer["location"]
            if (
                worker_location["network"] == here.network
                or worker_location["network"] in self._names
            ):
                continue
            if ip_address(address).is_loopback:
                raise UsageError(
                    f"worker {answer['worker']} runs on another host, and the servers of a "
                    f"comparison listen on {address} only: say --bind ADDRESS, one of this "
                    "machine's that it reaches"
                )
            name = _another(worker_location["name"], facts_by_name)
            self._names[worker_location["network"]], facts_by_name[name] = name, answer["facts"]
        self._crew = frozenset(answer["worker"] for answer in answers)
        return facts_by_name

    @contextmanager
    def session(
        self, endpoint: Endpoint, workload: Workload, load: Load, cores: Sequence[int] | None
    ) -> Iterator[LocustSession]:
        """
        See `lab.model.protocols.Generator.session`.

        Raises:
            WorkersChangedError: A worker of the first session has ended, or one is new.
        """
        setup = Setup(endpoint, workload, load, tuple(cores) if cores else None).encode()
        here = location().encode()
        answers = self.order(
            "prepare", setup=setup, client=self._client, master=here, names=self._names
        )
        try:
            _check(answers, endpoint, load)
            yield LocustSession(self, load, answers)
        finally:
            self._send("end", {})

    def order(
        self, op: str, patience: float = PATIENCE, *, lasts: float = 0.0, **arguments: Any
    ) -> list[Answer]:
        """
        Give an order to every worker and return their answers.

        Each has in `after` the seconds in which it came. For *lasts* seconds more than *patience*
        a load goes on without another order; then its master is gone, and it ends.

        Raises:
            GeneratorError: A worker did not answer in *patience* seconds, or could not obey.
            WorkersChangedError: In a comparison: one did not answer, has ended, or is new.
        """
        expected = self._workers()
        self._check_crew()
        if not expected:
            raise self._lost("no Locust worker is connected")
        number = self._send(op, arguments, patience + lasts)
        deadline = time.monotonic() + patience
        while len(self._answers[number]) < expected:
            if time.monotonic() > deadline:
                heard = {answer["worker"] for answer in self._answers[number]}
                silent = (
                    ", ".join(sorted(self._there() - heard))
                    or f"{expected - len(heard)} of {expected}"
                )
                raise self._lost(
                    f"Locust worker {silent} did not answer in {patience:g} s: it stands still, "
                    "lost its connection, or has another version of this project installed"
                )
            self._check_crew()
            time.sleep(0.005)
        self._check_crew()
        answers = self._answers.pop(number)
        for answer in answers:
            if "error" in answer:
                raise GeneratorError(f"Locust worker {answer['worker']}: {answer['error']}")
        return answers

    def watch(self, seconds: float) -> None:
        """
        Let *seconds* pass.

        Raises:
            WorkersChangedError: Meanwhile a worker ended, or one joined.
        """
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._check_crew()
            time.sleep(min(left, LOOK))

    def _check_crew(self) -> None:
        """Refuse other workers than those that a comparison began with."""
        if not self._crew or not isinstance(self._runner, MasterRunner):
            return
        there = self._there()
        if there != self._crew:
            gone, new = sorted(self._crew - there), sorted(there - self._crew)
            changes = [f"{', '.join(gone)} ended, or lost its connection"] if gone else []
            changes += [f"{', '.join(new)} joined"] if new else []
            raise WorkersChangedError(
                f"the Locust workers are not those that the run began with: {'; '.join(changes)}. "
                "Start the run again"
            )

    def _there(self) -> frozenset[str]:
        """Return the workers that are connected to a master; none of a lone Locust."""
        if not isinstance(self._runner, MasterRunner):
            return frozenset()
        # Locust calls a worker missing a second after its heartbeat has run out, and then ends the
        # test if that was the last one, or gives its users to the others.
        return frozenset(
            worker_node.id
            for worker_node in self._runner.clients.all
            if worker_node.state != STATE_MISSING and worker_node.heartbeat >= 0
        )

    def _lost(self, problem: str) -> GeneratorError:
        """Return the error that a worker does not answer: in a comparison it ends the run."""
        return WorkersChangedError(problem) if self._crew else GeneratorError(problem)

    def _send(self, op: str, arguments: dict[str, Any], lease: float = PATIENCE) -> int:
        number = next(self._numbers)
        self._answers = {number: []}
        self._sent = time.monotonic()
        order = {"op": op, "number": number, "lease": lease, "arguments": arguments}
        self._runner.send_message(ORDER, order)
        return number

    def _receive(self, msg: Any, **_: Any) -> None:
        if msg.data["number"] in self._answers:
            after = time.monotonic() - self._sent
            self._answers[msg.data["number"]].append({**msg.data, "after": after})

    def _workers(self) -> int:
        if isinstance(self._runner, MasterRunner):
            clients = self._runner.clients
            return len(clients.ready) + len(clients.spawning) + len(clients.running)
        return 1


def _another(name: str, taken: Mapping[str, Any]) -> str:
    """Return *name*, with a number behind it where it is taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return (
        name
        if name not in taken
        else next(candidate for candidate in numbered if candidate not in taken)
    )


def _check(workers: list[Answer], endpoint: Endpoint, load: Load) -> None:
    """Refuse workers that would not make the load that was asked for."""
    mine, here = version("uwsgi-fibonacci-lab"), location()
    only_here = bool(endpoint.socket) or ip_address(endpoint.host).is_loopback
    for worker in workers:
        if worker["version"] != mine:
            raise GeneratorError(
                f"a worker has version {worker['version']} of this project installed, the master "
                f"{mine}: install the same one everywhere"
            )
        if only_here and worker["location"]["network"] != here.network:
            raise GeneratorError(
                f"worker {worker['worker']} runs on another host, and the server answers at "
                f"{endpoint.address} only: start its workers on this one"
            )
    seats = sum(worker["seats"] for worker in workers)
    if seats != load.connections:
        raise GeneratorError(
            f"Locust has {seats} users on {len(workers)} workers where {load.connections} "
            "connections are wanted: a worker has ended, or joined, since the start"
        )


class LocustSession:
    """See `lab.model.protocols.Session`."""

    def __init__(self, generator: LocustGenerator, load: Load, workers: list[Answer]) -> None:
        self._generator = generator
        self._load = load
        self._seats = sum(worker["seats"] for worker in workers)
        self.pids: Sequence[int] = tuple(
            {w["process"] for w in workers if w["process"]} - {os.getpid()}
        )
        """Worker processes on this machine; a lone Locust is the lab's own process."""
        machine = location().machine
        self.elsewhere = all(worker["location"]["machine"] != machine for worker in workers)
        """Whether none of them is on this machine."""

    def warm_up(self, seconds: float, requests: int) -> None:
        """See `lab.model.protocols.Session.warm_up`."""
        counted = self._load.requests is not None
        connections = WARM_UP_CONNECTIONS if counted else None
        self._generator.order("resume", lasts=seconds, connections=connections)
        began = time.monotonic()
        while (elapsed := time.monotonic() - began) < seconds + WARM_UP_GRACE:
            time.sleep(0.05)
            if elapsed >= seconds and self._done() >= requests:
                break
        if counted:
            # A connection that is cut off would leave its request in the server's queue.
            self.pause()

    def pause(self) -> None:
        """See `lab.model.protocols.Session.pause`."""
        self._generator.order("drain", self._load.timeout + PATIENCE)

    def measure(self, seconds: float) -> tuple[Window, ...]:
        """See `lab.model.protocols.Session.measure`."""
        if self._load.requests is not None:
            patience = longest_count(self._load) + PATIENCE
            opened: list[Answer] = []
            closed = self._generator.order(
                "count", patience, requests=self._load.requests, seats=self._seats
            )
        else:
            opened = self._generator.order("open", lasts=seconds)
            self._generator.watch(seconds)
            closed = self._generator.order("close")
        return tuple(_windows(opened, closed))

    def _done(self) -> int:
        return sum(answer["ok"] for answer in self._generator.order("progress"))


def _windows(opened: list[Answer], closed: list[Answer]) -> Iterator[Window]:
    """
    Yield the window of each worker that has users, with how far it may be off the others.

    Args:
        opened: Answers to the order that opened them; none of a counted load.
        closed: Answers to the order that closed them, or whose load they are.
    """
    under_way = {answer["worker"]: answer["after"] for answer in opened}
    for answer in closed:
        if not answer["window"]:
            continue
        window = decode_window(answer["window"])
        if window.host:
            # A counted load's answer comes when its window has ended.
            delay = answer["after"] if opened else max(0.0, answer["after"] - window.wall)
            window = replace(window, skew=max(delay, under_way.get(answer["worker"], 0.0)))
        yield window
