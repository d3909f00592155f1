"""
A load shape that runs a whole comparison in one tick.

Locust asks a shape once a second how many users there should be. This one asks for its connections
once, and then keeps the next tick for as long as the comparison takes; ticks have a greenlet of
their own, so heartbeats and the web UI go on. The STOP button, Ctrl-C and SIGTERM kill that
greenlet, which unwinds like any other interruption: the server stops, finished trials stay.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gevent import GreenletExit
from locust import LoadTestShape, events
from locust.runners import WorkerRunner
from locust.stats import CSV_STATS_INTERVAL_SEC

from lab.bench.trials.announcement import varying_replies
from lab.bench.trials.conduct import Measurement, Outcome, PreparedRun, conduct, trials_kept
from lab.bench.trials.rates import Rate
from lab.cli.options.execution import CheckedJob, carry_out, understand
from lab.cli.options.table import Job
from lab.cli.report import show
from lab.errors import GeneratorError, Interrupted, LabError, UsageError
from lab.locust import crew as _crew  # noqa: F401 - registers the workers' side
from lab.locust import entries, interrupts
from lab.locust.arguments import asks_for_running_server, given, refuse_early
from lab.locust.command import command
from lab.locust.generator import LocustGenerator
from lab.locust.live import Live
from lab.locust.running import running_server
from lab.locust.web import Pages, check_port
from lab.model.comparison import Departure
from lab.model.finding import Finding, Gate
from lab.model.measurement import Trial
from lab.model.metric import METRICS
from lab.model.plan import CounterRun, Plan, Slot
from lab.model.runtime import LOOPBACK
from lab.model.sizes import SUSTAINED
from lab.model.wording import visible
from lab.report.edge import guard_streams, say
from lab.report.files import files
from lab.report.thresholds import lines

log = logging.getLogger("lab")
"""Everything that the lab says while Locust runs, whose own handlers write it."""

SPAWNING = 30.0
"""Seconds in which Locust must have made all users."""


def _made_visible(record: logging.LogRecord) -> bool:
    """Let nothing that others wrote act on the terminal that a line is written to."""
    record.msg, record.args = visible(record.getMessage()), ()
    return True


log.addFilter(_made_visible)


class ComparisonShape(LoadTestShape):
    """Compares profiles, or loads a server that already runs."""

    abstract = True
    use_common_options = True

    generator: LocustGenerator
    pages: Pages | None = None
    """What the web UI shows; None without it."""
    asked_users: int | None = None
    """What `-u` said; None when it was not given. Locust turns that into 1 later."""
    outcome: Outcome | None = None
    _ready = False
    kept: str | None = None
    """What there is of a comparison if a signal ends it; None where none is to be made."""

    def reset_time(self) -> None:
        """Begin anew; Locust calls this at the start of every test, and twice on a master."""
        super().reset_time()
        self._ready = False

    def tick(self) -> tuple[int, float] | None:
        """Ask for the users, then run everything."""
        environment = self._environment
        try:
            job = given(environment.parsed_options, self._users())
            understood = understand(job)
            users = understood.options.load.connections
            running = asks_for_running_server(environment.parsed_options, environment.host)
            if not self._ready:
                self._ready = True
                self.generator.begin(job.client, same=not running)
                return users, float(users)
            self._wait_for_users(users)
            if running:
                self._load_running_server(job, understood)
            else:
                self._compare(job, understood)
            if environment.parsed_options.csv_prefix:
                # Locust writes its CSV files once a second, and not once more at the end.
                time.sleep(CSV_STATS_INTERVAL_SEC + 0.1)
        except LabError as error:
            self.kept = None
            for line in error.lines:
                log.error("%s", line)  # noqa: TRY400 - for people; a traceback would hide it
            environment.process_exit_code = error.exit_code
        return None

    def print_report(self, **_: Any) -> None:
        """Print the run's report below Locust's own tables, as the last thing that is seen."""
        guard_streams()
        if interrupts.signal_name and self.kept is not None:
            interrupted = Interrupted(interrupts.signal_name)
            interrupted.kept = self.kept
            say(f"lab: {interrupted}", err=True)
        elif self.outcome is not None:
            self._show(self.outcome)

    def _show(self, outcome: Outcome) -> None:
        show(outcome.conclusion, outcome.folder, full=False, as_json=False)
        say(f"Run folder: {outcome.folder}")
        self.outcome = None  # nobody needs it twice

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
            self.generator.watch(0.02)

    def _compare(self, job: Job, understood: CheckedJob) -> None:
        environment = self._environment
        # What Locust exits with if it is stopped before the comparison ends.
        environment.process_exit_code = Interrupted.exit_code
        if environment.parsed_options.run_time:
            log.warning("--run-time is for --host; a comparison ends with its last block")
        self._warn_of_master(job)
        self.kept = trials_kept(None)
        try:
            self.outcome = carry_out(job, understood, self._conduct, log.info)
        except GreenletExit as error:
            self.kept = trials_kept(getattr(error, "folder", None))
            if not interrupts.signal_name:  # but the STOP button
                log.info("stopped; %s", self.kept)
                self.kept = None
            raise
        self.kept = None
        environment.process_exit_code = self.outcome.conclusion.status
        for line in lines(self.outcome.conclusion):
            log.info("%s", line)
        if self.pages is not None:  # it serves on until Ctrl-C
            guard_streams()
            self._show(self.outcome)
            log.info("done: the report is above and at /profiles/; Ctrl-C ends Locust")
            return
        log.info(
            "Locust's statistics follow; they include trials that do not count. The report comes "
            "after them."
        )

    def _warn_of_master(self, job: Job) -> None:
        """Say who reaches Locust's master, of which `--bind` says nothing."""
        anywhere = getattr(self.runner, "master_bind_host", "") in ("*", "0.0.0.0")
        if job.bind is not None and anywhere:
            log.warning(
                "Locust's master listens on every address of this machine and asks for no "
                "password: --master-bind-host %s lets it listen there alone",
                # Workers of --processes look for it on the loopback.
                LOOPBACK if self._environment.parsed_options.processes else job.bind,
            )

    def _conduct(self, prepared: PreparedRun, options: Measurement) -> Outcome:
        """Run one plan, and show it in Locust's statistics and in the web UI."""
        environment = self._environment
        environment.stats.clear_all()
        live = None
        if self.pages is not None:
            again = command(environment.parsed_options, prepared.plan.load.connections)
            options = replace(options, command=again)
            live = self.pages.live = Live(prepared, again, self.generator.name)
            # Measured on 2 cores: 0.2 to 0.9 cores for the charts, at most 0.03 for the page.
            log.info("follow it at /profiles/: Locust's charts keep a browser on this machine busy")
        rows = _Rows(environment, [arm.name for arm in prepared.plan.arms], live)
        try:
            outcome = conduct(prepared, options, self.generator, rows, files)
        except BaseException as error:  # also what the STOP button ends this greenlet with
            if live is not None:
                live.interrupted(error)
            raise
        if live is not None:
            live.ended(outcome)
        return outcome

    def _load_running_server(self, job: Job, understood: CheckedJob) -> None:
        """Load `--host` until Locust is told to stop, a row of statistics for its path."""
        environment = self._environment
        load, sizes = understood.options.load, understood.options.sizes
        if understood.rates:
            load = replace(load, rate=_rate_of_running_server(understood.rates))
        endpoint, workload = running_server(environment.host, job)
        environment.process_exit_code = 1  # until a correct reply has been counted
        run_time = environment.parsed_options.run_time
        ends = time.monotonic() + run_time if run_time else float("inf")
        replies = failures = 0
        with self.generator.session(endpoint, workload, load, None) as session:
            session.warm_up(sizes.warmup, 0)
            while time.monotonic() < ends:
                windows = session.measure(1.0)
                entries.record(environment.runner, workload.target_text, windows)
                replies += sum(window.ok for window in windows)
                failures += sum(sum(window.errors.values()) for window in windows)
                environment.process_exit_code = 0 if replies and not failures else 1
                if load.requests is not None:
                    break


def _rate_of_running_server(rates: Sequence[Rate]) -> float:
    if len(rates) > 1 or rates[0].is_share:
        raise UsageError(f"--rate {','.join(map(str, rates))}: with --host one number, as in 2000")
    return rates[0].value


class _Rows:
    """Shows a run in Locust's statistics, and to *live*: see `lab.bench.trials.runner.Observer`."""

    def __init__(self, environment: Any, names: Sequence[str], live: Live | None) -> None:
        self._environment = environment
        self._live = live
        self._names: dict[str, str] = {}
        self._advised: set[Gate] = set()
        """Gates of which the log has the advice."""
        self._add({name: name for name in names})

    def settled(self, plan: Plan) -> None:
        """Say what is required of replies that vary."""
        for line in varying_replies(plan):
            log.info("%s", line)

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Say nothing in the log: a line for each stage would bury Locust's own."""
        if self._live is not None:
            self._live.stage(slot, attempt, stage)

    def finished(self, trial: Trial, findings: Sequence[Finding]) -> None:
        """Add the trial to its profile's row."""
        row = self._names[trial.slot.arm.name]
        entries.record(self._environment.runner, row, trial.windows)
        for finding in findings:
            if finding.withholds == frozenset():  # a remark, which the report has
                continue
            names = finding.withholds
            titles = [metric.title for name, metric in METRICS.items() if name in (names or ())]
            what = "this trial does not count" if names is None else f"no {', '.join(titles)}"
            advice = "" if finding.gate in self._advised else f". {finding.advice}"
            self._advised.add(finding.gate)
            log.warning(
                "%s, block %d: %s: %s%s", row, trial.slot.block + 1, what, finding.reason, advice
            )
        if self._live is not None:
            self._live.finished(trial)

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Give each counter-run a row of its own."""
        self._add({counter.arm.name: f"{counter.of}, {counter.toggle}" for counter in counters})
        for counter_run in counters:
            log.info(
                "to confirm: %s at %s, by %s", counter_run.cause, counter_run.of, counter_run.toggle
            )
        if self._live is not None:
            self._live.confirming(counters)

    def leaving(self, departures: Sequence[Departure]) -> None:
        """Say who leaves and why."""
        for departure in departures:
            log.info("%s", departure)
        if self._live is not None:
            self._live.leaving(departures)

    def _add(self, labels: Mapping[str, str]) -> None:
        """Make a row for each name; Locust sorts rows by their labels, so these are numbered."""
        for name, label in labels.items():
            row = self._names[name] = f"{len(self._names) + 1:02} {visible(label)}"
            entries.entry(self._environment.stats, row)


@events.init.add_listener
def prepare_shape(environment: Any, **_: Any) -> None:
    """Give the shape its generator, and keep Locust's console to what is true."""
    if isinstance(environment.runner, WorkerRunner) or environment.runner is None:
        return
    shape = environment.shape_class
    if isinstance(shape, ComparisonShape):
        try:
            refuse_early(environment.parsed_options, environment.host)
            if environment.web_ui is not None:
                check_port(environment.web_ui)
        except LabError as error:
            log.error("%s", error)  # noqa: TRY400 - for people; a traceback would hide it
            sys.exit(error.exit_code)
        shape.generator = LocustGenerator(environment.runner)
        shape.asked_users = environment.parsed_options.num_users
        if environment.web_ui is None:  # and if it is stopped before anything begins
            environment.process_exit_code = Interrupted.exit_code
            running = asks_for_running_server(environment.parsed_options, environment.host)
            shape.kept = None if running else trials_kept(None)
        elif shape.asked_users is None:
            environment.parsed_options.num_users = SUSTAINED.connections  # shown in the form
        # Rows change once a trial, and the table at the end says it all.
        environment.parsed_options.only_summary = True
        environment.events.quit.add_listener(shape.print_report)
        entries.keep_decimals()
        if environment.web_ui is not None:
            base_path = environment.parsed_options.web_base_path
            shape.pages = Pages(environment.web_ui, base_path)


events.init.add_listener(interrupts.ready)
