"""
A load shape that runs a whole comparison in one tick.

Locust asks a shape once a second how many users there should be. This one asks for its connections
once, and then keeps the next tick for as long as the comparison takes; ticks have a greenlet of
their own, so heartbeats and the web UI go on. The STOP button, Ctrl-C and SIGTERM kill that
greenlet, which unwinds like any other interruption: the server stops, finished trials stay.
"""

from __future__ import annotations

import logging
import signal
import socket
import time
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from locust import LoadTestShape, events
from locust.runners import WorkerRunner
from locust.stats import CSV_STATS_INTERVAL_SEC
from rich.console import Console

from lab.errors import GeneratorError, Interrupted, LabError, UsageError
from lab.experiment import SUSTAINED, Options, Outcome, conduct, prepare
from lab.locust import crew as _crew  # noqa: F401 - registers the workers' side
from lab.locust import entries
from lab.locust.arguments import asks_for_running_server, chosen_workload, options
from lab.locust.generator import LocustGenerator
from lab.model import Endpoint, Expectation, Finding, Slot, Trial, Workload
from lab.plan import estimate
from lab.report import terminal
from lab.servers.readiness import fetch, satisfies

log = logging.getLogger("lab")

SPAWNING = 30.0
"""Seconds in which Locust must have made all users."""


class Comparison(LoadTestShape):
    """Compares profiles, or loads a server that already runs."""

    abstract = True
    use_common_options = True

    generator: LocustGenerator
    asked_users: int | None = None
    """What `-u` said; None when it was not given. Locust turns that into 1 later."""
    outcome: Outcome | None = None
    _ready = False

    def reset_time(self) -> None:
        """Begin anew; Locust calls this at the start of every test, and twice on a master."""
        super().reset_time()
        self._ready = False

    def tick(self) -> tuple[int, float] | None:
        """Ask for the users, then run everything."""
        environment = self._environment
        try:
            wishes = options(environment.parsed_options, self._users())
            if not self._ready:
                self._ready = True
                users = wishes.load.connections
                return users, float(users)
            self._wait_for_users(wishes.load.connections)
            if asks_for_running_server(environment.parsed_options, environment.host):
                self._load_running_server(wishes)
            else:
                self._compare(wishes)
            if environment.parsed_options.csv_prefix:
                # Locust writes its CSV files once a second, and not once more at the end.
                time.sleep(CSV_STATS_INTERVAL_SEC + 0.1)
        except LabError as error:
            for line in (error, *getattr(error, "__notes__", ())):
                log.error("%s", line)  # noqa: TRY400 - for people; a traceback would hide it
            environment.process_exit_code = error.exit_code
        return None

    def print_report(self, **_: Any) -> None:
        """Print the run's report below Locust's own tables, as the last thing that is seen."""
        if self.outcome is not None:
            terminal.show(self.outcome.summary, Console())
            print(f"\nRun folder: {self.outcome.folder}")  # noqa: T201 - the console is the product

    @property
    def _environment(self) -> Any:
        assert self.runner is not None
        return self.runner.environment

    def _users(self) -> int | None:
        """Return the number of connections asked for: in the web form, else by -u."""
        environment = self._environment
        if environment.web_ui is None:
            return self.asked_users
        shown: int = environment.parsed_options.num_users
        # What the form shows by itself is no wish: the walkthrough's load has its own number.
        return None if self.asked_users is None and shown == SUSTAINED.connections else shown

    def _wait_for_users(self, users: int) -> None:
        assert self.runner is not None
        deadline = time.monotonic() + SPAWNING
        while self.runner.user_count != users:
            if time.monotonic() > deadline:
                raise GeneratorError(
                    f"Locust made {self.runner.user_count} of {users} users in {SPAWNING:g} s"
                )
            time.sleep(0.02)

    def _compare(self, wishes: Options) -> None:
        environment = self._environment
        prepared = prepare(wishes, chosen_workload(environment.parsed_options))
        for reason in prepared.skipped.values():
            log.warning("skipped: %s", reason)
        log.info(
            "%d profiles, %d blocks, seed %d: about %d min",
            len(prepared.plan.profiles),
            prepared.plan.blocks,
            prepared.plan.seed,
            -(-estimate(prepared.plan) // 60),
        )
        # What Locust exits with if it is stopped before the comparison ends.
        environment.process_exit_code = Interrupted.exit_code
        names = [profile.name for profile in prepared.plan.profiles]
        self.outcome = conduct(prepared, wishes, self.generator, _Rows(environment, names))
        environment.process_exit_code = self.outcome.summary.exit_code

    def _load_running_server(self, wishes: Options) -> None:
        """Load `--host` until Locust is told to stop, a row of statistics for its path."""
        environment = self._environment
        parsed = environment.parsed_options
        endpoint, workload = running_server(
            environment.host, parsed.path or "/9000", parsed.check or None
        )
        environment.process_exit_code = 1  # until a correct reply has been counted
        ends = time.monotonic() + parsed.run_time if parsed.run_time else float("inf")
        replies = failures = 0
        with self.generator.session(endpoint, workload, wishes.load, None) as session:
            session.warm_up(wishes.sizes.warmup, 0)
            while time.monotonic() < ends:
                windows = session.measure(1.0)
                entries.record(environment.stats, workload.path, windows)
                replies += sum(window.ok for window in windows)
                failures += sum(sum(window.errors.values()) for window in windows)
                environment.process_exit_code = 0 if replies and not failures else 1
                if wishes.load.requests is not None:
                    break


class _Rows:
    """Shows a run in Locust's statistics: see `lab.runner.Observer`."""

    def __init__(self, environment: Any, names: Sequence[str]) -> None:
        self._environment = environment
        self._names = {name: f"{number:02} {name}" for number, name in enumerate(names, 1)}
        for row in self._names.values():
            entries.entry(environment.stats, row)

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Say nothing: a line for each stage would bury Locust's own log."""

    def finished(self, trial: Trial, findings: Sequence[Finding]) -> None:
        """Add the trial to its profile's row; Locust sorts rows by name, so names are numbered."""
        row = self._names[trial.slot.profile]
        entries.record(self._environment.stats, row, trial.windows)
        for finding in findings:
            log.warning("%s, block %d: %s", row, trial.slot.block + 1, finding.reason)


def running_server(host: str, path: str, pattern: str | None) -> tuple[Endpoint, Workload]:
    """
    Return where *host* answers, and what is asked of it: its first reply, or *pattern* in each.

    Raises:
        UsageError: Nothing answers there, or not with status 200.
    """
    try:
        parts = urlsplit(host if "//" in host else f"//{host}")
        if parts.scheme not in ("", "http") or not parts.hostname:
            raise UsageError(f"--host {host}: expected http://ADDRESS:PORT")
        endpoint = Endpoint(_resolve(parts.hostname, parts.port or 80), parts.port or 80)
        status, _, body = fetch(endpoint, path, 10.0)
    except (OSError, ValueError, HTTPException) as error:
        raise UsageError(f"--host {host}: nothing answers there: {error}") from error
    expect = Expectation(body=body) if pattern is None else Expectation(pattern=pattern)
    if not satisfies(expect, status, body):
        seen = body[:80].decode("utf-8", "replace")
        raise UsageError(f"--host {host}: {path} answers {status} {seen!r}, which is not correct")
    return endpoint, Workload("running server", path, expect)


def _resolve(hostname: str, port: int) -> str:
    """Return the first of the host's addresses on which something listens."""
    with socket.create_connection((hostname, port), 10.0) as connection:
        return str(connection.getpeername()[0])


@events.init.add_listener
def prepare_shape(environment: Any, **_: Any) -> None:
    """Give the shape its generator, and keep Locust's console to what is true."""
    if isinstance(environment.runner, WorkerRunner) or environment.runner is None:
        return
    shape = environment.shape_class
    if isinstance(shape, Comparison):
        shape.generator = LocustGenerator(environment.runner)
        shape.asked_users = environment.parsed_options.num_users
        if environment.web_ui is not None and shape.asked_users is None:
            environment.parsed_options.num_users = SUSTAINED.connections  # shown in the form
        # Rows change once a trial, and the table at the end says it all.
        environment.parsed_options.only_summary = True
        environment.events.quit.add_listener(shape.print_report)
        # Locust attends to SIGTERM only after a headless run with a shape; until then, and for a
        # closed terminal, do as for Ctrl-C.
        for each in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(each) is signal.SIG_DFL:
                signal.signal(each, signal.default_int_handler)
