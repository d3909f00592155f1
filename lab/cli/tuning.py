"""`lab tune` with what it measures: the runs, and the files that it leaves."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from lab import dialects
from lab.cli.outputs import write_new
from lab.cli.startable import folder_of, startable
from lab.dialects.command import is_command
from lab.dialects.config import Known
from lab.dialects.vocabulary.translators import TRANSLATORS
from lab.errors import ProfileError, UsageError
from lab.experiment.conduct import Files, Options, Outcome, Prepared, conduct
from lab.experiment.progress import Progress
from lab.generators.process import EngineGenerator
from lab.lint.flaw import Severity
from lab.lint.judge import judged
from lab.migrate.migrated import migrated
from lab.model.digest import digest_of
from lab.model.wording import counted, in_a_line
from lab.options import Asked, application, understand
from lab.report.console import Console
from lab.report.edge import say
from lab.report.files import files
from lab.runs.folder import write_text
from lab.tune.blocks import Goal
from lab.tune.climb import Values
from lab.tune.measure import Measurer, TuneState, state_of
from lab.tune.moves import SERVER, Facts, Ground, ground_of
from lab.tune.read import read
from lab.tune.search import Search
from lab.tune.told import effects
from lab.tune.tuned import Tuned, diff

GRAVE = {Severity.ERROR, Severity.DANGEROUS}
"""Faults that no change may bring."""

WINDOW, WARMUP = 2.0, 0.5
"""Seconds of a trial: of all windows 2 s tell most a minute (`benchmarks/windows.py`)."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was asked for beside what `lab run` takes."""

    configuration: str
    asked: Asked
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
    without: frozenset[str] = frozenset()
    """Groups that are not moved."""
    minimal: bool = False
    servers: tuple[str, ...] = ()
    """Others that may be tried."""
    output: Path | None = None
    resume: Path | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    """What is not tried -> why; filled on the way."""

    @property
    def goal(self) -> Goal:
        """What is to become better: at a rate the CPU, else as much as can be served."""
        return Goal("cpu" if self.rate else "throughput", self.memory, self.p99)


def tuned(tuning: Tuning) -> Tuned:
    """
    Return what came of a tune, and write what it leaves.

    Raises:
        LabError: The narrow one that says why it could not be measured, or written.
    """
    asked = replace(tuning.asked, profiles=(tuning.configuration,))
    options = _options(tuning, asked)
    grounds = _grounds(tuning, asked, options.results)
    ground = next(iter(grounds.values()))
    output = _output(tuning, ground)
    if tuning.servers:  # what was made for them lies elsewhere
        asked = replace(asked, cwd=folder_of(tuning.configuration, asked))
    state = _state(tuning, ground, options)
    work = application(asked), tuning.minutes, _conducted, files, state
    measurer = Measurer(grounds, tuning.goal, options, *work)
    fixed = frozenset({*tuning.without, *_fixed(measurer, tuning)})
    before = {each.name: {flaw.code for flaw in judged(each.config)} for each in grounds.values()}
    allowed = partial(_allowed, tuning, grounds, before)
    told = partial(_tell, tuning, measurer)
    facts = _facts(tuning, measurer)
    course = Search(measurer, facts, allowed, fixed, tuning.minimal, told).found()
    day, folder = time.strftime("%Y-%m-%d"), str(measurer.folder)
    found = Tuned(grounds, measurer.goal.metric, course, folder, day, tuning.left_out)
    return _write(found, measurer.folder, output)


def _grounds(tuning: Tuning, asked: Asked, folder: Path) -> dict[str, Ground]:
    """Return the user's configuration, and what it becomes for the servers that may be tried."""
    said = dict(application(asked).runtime.variables.reveal())
    known = replace(Known.of_caller(), cwd=asked.cwd)
    known = replace(known, environ={**known.environ, **said})
    cpus, chdir = os.cpu_count() or 1, asked.chdir and asked.chdir.expanduser().resolve()
    own = ground_of(tuning.configuration, read(tuning.configuration, known), cpus)
    found = {own.program: own}
    for program in tuning.servers:
        if program != own.program:
            new = migrated(own.name, program, said, drop=asked.drop, chdir=chdir)
            folder.mkdir(parents=True, exist_ok=True)
            name = startable(new, own.name, asked, folder)
            found[program] = ground_of(name, read(name, known), cpus)
    return found


def _facts(tuning: Tuning, measurer: Measurer) -> Facts:
    """Return what is known before anything is measured."""
    cores, ground = measurer.prepared.cores, measurer.ground
    threads = ground.in_threads if tuning.threads is None else tuning.threads
    profile = measurer.arms[ground.program].profile
    why = dialects.of(profile).fixed(profile, "threads") if threads else None
    if why is not None:
        tuning.left_out["threads"] = why
    at_once = measurer.prepared.plan.load.connections
    number = len(cores[0]) if cores else ground.cpus
    return Facts(number, at_once, threads and why is None, tuning.greenlets)


def _output(tuning: Tuning, ground: Ground) -> Path:
    """
    Return the file that is to be written.

    Raises:
        UsageError: It is there already.
    """
    path = tuning.output
    if path is None and is_command(tuning.configuration):
        path = Path(f"{ground.program}.tuned.sh")
    elif path is None:
        file = ground.config.file
        path = file.with_name(f"{file.stem}.tuned{file.suffix}")
    if path.exists():
        raise UsageError(f"{path} is there already: --output FILE writes another one")
    return path


def _options(tuning: Tuning, asked: Asked) -> Options:
    options = understand(asked).options
    load = options.load
    if tuning.busy is not None:
        load = replace(load, connections=tuning.busy)
    folder = tuning.resume or options.results / f"tune-{time.strftime('%Y%m%d-%H%M%S')}"
    return replace(
        options,
        load=replace(load, rate=tuning.rate),
        sizes=replace(
            options.sizes,
            window=WINDOW if asked.window is None else asked.window,
            warmup=WARMUP if asked.warmup is None else asked.warmup,
        ),
        minutes=None,
        results=folder,
        confirm=False,
    )


def _state(tuning: Tuning, ground: Ground, options: Options) -> TuneState:
    """
    Return the state of the tune, a new one or that of the one that is gone on with.

    Raises:
        UsageError: That was of something else.
        ResultsError: There is none.
    """
    texts = tuple(sorted((str(file), text) for file, text in ground.config.texts.items()))
    digest = digest_of(texts)
    if tuning.resume is None:
        seed = int.from_bytes(os.urandom(3)) if options.seed is None else options.seed
        return TuneState(TuneState.FORMAT, digest, seed)
    state = state_of(tuning.resume)
    if state.configuration != digest:
        name = in_a_line(tuning.configuration)
        raise UsageError(f"--resume {tuning.resume}: {name} is not what it was then")
    return state


def _conducted(prepared: Prepared, options: Options, written: Files) -> Outcome:
    with Progress(prepared.plan, Console(stderr=True)) as progress:
        return conduct(prepared, options, EngineGenerator(prepared.generators), progress, written)


def _fixed(measurer: Measurer, tuning: Tuning) -> Iterator[str]:
    """Yield the groups that the configuration itself keeps from being moved."""
    profile = measurer.arms[measurer.ground.program].profile
    why = dialects.of(profile).fixed(profile, "workers")
    if why is not None:
        tuning.left_out["workers"] = why
        yield "workers"


def _allowed(
    tuning: Tuning,
    grounds: Mapping[str, Ground],
    before: Mapping[str, Collection[str]],
    values: Values,
) -> bool:
    """Return whether a change can be written, and brings no fault that the linter calls grave."""
    ground = grounds[values.get(SERVER, next(iter(grounds)))]
    told, config = ground.steps(values), ground.config
    said, most = ", ".join(map(str, told)), tuning.db_connections
    if most is not None and (ground.places(values) or 0) > most:
        tuning.left_out[said] = f"more requests at once than --db-connections {most}"
        return False
    try:
        text = ground.edited([(step, ()) for step in told])
    except ProfileError as error:
        tuning.left_out[said] = str(error)
        return False
    after = judged(dialects.with_text(config, text))
    new = [
        each for each in after if each.severity in GRAVE and each.code not in before[ground.name]
    ]
    if new:
        tuning.left_out[said] = f"{new[0].code}: {new[0].message}"
    return not new


def _tell(tuning: Tuning, measurer: Measurer, step: str) -> None:
    """Say on standard error what comes next."""
    if step == "look":
        say(
            f"looking: {in_a_line(tuning.configuration)}, in {measurer.minutes:g} minutes", err=True
        )
    elif step == "race":
        best = max(measurer.attempts, key=lambda each: each.gain.mean)
        tried = counted(len(measurer.attempts), "change")
        say(f"{tried} tried; the best looked like {best.gain.ratio:.3g}x", err=True)
    elif step in {"proof", "minimal"}:
        say("proof: fresh trials of it beside yours", err=True)
    else:
        say("taken back: each change by itself", err=True)


def _write(found: Tuned, folder: Path, output: Path) -> Tuned:
    """Write what a tune leaves, and return it with the name of the file."""
    # First what cannot fail for a file that somebody else has put there meanwhile.
    write_text(folder / "effects.md", effects(found))
    if found.status == 0:
        found = _with_file(found, folder, output)
        write_text(folder / "tuned.diff", found.diff)
    return found


def _with_file(found: Tuned, folder: Path, output: Path) -> Tuned:
    """Write the better configuration; of another server beside the runs, by its usual name."""
    assert found.found.proven is not None
    ground = found.ground_of(found.found.proven.values)
    if ground is not found.ground:
        output = folder / TRANSLATORS[ground.program].file
        output.unlink(missing_ok=True)  # of a tune that is gone on with
    after = found.text(str(output))
    write_new(output, after)
    before, names = ground.config.texts[ground.config.file], (ground.config.file.name, output.name)
    return replace(found, written=str(output), diff=diff(before, after, names))
