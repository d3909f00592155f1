"""
One experiment, whichever command starts it: `lab run` or `locust -f loadtests/`.

A command gives a `Measurement`, a generator, and something that shows progress; what comes back is
the run's folder and its summary.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lab.analysis.points import summaries
from lab.analysis.summary import Summary
from lab.analysis.sweep import RunConclusion, conclude_run
from lab.bench import probes, profiles
from lab.bench.machine import project
from lab.bench.machine.cpus import cpu_list
from lab.bench.machine.runtime import UWSGI
from lab.bench.machine.temporary import swept
from lab.bench.profiles.backing import needed
from lab.bench.servers.backing import running
from lab.bench.servers.fetch import fetch
from lab.bench.servers.runner import ServerRunner
from lab.bench.store import environment
from lab.bench.store.folder import (
    FORMAT,
    RunHeader,
    RunWriter,
    keep_log,
    new_folder,
    read_run,
    run_of,
)
from lab.bench.trials.available import available, import_applications, warnings
from lab.bench.trials.cores import assign_cores, count_generators, every_core
from lab.bench.trials.counter_runs import plan_counters
from lab.bench.trials.minutes import Minutes, with_minutes
from lab.bench.trials.plan import estimate, validate, with_inert
from lab.bench.trials.replies import TriedOut, with_replies
from lab.bench.trials.runner import Observer, Parts, run
from lab.bench.trials.same_application import remarks
from lab.bench.trials.schedule import Blocks, Pilot, Schedule
from lab.bench.trials.sweep import Point, Sweep
from lab.bench.workloads.http_file import render
from lab.errors import Interrupted, ResultsError, ServerStartError
from lab.model.measurement import Run, Trial
from lab.model.plan import SMALLEST, CounterRun, Load, Plan
from lab.model.protocols import Generator
from lab.model.runtime import without_values
from lab.model.sizes import DEFAULT, SUSTAINED, Sizes
from lab.model.workload import Workload

SoFar = Callable[[Sequence[Trial]], Run]
"""Returns the run that consists of some trials."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What to measure, as the user asked for it."""

    profiles: Sequence[str] = ()
    """Names or paths; empty for the whole ladder."""
    load: Load = SUSTAINED
    rates: Mapping[str, float] = field(default_factory=dict)
    """Open loops in every block: name -> requests per second."""
    sweep: Sweep | None = None
    """Values of another quantity in every block; not with *rates*."""
    sizes: Sizes = DEFAULT
    minutes: float | None = None
    """Time limit of the run; None: the number of blocks of *sizes*."""
    smallest: float = SMALLEST
    """Smallest difference that the run has to detect, as a share."""
    thresholds: tuple[str, ...] = ()
    """The limits of `--fail-if`."""
    stay: Collection[str] = ()
    """Profiles that stay until the end, because a threshold is on them."""
    over: Callable[[Sequence[Summary]], bool] | None = None
    """Returns whether a run with a time limit may end; None: when all comparisons are decided."""
    trying: TriedOut = TriedOut.THEIRS
    """Which profiles must give the correct reply before the first trial."""
    schedule: Callable[[Plan, SoFar], Schedule] | None = None
    """Returns the schedule of arms and blocks; None: that of the plan."""
    earlier: Run | None = None
    """An interrupted run of the same plan, which is continued; None: a new run."""
    seed: int | None = None
    """Seed of the shuffled order; None: a random one, which is recorded."""
    results: Path = Path("results")
    share: float = 1.0
    """Share of the time in which the server has its cores; see `Plan.share`."""
    turns: int = 1
    """Turns in which the servers of a block are loaded; see `Plan.turns`."""
    pin: bool = True
    """Whether server and load generator are pinned to CPUs."""
    cores: environment.Cores | None = None
    """CPUs of the server and of the load generator; None: half each."""
    generators: int | None = 1
    """Number of load generator processes; None: the default of this machine."""
    confirm: bool = True
    """Whether counter-runs in later blocks test the causes that the first blocks show."""
    command: Sequence[str] = field(default_factory=lambda: without_values(sys.argv))
    """The command that repeats the run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run."""

    folder: Path
    conclusion: RunConclusion


Files = Callable[[RunConclusion], Iterable[tuple[str, str]]]
"""Returns name and content of each file that is derived from a run."""


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A plan that is ready to run."""

    plan: Plan
    skipped: dict[str, str]
    """Profile that cannot run here -> reason."""
    seconds: float
    """Expected duration."""
    cores: environment.Cores | None
    """CPUs of the server and of the load generator; None: not pinned."""
    generators: int = 1
    """Number of load generator processes."""
    warnings: tuple[str, ...] = ()
    """Warnings about the user's configurations, one line each."""
    remarks: tuple[str, ...] = ()
    """Remarks about the user's configurations, one line each."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Profile -> version that its server prints."""
    runtime: Mapping[str, Any] = field(default_factory=dict)
    """Versions of the user's Python, uWSGI and packages; empty without them."""


def prepare(options: Measurement, workload: Workload) -> PreparedRun:
    """
    Resolve the profiles and lay out the plan.

    Raises:
        ProfileError: A profile or backing service is unknown or cannot be resolved.
        UsageError: The plan cannot give a comparison, its generators lack cores or connections, or
            a backing service is not installed.
    """
    chosen_cores = every_core() if options.share < 1 else options.cores
    cores = assign_cores(chosen_cores) if options.pin else None
    installations, skipped, workload = available(options.profiles or profiles.usual(), workload)
    seed = int.from_bytes(os.urandom(4)) if options.seed is None else options.seed
    if workload.requests:
        workload = replace(workload, seed=seed)
    points = tuple(_points(options, workload))
    fewest = min(point.load.connections for point in points)
    generators = count_generators(options.generators, fewest, cores)
    chosen = [installation.profile for installation in installations]
    unread = warnings(installations, workload.runtime)
    try:
        theirs = import_applications(installations, workload, unread)
    except ServerStartError as error:
        _keep_early(options.results, workload, error)
        raise
    plan = Plan(
        arms=tuple(point.arm(profile) for point in points for profile in chosen),
        reference=chosen[0].name,
        blocks=options.sizes.blocks,
        warmup=options.sizes.warmup,
        window=options.sizes.window,
        seed=seed,
        server_cores=cpu_list(cores[0]) if cores else None,
        generator_cores=cpu_list(cores[1]) if cores else None,
        backing=needed(workload, chosen),
        share=options.share,
        turns=options.turns,
        smallest=options.smallest,
        thresholds=options.thresholds,
    )
    plan = with_inert(plan)
    validate(plan)
    if options.minutes is not None:
        plan = with_minutes(plan, options.minutes)
    seconds = estimate(plan, confirm=options.confirm)
    other_installations = (
        installation
        for installation in installations
        if installation.profile.version[:1] != (UWSGI,)
    )
    versions = {
        installation.profile.name: installation.version
        for installation in other_installations
        if installation.version
    }
    remark_lines = tuple(remarks(chosen, cores[0] if cores else None, workload))
    return PreparedRun(
        plan, skipped, seconds, cores, generators, unread, remark_lines, versions, theirs
    )


@swept()
def conduct(
    prepared: PreparedRun,
    options: Measurement,
    generator: Generator,
    observer: Observer,
    files: Files,
) -> Outcome:
    """
    Run the plan, and write the run's folder.

    On `Interrupted`, and on every other error, what was measured stays on disk; *files* are written
    when at least one trial ended.

    Args:
        prepared: What to run.
        options: What the user asked for.
        generator: What makes the load.
        observer: Is told how far the run is.
        files: Returns name and content of the files that are derived from the run.

    Raises:
        LabError: The narrow one that says what ended the run early.
    """
    env = _environment(prepared)
    digest = environment.digest(env)
    with running(prepared.plan.backing, prepared.cores) as backing:
        started = {
            running_backing.service.name: running_backing.service for running_backing in backing
        }
        services = tuple(
            started.get(backing_service.name, backing_service)
            for backing_service in prepared.plan.backing
        )
        try:
            # `lab tune` has replaced the arms.
            plan = with_inert(replace(prepared.plan, backing=services))
            plan = with_replies(plan, options.trying, ServerRunner(), fetch)
        except ServerStartError as error:
            _keep_early(options.results, prepared.plan.workload, error)
            raise
        header = RunHeader(
            format=FORMAT,
            command=repeatable(options.command, plan.seed),
            generator=generator.name,
            started_at=time.time(),
            plan=plan,
            environments=_with_earlier(options, digest, env),
            skipped=prepared.skipped,
            hosts=generator.hosts(plan.workload.runtime.bind),
        )
        with closing(RunWriter(options.results, header)) as writer:
            try:
                writer.write_header()
                parts = real_parts(generator, prepared.cores, writer.append, digest)
                parts = replace(parts, keep=partial(keep_log, writer.folder), backing=backing)
                with suppress(ValueError):  # of a body that is no text; run.json has it
                    if plan.workload.requests:
                        writer.write_text("requests.http", render(plan.workload.requests))
                observer.settled(plan)
                trials = options.earlier.trials if options.earlier else ()
                for trial in trials:
                    writer.append(trial)
                run(plan, parts, observer, _schedule(plan, options, writer, observer), trials)
                if plan.minutes is not None:
                    writer.write_header(ended=True)
            except BaseException as error:  # also what ends a greenlet: Locust's STOP button
                _end_early(writer, files, error)
                raise
            return Outcome(writer.folder, _conclude(writer, files))


def _with_earlier(options: Measurement, digest: str, env: dict[str, Any]) -> dict[str, Any]:
    """Return the run's environment by its digest, and those of the trials that were made before."""
    before = options.earlier.environments if options.earlier else {}
    return {**before, digest: env}


def _environment(prepared: PreparedRun) -> dict[str, Any]:
    """Return what the run depends on, with what its servers say of themselves."""
    env = environment.read_environment()
    if prepared.versions:
        env["servers"] = dict(prepared.versions)
    if prepared.runtime:
        env["runtime"] = dict(prepared.runtime)
    return env


def _end_early(writer: RunWriter, files: Files, error: BaseException) -> None:
    """Keep what there is of a run that *error* ended, and say in *error* what that is."""
    folder = writer.folder if writer.has_trials else None
    if folder is not None:
        with suppress(ResultsError):  # such as a full disk, which is what ended the run
            _conclude(writer, files)
        error.add_note(f"Run folder: {folder}")
        error.folder = folder  # type: ignore[attr-defined] # see LabError
    else:
        writer.discard()
    if isinstance(error, Interrupted):
        error.kept = trials_kept(folder)


def trials_kept(folder: Path | None) -> str:
    """Say what there is of a run that was interrupted; None: it has no folder."""
    if folder is None:
        return "no trial had finished"
    command = f"{project.lab_command()} report {shlex.quote(str(folder))}"
    return f"the finished trials are kept: {command}"


def _keep_early(results: Path, workload: Workload, error: ServerStartError) -> None:
    """Keep the log of a server that did not start in a folder as the run's would have been."""
    if error.log:
        with suppress(OSError, ResultsError):  # without room, the error has its end
            keep_log(new_folder(results, workload.name, time.time()), error)


def _schedule(plan: Plan, options: Measurement, writer: RunWriter, observer: Observer) -> Schedule:
    """
    Return what says which arms each block holds.

    With `confirm` the causes of the first blocks are put to the test in the others. In a run of
    minutes who is decided leaves.
    """

    def so_far(trials: Sequence[Trial]) -> Run:
        return run_of(writer.header, writer.folder.name, trials)

    def find(trials: Sequence[Trial]) -> tuple[CounterRun, ...]:
        counters = plan_counters(so_far(trials), writer.folder / "counter")
        writer.write_header(counters=counters)
        return counters

    if options.schedule is not None:
        return options.schedule(plan, so_far)
    schedule = Pilot(plan, find, observer.confirming) if options.confirm else Blocks(plan)
    if plan.minutes is None:
        return schedule
    return Minutes(plan, schedule, so_far, observer.leaving, stay=options.stay, over=options.over)


def real_parts(
    generator: Generator,
    cores: environment.Cores | None,
    record: Callable[[Trial], None],
    digest: str = "",
) -> Parts:
    """
    Return what trials are made with: real servers and probes, on *cores* or anywhere.

    Args:
        generator: Makes the load.
        cores: The server's and the generator's.
        record: Takes each trial.
        digest: Of the environment; empty where no other environment will be compared with it.
    """
    return Parts(
        server=ServerRunner(),
        generator=generator,
        probes=probes.probes(),
        facts=probes.facts,
        record=record,
        environment=digest,
        lab=(os.getpid(),),
        server_cores=cores[0] if cores else None,
        generator_cores=cores[1] if cores else None,
    )


def _points(options: Measurement, workload: Workload) -> Iterator[Point]:
    """Yield what is asked for: at each rate or value, or alone."""
    if options.sweep is not None:
        yield from options.sweep.points(options.load, workload)
    elif not options.rates:
        yield Point({}, options.load, workload)
    for name, rate in options.rates.items():
        yield Point({"rate": name}, replace(options.load, rate=rate), workload)


def _conclude(writer: RunWriter, files: Files) -> RunConclusion:
    """Write what is derived from the run, and return what it comes to."""
    run_conclusion = conclude_run(summaries(read_run(writer.folder)))
    for name, text in files(run_conclusion):
        writer.write_text(name, text)
    return run_conclusion


def repeatable(command: Sequence[str], seed: int | None = None) -> str:
    """Return *command* as it is typed, with the seed that was drawn for it, if one was."""
    program = Path(command[0])
    if program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    words = [str(program), *command[1:]]
    if seed is not None and not any(word.startswith("--seed") for word in words):
        words += ["--seed", str(seed)]
    return shlex.join(words)
