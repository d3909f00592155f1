"""`lab tune` with what it measures: the runs, and the files that it leaves."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from lab.bench.load.process import EngineGenerator
from lab.bench.store.folder import write_text
from lab.bench.trials.conduct import Files, Measurement, Outcome, PreparedRun, conduct
from lab.bench.trials.progress import Progress
from lab.bench.workloads.question import salted
from lab.cli.migrate.migration import migrated
from lab.cli.options.execution import application, understand
from lab.cli.options.table import Job
from lab.cli.outputs import write_new
from lab.cli.startable import startable
from lab.cli.tune.allowed import new_fault
from lab.cli.tune.blocks import Goal
from lab.cli.tune.climb import BACK, Values
from lab.cli.tune.measure import STATE, Measurer, TuneState, state_of
from lab.cli.tune.moves import AFFINITY, SERVER, Facts, Ground, ground_of
from lab.cli.tune.options import CONNECTIONS, MEASURED
from lab.cli.tune.picture import draw
from lab.cli.tune.report import effects
from lab.cli.tune.result import OtherConfig, TuneResult
from lab.cli.tune.search import Search
from lab.config import servers
from lab.config.command import is_command
from lab.config.configuration import Config, Known
from lab.config.edits import diff
from lab.config.equality import same
from lab.config.reading import read
from lab.config.servers import EDITABLE, edited
from lab.errors import ProfileError, ResultsError, UsageError
from lab.model.digest import digest_of
from lab.model.wording import counted, in_a_line
from lab.model.workload import Workload
from lab.report.console import Console
from lab.report.edge import say
from lab.report.files import files
from lab.report.svg import standalone

WINDOW, WARMUP = 2.0, 0.5
"""Seconds of a trial: of all windows 2 s tell most a minute (`studies/windows.py`)."""


@dataclass(frozen=True, slots=True)
class TuneJob:
    """What was asked for beside what `lab run` takes."""

    configuration: str
    job: Job
    minutes: float
    memory: float | None = None
    """Bytes at the most."""
    p99: float | None = None
    """Seconds at the most."""
    rate: float | None = None
    busy: int | None = None
    db_connections: int | None = None
    """Of the database, at the most."""
    threads: bool | None = None
    """None where the configuration says it."""
    greenlets: bool = False
    only: frozenset[str] = frozenset()
    """Groups that are moved by name."""
    without: frozenset[str] = frozenset()
    """Groups that are not moved."""
    minimal: bool = False
    servers: tuple[str, ...] = ()
    """Others that may be tried."""
    output: Path | None = None
    resume: Path | None = None
    container: bool | None = None
    """Whether it runs in one; None if a Dockerfile says so."""
    left_out: dict[str, str] = field(default_factory=dict)
    """What is not tried -> why; filled on the way."""

    @property
    def goal(self) -> Goal:
        """What is to become better: at a rate the CPU, else as much as can be served."""
        metric = "cpu" if self.rate else "throughput"
        return Goal(metric, self.memory, self.p99, keeps_rate=self.rate is not None)


def tuned(tuning: TuneJob) -> TuneResult:
    """
    Return what came of a tune, and write what it leaves.

    Raises:
        LabError: The narrow one that says why it could not be measured, or written.
    """
    job = replace(tuning.job, profiles=(tuning.configuration,))
    options, ground = _options(tuning, job), _ground(tuning, job)
    output = _output(tuning, ground)
    state = _state(tuning, ground, options)
    grounds, workloads = {ground.program: ground}, {ground.program: application(job)}
    others = {
        server: _other(tuning, server, ground, job, options.results)
        for server in tuning.servers
        if server != ground.program
    }
    if tuning.output is not None:  # what may stand beside it
        names = (other.elsewhere.environment_file for other in others.values())
        _check_new(*(output.with_name(name) for name in names))
    grounds |= {server: other.ground for server, other in others.items()}
    workloads |= {server: other.workload for server, other in others.items()}
    options = replace(options, seed=state.seed)
    measurer = Measurer(
        grounds=grounds,
        goal=tuning.goal,
        options=options,
        workloads=workloads,
        minutes=tuning.minutes,
        conducted=_conducted,
        files=files,
        state=state,
    )
    fixed = frozenset({*tuning.without, *_fixed(measurer, tuning)})
    allowed = partial(_allowed, tuning, grounds)
    on_step = partial(_tell, tuning, measurer)
    facts = _facts(tuning, measurer)
    course = Search(measurer, facts, allowed, fixed, tuning.minimal, on_step).discover()
    day, folder = time.strftime("%Y-%m-%d"), str(measurer.folder)
    left, made = tuning.left_out, {server: other.elsewhere for server, other in others.items()}
    tune_result = TuneResult(grounds, measurer.goal.metric, course, folder, day, left, made)
    return _write(tune_result, measurer.folder, output, tuning.output)


@dataclass(frozen=True, slots=True)
class OtherGround:
    """What the user's configuration becomes for another server."""

    elsewhere: OtherConfig
    ground: Ground
    workload: Workload
    """What is asked, with what it is started with."""


def _known(tuning: TuneJob, job: Job) -> Known:
    variables = dict(application(job).runtime.variables.reveal())
    connections = tuning.busy or job.connections or CONNECTIONS
    most = tuning.db_connections
    known = Known.of_caller(connections=connections, db_connections=most, cwd=job.cwd)
    return replace(known, environ={**known.environ, **variables})


def _ground(tuning: TuneJob, job: Job) -> Ground:
    """Return the user's configuration."""
    known = _known(tuning, job)
    config = read(tuning.configuration, known, commands=EDITABLE, container=tuning.container)
    edited(config, ())  # which refuses what is not changed
    return ground_of(tuning.configuration, config, os.cpu_count() or 1)


def _other(tuning: TuneJob, program: str, base: Ground, job: Job, folder: Path) -> OtherGround:
    """Return what the user's configuration becomes for another server, with files in *folder*."""
    variables = dict(application(job).runtime.variables.reveal())
    chdir = job.chdir and job.chdir.expanduser().resolve()
    made = migrated(base.name, program, variables, drop=job.drop, chdir=chdir, trusted=True)
    place = folder / "migrated"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(place, f"cannot be made: {error.strerror}") from error
    # What is kept, left out or moved there is so in what it became.
    theirs = replace(startable(made, base.name, job, place), keep=(), drop=())
    theirs = replace(theirs, chdir=job.chdir if job.app else None)
    (name,), known = theirs.profiles, _known(tuning, theirs)
    file = None
    if is_command(name):
        path = place / made.file
        write_text(path, made.text)
        file = read(str(path), known)
    ground = ground_of(name, read(name, known), base.cpus, file)
    lost, changed = (len(made.lists[name]) for name in ("no equivalent", "behaves differently"))
    elsewhere = OtherConfig(
        program=program,
        file=made.file,
        environment_file=made.environment_file,
        environment=made.environment,
        lost=lost,
        changed=changed,
    )
    return OtherGround(elsewhere, ground, application(theirs))


def _facts(tuning: TuneJob, measurer: Measurer) -> Facts:
    """Return what is known before anything is measured."""
    cores, ground = measurer.prepared.cores, measurer.ground
    threads = ground.in_threads if tuning.threads is None else tuning.threads
    profile = measurer.arms[ground.program].profile
    why = servers.of(profile).why_fixed(profile, "threads") if threads else None
    if why is not None:
        tuning.left_out["threads"] = why
    at_once = measurer.prepared.plan.load.connections
    number = len(cores[0]) if cores else ground.cpus
    one = "workers" in tuning.only
    return Facts(
        number,
        at_once,
        threads and why is None,
        tuning.greenlets,
        on_one_core=one,
        first_cpu=min(cores[0]) if cores else 0,
    )


def _output(tuning: TuneJob, ground: Ground) -> Path:
    """
    Return the file that is to be written.

    Raises:
        UsageError: It exists.
    """
    path = tuning.output
    if path is None and is_command(tuning.configuration):
        path = Path(f"{ground.program}.tuned.sh")
    elif path is None:
        file = ground.config.file
        path = file.with_name(f"{file.stem}.tuned{file.suffix}")
    _check_new(path)
    return path


def _check_new(*paths: Path) -> None:
    for path in paths:
        if path.exists():
            raise UsageError(f"{path} exists: --output FILE writes another file")


def _options(tuning: TuneJob, job: Job) -> Measurement:
    options = understand(job).options
    load = options.load
    if tuning.busy is not None and job.connections is not None:
        raise UsageError("--busy and --connections both set the requests in flight")
    if tuning.busy is not None:
        load = replace(load, connections=tuning.busy)
    folder = tuning.resume or options.results / f"tune-{time.strftime('%Y%m%d-%H%M%S')}"
    return replace(
        options,
        load=replace(load, rate=tuning.rate),
        sizes=replace(
            options.sizes,
            window=WINDOW if job.window is None else job.window,
            warmup=WARMUP if job.warmup is None else job.warmup,
        ),
        minutes=None,
        results=folder,
        confirm=False,
    )


def _state(tuning: TuneJob, ground: Ground, options: Measurement) -> TuneState:
    """
    Return the state of the tune, a new one or that of the one that is gone on with.

    Raises:
        UsageError: That was of something else.
        ResultsError: There is none.
    """
    texts = tuple(sorted((str(file), text) for file, text in ground.config.texts.items()))
    digest, option_digests = digest_of(texts), _option_digests(tuning, ground)
    if tuning.resume is None:
        seed = int.from_bytes(os.urandom(3)) if options.seed is None else options.seed
        return TuneState(TuneState.FORMAT, digest, option_digests, seed)
    if not (tuning.resume / STATE).is_file():
        raise UsageError(
            f"--resume {tuning.resume}: not a folder of lab tune, as it has no {STATE}; give one "
            "such as results/tune-20261127-101500"
        )
    state = state_of(tuning.resume)
    if state.configuration != digest:
        name = in_a_line(tuning.configuration)
        raise UsageError(f"--resume {tuning.resume}: {name} has changed since then")
    if other := sorted(
        name for name in option_digests if state.asked.get(name) != option_digests[name]
    ):
        raise UsageError(f"--resume {tuning.resume}: it had another {', '.join(other)}")
    return state


def _option_digests(tuning: TuneJob, ground: Ground) -> dict[str, str]:
    """Return what decides which trials are made -> a digest, as values may be secrets."""
    settings = {name: getattr(tuning, name) for name in _DECIDING}
    settings |= {name: getattr(tuning.job, name) for name in MEASURED if name not in _FREE}
    settings |= {"CONFIG:section": ground.config.known.section}
    normalized = {name: sorted(value) if isinstance(value, frozenset) else value
                  for name, value in settings.items()}  # fmt: skip
    named = {
        _TYPED.get(name, f"--{name.replace('_', '-')}"): value for name, value in normalized.items()
    }
    return {name: salted(repr(value or None))[:16] for name, value in named.items()}


_DECIDING = ("memory", "p99", "rate", "busy", "db_connections", "threads", "greenlets", "only",
             "without", "servers", "container")  # fmt: skip
_TYPED = {
    "threads": "--threads-safe",
    "greenlets": "--gevent",
    "without": "--without",
    "servers": "--server",
    "CONFIG:section": "section",
}
_FREE = {"results", "seed"}
"""Options of a run that a tune may be gone on with otherwise."""


def _conducted(prepared: PreparedRun, options: Measurement, written: Files) -> Outcome:
    with Progress(prepared.plan, Console(stderr=True)) as progress:
        return conduct(prepared, options, EngineGenerator(prepared.generators), progress, written)


def _fixed(measurer: Measurer, tuning: TuneJob) -> Iterator[str]:
    """Yield the groups that the configuration itself keeps from being moved."""
    profile = measurer.arms[measurer.ground.program].profile
    why = servers.of(profile).why_fixed(profile, "workers")
    if why is not None:
        tuning.left_out["workers"] = why
        yield "workers"


def _allowed(tuning: TuneJob, grounds: Mapping[str, Ground], values: Values) -> bool:
    """Return whether a change can be written, and brings no fault that the linter calls grave."""
    ground = grounds[values.get(SERVER, next(iter(grounds)))]
    change, most = ", ".join(map(str, ground.steps(values))), tuning.db_connections
    if AFFINITY in values and ground.workers(values) != 1:
        return False
    if most is not None and values.keys() & {"workers", "threads", "greenlets"}:
        places = ground.places(values)
        if places is None or places > most:
            tuning.left_out[change] = (
                f"more concurrent requests than --db-connections {most}"
                if places
                else "the number of concurrent requests, which --db-connections limits, is unknown"
                + ": write numbers of workers and threads" * ground.service.is_wsgi
            )
            return False
    try:
        why = new_fault(ground, values)
    except ProfileError as error:
        why = str(error)
    if why:
        tuning.left_out[change] = why
    return not why


def _tell(tuning: TuneJob, measurer: Measurer, step: str) -> None:
    """Say on standard error what comes next."""
    if step == "look":
        say(
            f"searching: {in_a_line(tuning.configuration)}, for {measurer.minutes:g} minutes",
            err=True,
        )
    elif step == "race":
        attempts = [attempt for attempt in measurer.attempts if attempt.group != BACK]
        best = max(attempts, key=lambda attempt: attempt.gain.mean)
        tried = counted(len({str(attempt.values) for attempt in attempts}), "change")
        say(f"{tried} tried; the best has a gain of {best.gain.ratio:.3g}x", err=True)
    elif step in {"proof", "minimal"}:
        say("proof: new trials of it and of yours", err=True)
    else:
        say("ablation: each change taken back by itself", err=True)


def _write(tune_result: TuneResult, folder: Path, output: Path, named: Path | None) -> TuneResult:
    """
    Write what a tune leaves, and return it with the name of the file.

    Args:
        tune_result: What came of it.
        folder: The tune's own.
        output: The file for a better configuration.
        named: That file, where the user names it.
    """
    # First what cannot fail for a file that somebody else has put there meanwhile.
    picture, name = draw(tune_result), "effects.svg"
    if picture is not None:
        write_text(folder / name, standalone("effects", picture))
    write_text(folder / "effects.md", effects(tune_result, name if picture else ""))
    if tune_result.status == 0:
        tune_result = _with_file(tune_result, folder, output, named)
        write_text(folder / "tuned.diff", tune_result.diff)
    return tune_result


def _with_file(
    tune_result: TuneResult, folder: Path, output: Path, named: Path | None
) -> TuneResult:
    """Write the better configuration; of another server beside the runs, by its usual name."""
    assert tune_result.discovery.proven is not None
    ground, other = tune_result.ground_of(tune_result.discovery.proven.values), tune_result.other
    if other is not None and named is None:
        output = folder / other.file
        output.unlink(missing_ok=True)  # of a tune that is gone on with
    after, config = tune_result.text(str(output)), ground.file or ground.config
    write_new(output, after)
    if other is not None and other.environment:
        path = output.with_name(other.environment_file)
        if named is None:
            path.unlink(missing_ok=True)
        write_new(path, other.environment)
    before, names = config.texts[config.file], (config.file.name, output.name)
    note = ""
    if not (other or tune_result.is_command or _is_the_same(config, after, output)):
        there = f"in the place of {config.file.name}"
        note = f"what was proved holds only {there}, whose name or folder it uses"
    return replace(tune_result, written=str(output), diff=diff(before, after, names), note=note)


def _is_the_same(config: Config, text: str, output: Path) -> bool:
    """Return whether a text means the same in another file: an ini may use its own name."""
    return same(servers.with_text(config, text), servers.with_text(config, text, output))
