"""Locust's workers as one generator: `lab.model.Generator`, spoken over Locust's messages."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from ipaddress import ip_address
from itertools import count
from typing import Any

from locust.runners import LocalRunner, MasterRunner, Runner

from lab.errors import GeneratorError
from lab.generators.child import WARM_UP_CONNECTIONS, WARM_UP_GRACE
from lab.generators.codec import decode_window
from lab.generators.process import longest_count
from lab.generators.setup import Setup
from lab.locust.crew import ANSWER, ORDER
from lab.model import Endpoint, Load, Window, Workload
from lab.options import CLIENTS

PATIENCE = 10.0
"""Seconds in which every worker must answer an order."""


class LocustGenerator:
    """
    Gives orders to every worker, and waits for every answer.

    Args:
        runner: A lone Locust's, or a master's.
    """

    client = CLIENTS[0]
    """One of `lab.options.CLIENTS`; to be set before a session begins."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._numbers = count(1)
        self._answers: dict[int, list[dict[str, Any]]] = {}
        runner.register_message(ANSWER, self._receive)

    @property
    def name(self) -> str:
        """Return "locust", the client unless it is the engine, and the number of workers if any."""
        client = "" if self.client == CLIENTS[0] else f" {self.client}"
        workers = "" if isinstance(self._runner, LocalRunner) else f" x{self._workers()}"
        return f"locust{client}{workers}"

    @contextmanager
    def session(
        self, endpoint: Endpoint, workload: Workload, load: Load, cores: Sequence[int] | None
    ) -> Iterator[LocustSession]:
        """See `lab.model.Generator.session`."""
        told = Setup(endpoint, workload, load, tuple(cores) if cores else None).encode()
        here = socket.gethostname()
        answers = self.order("prepare", setup=told, client=self.client, machine=here)
        try:
            _check(answers, endpoint, load)
            yield LocustSession(self, load, answers)
        finally:
            self._send("end", {})

    def order(self, op: str, patience: float = PATIENCE, **arguments: Any) -> list[dict[str, Any]]:
        """
        Give an order to every worker and return their answers.

        Raises:
            GeneratorError: A worker did not answer in *patience* seconds, or could not obey.
        """
        expected = self._workers()
        if not expected:
            raise GeneratorError("no Locust worker is connected")
        number = self._send(op, arguments)
        deadline = time.monotonic() + patience
        while len(self._answers[number]) < expected:
            if time.monotonic() > deadline:
                raise GeneratorError(
                    f"{expected - len(self._answers[number])} of {expected} Locust workers did not "
                    f"answer {op!r} in {patience:g} s: a worker died or lost its connection"
                )
            time.sleep(0.005)
        answers = self._answers.pop(number)
        for answer in answers:
            if "error" in answer:
                raise GeneratorError(f"Locust worker {answer['worker']}: {answer['error']}")
        return answers

    def _send(self, op: str, arguments: dict[str, Any]) -> int:
        number = next(self._numbers)
        self._answers = {number: []}
        self._runner.send_message(ORDER, {"op": op, "number": number, "arguments": arguments})
        return number

    def _receive(self, msg: Any, **_: Any) -> None:
        if msg.data["number"] in self._answers:
            self._answers[msg.data["number"]].append(msg.data)

    def _workers(self) -> int:
        if isinstance(self._runner, MasterRunner):
            clients = self._runner.clients
            return len(clients.ready) + len(clients.spawning) + len(clients.running)
        return 1


def _check(workers: Sequence[dict[str, Any]], endpoint: Endpoint, load: Load) -> None:
    """Refuse workers that would not make the load that was asked for."""
    mine = version("uwsgi-fibonacci-lab")
    for worker in workers:
        if worker["version"] != mine:
            raise GeneratorError(
                f"a worker has version {worker['version']} of this project installed, the master "
                f"{mine}: install the same one everywhere"
            )
        if worker["process"] is None and ip_address(endpoint.host).is_loopback:
            raise GeneratorError(
                f"worker {worker['worker']} runs on another machine, and the servers of a "
                f"comparison answer on {endpoint.host} only: start its workers on this one"
            )
    seats = sum(worker["seats"] for worker in workers)
    if seats != load.connections:
        raise GeneratorError(
            f"Locust has {seats} users on {len(workers)} workers where {load.connections} "
            "connections are wanted: a worker has ended, or joined, since the start"
        )


class LocustSession:
    """See `lab.model.Session`."""

    def __init__(
        self, generator: LocustGenerator, load: Load, workers: Sequence[dict[str, Any]]
    ) -> None:
        self._generator = generator
        self._load = load
        self._seats = sum(worker["seats"] for worker in workers)
        self.pids: Sequence[int] = tuple(
            {w["process"] for w in workers if w["process"]} - {os.getpid()}
        )
        """Worker processes on this machine; a lone Locust is the lab's own process."""

    def warm_up(self, seconds: float, requests: int) -> None:
        """See `lab.model.Session.warm_up`."""
        counted = self._load.requests is not None
        self._generator.order("resume", connections=WARM_UP_CONNECTIONS if counted else None)
        began = time.monotonic()
        while (elapsed := time.monotonic() - began) < seconds + WARM_UP_GRACE:
            time.sleep(0.05)
            if elapsed >= seconds and self._done() >= requests:
                break
        if counted:
            # A connection that is cut off would leave its request in the server's queue.
            self._generator.order("drain", self._load.timeout + PATIENCE)

    def measure(self, seconds: float) -> tuple[Window, ...]:
        """See `lab.model.Session.measure`."""
        if self._load.requests is not None:
            patience = longest_count(self._load) + PATIENCE
            answers = self._generator.order(
                "count", patience, requests=self._load.requests, seats=self._seats
            )
        else:
            self._generator.order("open")
            time.sleep(seconds)
            answers = self._generator.order("close")
        return tuple(decode_window(each["window"]) for each in answers if each["window"])

    def _done(self) -> int:
        return sum(answer["ok"] for answer in self._generator.order("progress"))
