"""
`lab claims --run`: the runs that the open claims need, one after another.

Nothing is kept but the runs themselves: which claims are open is read from them each time.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.analysis.health import gravest
from lab.analysis.summary import Summary
from lab.analysis.sweep_values import exit_code
from lab.bench.store.environment import split_cores
from lab.bench.store.folder import read_run
from lab.bench.trials.available import look_at_all, unserved
from lab.bench.trials.conduct import prepare, repeatable
from lab.bench.trials.plan import estimate
from lab.bench.trials.rates import CAPACITY_BLOCKS
from lab.cli.options.execution import CheckedJob, application, understand
from lab.cli.options.table import Job
from lab.cli.run.comparison import made
from lab.errors import Interrupted, LabError, ProfileError, ResultsError, UsageError
from lab.model.numbers import percent
from lab.model.wording import counted
from lab.model.workload import Workload
from lab.report.edge import say
from studies import articles
from studies.articles import show
from studies.articles.batches import Batch
from studies.articles.claim import Claim, ClaimVerdict
from studies.articles.conditions import unsound
from studies.articles.lock import locked

RESULTS = Job().results
"""Where runs are made, unless somebody says."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was said of the runs that are to be made."""

    results: Path
    """Where they are looked for and made."""
    budget: float
    """Seconds for all of them."""
    blocks: int | None = None
    """None for as many as `lab run` makes."""
    smallest: float | None = None
    """Share that each run has to be able to tell from noise; None for what `lab run` wants."""
    server_cores: str | None = None
    generator_cores: str | None = None

    def asked(self, batch: Batch) -> Job:
        """Return one of the runs."""
        return replace(
            self._alike(),
            profiles=batch.profiles,
            workload=batch.workload,
            connections=batch.connections,
            rate=batch.rate,
        )

    def command(self, batch: Batch) -> tuple[str, ...]:
        """Return the command that makes one of the runs by itself."""
        options = {
            "--blocks": self.blocks,
            "--smallest": None if self.smallest is None else percent(self.smallest),
            "--server-cores": self.server_cores,
            "--generator-cores": self.generator_cores,
            "--results": None if self.results == RESULTS else self.results,
        }
        more = (
            word for name, value in options.items() if value is not None for word in (name, value)
        )
        return (sys.argv[0], "run", *batch.words, *map(str, more))

    def sizes(self) -> tuple[int, int]:
        """
        Return the blocks of each run, and the cores of its servers.

        Raises:
            UsageError: No run can be made so.
        """
        options = understand(self._alike()).options
        cores = options.cores or split_cores()
        usable = len(cores[0]) if cores else len(os.sched_getaffinity(0))
        return options.sizes.blocks, usable

    def _alike(self) -> Job:
        """Return what is asked of every run."""
        return Job(
            blocks=self.blocks,
            smallest=self.smallest,
            server_cores=self.server_cores,
            generator_cores=self.generator_cores,
            results=self.results,
        )


class Ledger:
    """The claims, and what runs say to them: the stored ones, and those of a folder."""

    def __init__(self, results: Path) -> None:
        self.claims = articles.load()
        self.own: list[Summary] = []
        """What the runs of the folder found, also those that ended early or were too noisy."""
        self._results = results
        self._known: set[Path] = set()
        self._stored = self._found(articles.stored_runs())
        self.read()

    def read(self) -> None:
        """Read the runs that are new in the folder."""
        self.own += self._found(sorted(path.parent for path in self._results.glob("*/run.json")))

    def verdicts(self) -> tuple[ClaimVerdict, ...]:
        """Return what all runs and tests say; of the folder's runs, those that decide anything."""
        sound = [summary for summary in self.own if not unsound(summary)]
        return articles.by_summaries([*self._stored, *sound], self.claims)

    def _found(self, folders: Iterable[Path]) -> list[Summary]:
        """Return what new runs found; one that cannot be read is left out, with a word."""
        runs = []
        for folder in folders:
            if folder.resolve() in self._known:
                continue
            self._known.add(folder.resolve())
            try:
                runs.append(read_run(folder))
            except ResultsError as error:
                say(f"left out: {error}", err=True)
        return articles.relevant([run for run in runs if run.trials], self.claims)


@dataclass(frozen=True, slots=True)
class Ready:
    """A run that can be made here."""

    batch: Batch
    asked: Job
    understood: CheckedJob
    seconds: float
    """How long it should take, with the capacity that a share of it needs."""

    def fits(self, left: float) -> bool:
        """Return whether it should end within *left* seconds: as long as it is announced to be."""
        return min(self.seconds, _rounded(self.seconds)) <= left

    def __str__(self) -> str:
        _, *words = self.understood.options.command
        return f"{shlex.join(('lab', *words))} (about {_time(self.seconds)})"


def make_runs(wanted: Wanted) -> int:
    """
    Make the runs that the open claims need, as far as there is time; return the exit status.

    However it ends, what was decided and what is left is printed.

    Raises:
        UsageError: No run can be made so, or not there.
        Interrupted: A signal ended the present run.
    """
    sizes = wanted.sizes()
    with locked(wanted.results):
        return _made(wanted, *sizes)


def _made(wanted: Wanted, blocks: int, cores: int) -> int:
    """Make the runs, of so many blocks and server cores: see `make_runs`."""
    ledger = Ledger(wanted.results)
    before = ledger.verdicts()
    say(show.counts(before))
    claims, _ = articles.due(before, ledger.own, blocks=blocks, cores=cores)
    ready, missing = plan(claims, wanted)
    for line in _announced(ready, wanted.budget):
        say(line)
    try:
        return _in_time(ready, wanted.budget)
    finally:
        ledger.read()
        now = ledger.verdicts()
        claims, why = articles.due(now, ledger.own, blocks=blocks, cores=cores)
        for line in _closing(before, now, missing | why):
            say(line)
        for line in _remaining(_left(ready, claims), wanted.budget):
            say(line)


def plan(claims: Iterable[Claim], wanted: Wanted) -> tuple[list[Ready], dict[str, str]]:
    """Return the runs for these claims, and by its id why another claim cannot be asked here."""
    ready: list[Ready] = []
    why: dict[str, str] = {}
    for batch in articles.batches(claims):
        subject = application(wanted.asked(batch))
        absent = _absent(batch, subject)
        why |= {
            claim.id: f"profile {name} {absent[name]}"
            for claim in batch.claims
            for name in (claim.changed, claim.reference)
            if name in absent
        }
        left = tuple(claim for claim in batch.claims if claim.id not in why)
        if not left:
            continue
        try:
            ready.append(_ready(Batch(left), wanted, subject))
        except (ProfileError, UsageError) as error:  # such as a backing service that is missing
            why |= {claim.id: str(error) for claim in left}
    return ready, why


def _absent(batch: Batch, subject: Workload) -> dict[str, str]:
    """Return why each profile of a batch cannot be asked here that cannot: as `lab list` says."""
    pairs = (
        (installation.profile, installation.missing) for installation in look_at_all(batch.profiles)
    )
    reasons = ((profile, missing or unserved(profile, subject)) for profile, missing in pairs)
    return {profile.name: reason for profile, reason in reasons if reason is not None}


def _ready(batch: Batch, wanted: Wanted, subject: Workload) -> Ready:
    """Return the run of a batch; raises what `prepare` does."""
    job = wanted.asked(batch)
    understood = understand(job)
    options = replace(understood.options, command=wanted.command(batch))
    prepared = prepare(options, subject)
    seconds = prepared.seconds
    if any(rate.is_share for rate in understood.rates):
        blocks = min(CAPACITY_BLOCKS, prepared.plan.blocks)
        seconds += estimate(replace(prepared.plan, blocks=blocks))
    return Ready(batch, job, replace(understood, options=options), seconds)


def _in_time(ready: Sequence[Ready], budget: float) -> int:
    """Make what fits into *budget* seconds; return the gravest exit status of what was made."""
    began, status, left = time.monotonic(), 0, budget
    for number, ready_run in enumerate(ready, 1):
        if not ready_run.fits(left):
            continue
        say(f"\n{number} of {len(ready)}: {ready_run}", err=True)
        try:
            outcome = made(ready_run.asked, ready_run.understood)
        except Interrupted:
            raise
        except LabError as error:  # the next one may do better
            say("lab: " + "\n".join(error.lines), err=True)
            status = gravest(status, 3 if error.exit_code == 3 else 1)
        else:
            run_status = exit_code(outcome.conclusion.summaries)
            status = gravest(status, run_status)
            decides = ": it decides no claim" if run_status == 3 else ""
            say(f"Run folder: {outcome.folder}, exit status {run_status}{decides}", err=True)
        left = budget - (time.monotonic() - began)
    return status


def _left(ready: Iterable[Ready], claims: Sequence[Claim]) -> list[Ready]:
    """Return the runs that claims still ask for."""
    return [
        ready_run for ready_run in ready if any(claim in claims for claim in ready_run.batch.claims)
    ]


def _announced(ready: Sequence[Ready], budget: float) -> Iterator[str]:
    """Yield what is going to be made."""
    if not ready:
        yield "No run is made: none that can be made here would decide an open claim."
        return
    whole = _time(sum(ready_run.seconds for ready_run in ready))
    number = counted(len(ready), "run")
    yield f"{number} for open claims, about {whole}; {_time(budget)} may be used:"
    yield from _listed(ready)


def _closing(
    before: Sequence[ClaimVerdict],
    now: Sequence[ClaimVerdict],
    why: Mapping[str, str],
) -> Iterator[str]:
    """Yield what was decided, and what no run decides here."""
    yield f"\nBefore: {show.counts(before)}"
    yield f"Now:    {show.counts(now)}"
    if newly := show.newly(before, now):
        yield "\nDecided:"
        yield from (f"  {show.in_a_line(verdict)}" for verdict in newly)
    if why:
        yield "\nOpen, and no run is made for it:"
        for reason in dict.fromkeys(why.values()):
            yield f"  {', '.join(name for name in why if why[name] == reason)}: {reason}"


def _remaining(left: Sequence[Ready], budget: float) -> Iterator[str]:
    """Yield the runs that are left, and how to go on."""
    if not left:
        return
    yield f"\nLeft, {counted(len(left), 'run')}:"
    yield from _listed(left)
    if any(ready_run.fits(budget) for ready_run in left):
        yield f"\nGo on with: {repeatable(sys.argv)}"
    else:
        yield f"\nNone of them fits into {_time(budget)}: --budget gives more."


def _listed(runs: Iterable[Ready]) -> Iterator[str]:
    """Yield each run and, below it, the claims that it would decide."""
    for ready_run in runs:
        yield f"  {ready_run}"
        yield f"    {', '.join(claim.id for claim in ready_run.batch.claims)}"


def _time(seconds: float) -> str:
    """
    Return a time as precise as an estimate is.

    >>> _time(40), _time(250)
    ('40 s', '4 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _rounded(seconds: float) -> float:
    """Return a time as `_time` writes it, in seconds."""
    return round(seconds) if seconds < 90 else 60 * round(seconds / 60)
