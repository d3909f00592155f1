"""
A run's folder: what was asked, and every trial as it ended.

    results/20261121-101500-fib/
        run.json         plan with resolved profiles, seed, environments, the command
        trials.ndjson    one line a trial, appended and flushed as it ends
        NAME.log         all that a server printed which did not start, the last such one
        summary.json     derived from the two at the end of a run, never read back
        report.md        the same in Markdown

Only whole lines count: a line torn by a crash is the last one, and is left out. `run.json` is
written to a second file and renamed, so that it is never half there.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, fields, make_dataclass, replace
from pathlib import Path
from typing import IO, Any, ClassVar, Protocol, TypeVar, get_type_hints

import msgspec

from lab.bench.machine import project
from lab.bench.store.encoding import builtins, decode, encode
from lab.bench.store.flat import flatten, nest
from lab.bench.store.journal import header_problem, trial_contradictions
from lab.errors import ResultsError, ServerStartError, UsageError
from lab.model.bounds import Count, Instant
from lab.model.measurement import Run, Trial
from lab.model.plan import Arm, CounterRun, Plan, Role, Slot

FORMAT = 3
"""Version of the folder's format, the only one that the lab reads."""

LAST_READER = {1: "0.2.0", 2: "0.2.0"}
"""Earlier format -> the last version of the lab that reads it."""

LARGEST = 256 << 20
"""Bytes of the largest file that is read; of the stored runs the largest has 3 MB."""

MOST_SHOWN = 5
"""Names of runs that a message lists."""

T = TypeVar("T")


class StoredFile(Protocol):
    """A dataclass that has a file of its own: see `read_json`."""

    FORMAT: ClassVar[int]
    """Version that is written, the only one that is read."""
    WHAT: ClassVar[str]
    """What it is, for messages: "result of a self-test"."""

    @property
    def format(self) -> int:
        """Version of the file that it was read from."""


S = TypeVar("S", bound=StoredFile)


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The content of `run.json`."""

    format: int
    command: str
    generator: str
    started_at: Instant
    """POSIX seconds."""
    plan: Plan
    environments: Mapping[str, Mapping[str, Any]]
    skipped: Mapping[str, str]
    counters: tuple[CounterRun, ...] = ()
    ended: bool = False
    """Of a run of minutes: whether it ended by itself. Written at its end."""
    hosts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """A slot as a line of `trials.ndjson` has it: its arm is written once, in `run.json`."""

    block: Count
    """From 0."""
    position: Count
    """Within the block, from 0."""
    arm: str
    """Name of an arm of `run.json`."""
    role: Role
    """"a/a" is the second run of the plan's reference, "counter" the arm of a counter-run."""


_KINDS = get_type_hints(Trial, include_extras=True) | {"slot": Place}

TrialLine = make_dataclass(
    "TrialLine",
    [(field.name, _KINDS[field.name], copy(field)) for field in fields(Trial)],
    frozen=True,
    slots=True,
    namespace={"__module__": __name__, "__doc__": Trial.__doc__},
)
"""A line of `trials.ndjson`: a `lab.model.measurement.Trial` whose slot is a `Place`."""


class RunWriter:
    """Writes one run; every trial is on disk before the next one starts."""

    def __init__(self, results: Path, header: RunHeader) -> None:
        """
        Make a new folder under *results*; `write_header` makes it the folder of a run.

        Raises:
            ResultsError: It cannot be written.
        """
        self.header = header
        try:
            self.folder = new_folder(results, header.plan.workload.name, header.started_at)
            self._trials: IO[bytes] = (self.folder / "trials.ndjson").open("ab", buffering=0)
        except OSError as error:
            problem = f"cannot be written: {error.strerror}; give another folder with --results"
            raise ResultsError(results, problem) from error

    def append(self, trial: Trial) -> None:
        """
        Add *trial* and hand it to the disk.

        Raises:
            ResultsError: It could not be written whole; the earlier trials are intact.
        """
        line = encode_trial(trial) + b"\n"
        size = self._trials.tell()
        try:
            written = self._trials.write(line)
            os.fsync(self._trials.fileno())
        except OSError as error:
            self._trials.truncate(size)
            raise ResultsError(
                self._trials.name, f"{error.strerror}; the trials before this one are intact"
            ) from error
        if written != len(line):  # the disk took what it had left
            self._trials.truncate(size)
            raise ResultsError(
                self._trials.name, "the disk is full; the trials before this one are intact"
            )

    @property
    def has_trials(self) -> bool:
        """Whether a trial is in the file, also one whose `append` a signal has interrupted."""
        return os.fstat(self._trials.fileno()).st_size > 0

    def write_header(self, **changes: Any) -> None:
        """
        Write `run.json`, with *changes* to the header.

        Raises:
            ResultsError: It cannot be written; an old one stands.
        """
        self.header = replace(self.header, **changes)
        _write_lines(self.folder / "run.json", encode_header(self.header))

    def close(self) -> None:
        """Close the file; the folder stays."""
        self._trials.close()

    def discard(self) -> None:
        """Remove the folder of a run that has measured nothing."""
        self.close()
        for path in self.folder.iterdir():
            path.unlink()
        self.folder.rmdir()

    def write_text(self, name: str, text: str) -> None:
        """
        Write a derived file such as `report.md`, whole or not at all.

        Raises:
            ResultsError: It cannot be written.
        """
        write_text(self.folder / name, text)


def write_text(path: Path, text: str) -> None:
    """
    Write a file whole or not at all; what is no file, such as /dev/stdout, is written to as it is.

    Raises:
        ResultsError: It cannot be written.
    """
    draft = path.with_name(path.name + ".part")
    try:
        if path.exists() and not path.is_file():  # a rename would put a file in its place
            path.write_text(text, encoding="utf-8")
            return
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ResultsError(path, f"cannot be written: {error.strerror}") from error


def keep_log(folder: Path, error: ServerStartError) -> None:
    """Write the log of a server that did not start into *folder*; without room, *error* has it."""
    if not error.log:
        return
    path = folder / f"{error.profile}.log"
    with suppress(ResultsError, OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_text(path, error.log)
        error.kept = path


def write_json(path: Path, value: object) -> None:
    """
    Write *value*, made of dataclasses, for people to read as well; whole or not at all.

    Raises:
        ResultsError: It cannot be written.
    """
    _write_lines(path, encode(value))


def _write_lines(path: Path, content: bytes) -> None:
    """Write JSON, an item a line."""
    write_text(path, msgspec.json.format(content, indent=1).decode() + "\n")


def read_json(path: Path, kind: type[S]) -> S:
    """
    Read a file that holds one value, written by `write_json`.

    Raises:
        ResultsError: It cannot be read, or is none of that kind or of another version.
    """
    value = decode(_read(path), kind, path, problem=f"is no {kind.WHAT}")
    if value.format != kind.FORMAT:
        raise ResultsError(path, f"has format {value.format}; this lab reads {kind.FORMAT}")
    return value


def read_run(folder: Path) -> Run:
    """
    Read a run back.

    A last line without its end was torn by a crash and is left out.

    Raises:
        ResultsError: Something is missing, damaged, or of another version; with file and line.
    """
    path = folder / "run.json"
    content = decode(_read(path), dict, path)
    version = content.get("format")
    if version != FORMAT:
        raise ResultsError(path, _refusal(version))
    with suppress(KeyError, TypeError, AttributeError):  # `decode` says what is damaged
        nest(content)
    header = decode(encode(content), RunHeader, path)
    if problem := header_problem(header.plan, header.skipped, header.environments):
        raise ResultsError(path, f"damaged: {problem}")
    arms = {(arm.name, arm.role): arm for arm in header.plan.block}
    arms |= {(counter.arm.name, Role.COUNTER): counter.arm for counter in header.counters}
    path = folder / "trials.ndjson"
    *lines, _torn = _read(path).split(b"\n")
    trials = tuple(_trial(line, arms, path, number) for number, line in enumerate(lines, 1))
    for number, problem in trial_contradictions(trials, header.plan, header.environments):
        raise ResultsError(path, f"damaged: {problem}", number)
    return run_of(header, folder.resolve().name, trials)


def _refusal(version: object) -> str:
    """Return why a run of another format is not read, and what to do."""
    reader = LAST_READER.get(version) if isinstance(version, int) else None
    remedy = (
        f"Read it with version {reader} of the lab, or run it again" if reader else "Run it again"
    )
    return f"is a run of format {version!r}; this lab reads format {FORMAT}. {remedy}."


def _trial(line: bytes, arms: Mapping[tuple[str, Role], Arm], path: Path, number: int) -> Trial:
    read: Any = decode(line, TrialLine, path, number)
    place: Place = read.slot
    arm = arms.get((place.arm, place.role))
    if arm is None:
        wrong = " as the A/A arm" if (place.arm, Role.PROFILE) in arms else ""
        raise ResultsError(path, f"damaged: run.json has no profile {place.arm}{wrong}", number)
    parts = {field.name: getattr(read, field.name) for field in fields(Trial)}
    return Trial(**parts | {"slot": Slot(place.block, place.position, arm)})


def run_of(header: RunHeader, name: str, trials: Iterable[Trial]) -> Run:
    """Return what *header* and *trials* say, as it would be read back from the folder *name*."""
    return Run(
        name=name,
        command=header.command,
        plan=header.plan,
        environments=header.environments,
        trials=tuple(trials),
        skipped=header.skipped,
        generator=header.generator,
        counters=header.counters,
        ended=header.ended,
        hosts=header.hosts,
    )


def find_run(results: Path, name: str) -> Path:
    """
    Return the folder of a run: a path, a folder's name under *results*, or "latest".

    Raises:
        ResultsError: "latest" is asked for, and there is no run.
        UsageError: There is no run of that name.
    """
    if name == "latest":
        runs = sorted(path.parent for path in results.glob("*/run.json"))
        if not runs:
            raise ResultsError(results, f"holds no run yet; {_how_to_make()}")
        return runs[-1]
    for folder in (Path(name), results / name):
        if (folder / "run.json").is_file():
            return folder
    if Path(name).exists():
        raise UsageError(f"{name}: is no run's folder: it has no run.json")
    latest = sorted(path.parent.name for path in results.glob("*/run.json"))[: -MOST_SHOWN - 1 : -1]
    hint = f"the latest there: {', '.join(latest)}" if latest else _how_to_make()
    raise UsageError(f"{name}: there is no such run, neither here nor in {results}; {hint}")


def _how_to_make() -> str:
    return f"make one with: {project.lab_command()} run --quick"


def encode_header(header: RunHeader) -> bytes:
    """Return *header* as `run.json` has it, in one line."""
    return encode(flatten(builtins(header)))


def encode_trial(trial: Trial) -> bytes:
    """Return *trial* as a line of `trials.ndjson` has it, without the line's end."""
    slot = trial.slot
    place = Place(slot.block, slot.position, slot.arm.name, slot.arm.role)
    parts = {field.name: getattr(trial, field.name) for field in fields(Trial)}
    return encode(TrialLine(**parts | {"slot": place}))


def _read(path: Path) -> bytes:
    try:
        # Without waiting, as for who writes to a named pipe.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ResultsError(path, "is no regular file")
            if status.st_size > LARGEST:
                raise ResultsError(path, f"is larger than {LARGEST >> 20} MiB, so it is not read")
            return file.read()
    except OSError as error:
        raise ResultsError(path, f"cannot be read: {error.strerror}") from error


def new_folder(results: Path, workload: str, started_at: float) -> Path:
    """Make the folder of a run; two labs that start in the same second get one each."""
    results.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(started_at))
    label = "".join(c if c.isalnum() or c in "._" else "-" for c in workload)
    for suffix in ("", *(f"-{number}" for number in range(2, 100))):
        folder = results / f"{stamp}-{label}{suffix}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise ResultsError(results, f"holds 99 runs that began at {stamp}")
