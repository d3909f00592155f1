"""`lab migrate --measure`: the old and the new configuration, put to the test beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lab.analysis.conclusion import Conclusion
from lab.analysis.health import gravest
from lab.analysis.summary import Row, Summary
from lab.bench.machine import temporary
from lab.bench.trials.available import look
from lab.bench.trials.cores import assign_cores
from lab.cli.migrate.migration import Migration
from lab.cli.migrate.trial import Contrast, SideBySide
from lab.cli.options.execution import application, understand
from lab.cli.options.table import Job
from lab.cli.run.comparison import made
from lab.cli.startable import startable
from lab.cli.stress.faults import KILLS, SLOW
from lab.cli.stress.questions import QUESTIONS, Sighting, look_at
from lab.cli.stress.result import CONTROL, UNPROVED, Counts, FaultOutcome, StressResult
from lab.cli.stress.run import Wishes, arms_of, stress
from lab.cli.stress.text import banners, cell, felt, notes
from lab.errors import MissingError, UsageError
from lab.model.comparison import Verdict
from lab.model.document import Meaning
from lab.model.metric import METRICS
from lab.model.wording import in_a_line
from lab.model.workload import Workload
from lab.report.console import Console
from lab.report.edge import say
from lab.report.tables import ratio_cell, value_cell
from lab.report.warnings import with_status

METRICS_SHOWN = ("throughput", "cpu", "p99", "memory")
"""What the run is asked, in the order of the table."""

FACTS = {"processes": "processes under load", "threads": "threads of all processes under load"}
"""What the run has seen of each server -> in words."""

FAULTS = {
    CONTROL: "nothing done to it, under load",
    "kill": f"a worker killed under load, {KILLS} times",
    "drain": "stopped under load, by its stop signal",
    "reload": "SIGHUP under load",
    "slow-clients": f"{SLOW} slow clients beside the load",
    "accept-queue": "{queue} connections at once, each for {quick}",
}
"""Fault of `lab stress` -> the question that it answers."""

AT_THE_DOOR = (
    "requests in an ASGI application are counted as they enter it, so those that wait there for a "
    "thread of the framework count, too"
)

QUEUE = 500
"""Connections at once: five times uWSGI's default accept queue."""


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """What is put to the test, and how."""

    configuration: str
    """As it was typed."""
    migration: Migration
    """What it becomes, without what is to be left out."""
    job: Job
    """What was asked for beside it; its profiles are not known yet."""
    slow: str | None
    """A path whose reply takes long; None where none is named."""
    quick: str | None = None
    """A path whose reply takes no time; None for what else is asked."""

    @property
    def served(self) -> str:
        """What is served: MODULE:CALLABLE, empty where nothing says it."""
        return self.job.app or str(self.migration.translation.service.application or "")


def tried(trying: TrialSettings) -> SideBySide:
    """
    Return what was seen of both configurations: by a run, by faults, and by single questions.

    Raises:
        LabError: The narrow one that says why one of them could not be tried.
    """
    if not trying.served:
        problem = "names no application: --app MODULE:CALLABLE"
        raise UsageError(f"{in_a_line(trying.configuration)} {problem}")
    with temporary.folder() as folder:
        new = startable(trying.migration, trying.configuration, trying.job, folder)
        both = trying.configuration, *new.profiles
        job = replace(new, profiles=both, quick=True)
        wishes = Wishes(
            both, [*FAULTS][1:], application(job), quick=_quick(trying, job), queue=QUEUE
        )
        for name in both:
            if (missing := look(name, wishes.workload.runtime).missing) is not None:
                raise MissingError(f"{in_a_line(name)} {missing}")
        # First, so that a server which does not start is told of at once.
        say("part 1 of 3: single requests and signals", err=True)
        seen = _seen(wishes, trying)
        say("part 2 of 3: speed and memory", err=True)
        outcome = made(job, understand(job))
        say(f"Run folder: {outcome.folder}", err=True)
        say("part 3 of 3: faults under load", err=True)
        result = stress(wishes, Console(stderr=True), lambda _: None)
    summaries = outcome.conclusion.summaries
    quick = wishes.quick.target_text if wishes.quick else ""
    rows = (*_of_run(summaries[0]), *_of_faults(result, quick), *_of_questions(*seen))
    measured = gravest(outcome.conclusion.status, _unproved(result))
    remarks = (*_of_trials(outcome.conclusion.points[0]), *banners(result), *notes(result))
    remarks += (AT_THE_DOOR,) * (not trying.migration.translation.service.is_wsgi)
    return SideBySide(rows, remarks, str(outcome.folder), measured)


def _quick(trying: TrialSettings, job: Job) -> Workload:
    """Return what all clients ask at once: the path that is named for it, or what else is asked."""
    if trying.quick is None:
        return application(job)
    usual = Job()
    alone = {name: getattr(usual, name) for name in ("method", "data", "requests", "check")}
    return application(replace(job, **alone, status=usual.status, path=(trying.quick,)))


def _seen(wishes: Wishes, trying: TrialSettings) -> list[dict[str, Sighting]]:
    """Return the answers of both servers, fresh ones each."""
    cores = assign_cores()
    server_cores = cores[0] if cores else None
    return [dict(look_at(arm, server_cores, trying.slow, trying.served)) for arm in arms_of(wishes)]


def _of_run(summary: Summary) -> Iterator[Contrast]:
    """Yield what the run says: values, the ratio and its verdict."""
    before, after = summary.rows
    (step,) = (step for step in summary.steps if step.profile == after.profile.name)
    for name in METRICS_SHOWN:
        metric, comparison = METRICS[name], step.baseline.get(name)
        verdict = Verdict.INVALID if comparison is None else comparison.verdict
        cells = [value_cell(after, name)]
        cells += [ratio_cell(comparison)] * (verdict is not Verdict.INVALID)
        yield Contrast(
            metric.title if metric.unit in ("", "1/s") else f"{metric.title}, {metric.unit}",
            value_cell(before, name).text,
            "; ".join(table_cell.text for table_cell in cells),
            None if verdict in (Verdict.INCONCLUSIVE, Verdict.INVALID) else verdict.differs,
        )
    yield from (_of_fact(name, before, after) for name in FACTS)


def _of_trials(conclusion: Conclusion) -> Iterator[str]:
    """Yield what puts the run into doubt, and which of its trials do not count."""
    yield from map(with_status, conclusion.warnings)
    for row in conclusion.summary.rows:
        for tally in row.tallies:
            where = f"{tally.gate.name}, {tally.trials} of {row.total} trials"
            yield f"{row.profile.name}, {where}: {tally.example.reason}"


def _of_fact(name: str, before: Row, after: Row) -> Contrast:
    was, now = (row.facts.get(name, "-") for row in (before, after))
    return Contrast(FACTS[name], was, now, None if "-" in (was, now) else was != now)


def _of_faults(result: StressResult, quick: str) -> Iterator[Contrast]:
    """Yield what clients felt of each fault; *quick* is what they all ask at once."""
    for fault, words in FAULTS.items():
        question = words.format(queue=QUEUE, quick=quick)
        before, after = (result.outcome(profile.name, fault) for profile in result.profiles)
        felt = (_felt(before), _felt(after)) if before and after else (None, None)
        differs = None if None in felt else felt[0] != felt[1]
        yield Contrast(question, _in_words(before), _in_words(after), differs)


def _in_words(outcome: FaultOutcome | None) -> str:
    if outcome is not None and outcome.fault == "accept-queue" and outcome.burst is not None:
        return _at_once(outcome, outcome.burst)
    text = cell(outcome).text
    if outcome is not None and outcome.killed:
        text += f"; {outcome.replaced} of {outcome.killed} replaced"
    return text


def _at_once(outcome: FaultOutcome, burst: Counts) -> str:
    """Return what became of each connection, and of the load beside them where that was hurt."""
    refused = burst.errors.get("refused", 0)
    parts = {
        "right": burst.attempted - burst.lost - burst.wrong,
        "wrong": burst.wrong,
        "refused": refused,
        "without a reply": burst.lost - refused,
    }
    description = ", ".join(f"{number:,} {word}" for word, number in parts.items() if number)
    if burst.longest is not None:
        description += f", longest wait {burst.longest:.2f} s"
    if outcome.steady is not None and not outcome.steady.clean:
        description += f"; of the load beside them {felt(outcome.steady)}"
    return "; ".join(filter(None, (description, outcome.note)))


def _felt(outcome: FaultOutcome) -> tuple[Meaning, bool] | None:
    """Return what two outcomes differ by; None where nothing follows from one."""
    hurt = outcome.counts is not None and not outcome.counts.clean
    if outcome.counts is None or outcome.disturbed or not (outcome.effect or hurt):
        return None
    return cell(outcome).meaning, outcome.killed == outcome.replaced or outcome.killed is None


def _of_questions(before: dict[str, Sighting], after: dict[str, Sighting]) -> Iterator[Contrast]:
    """Yield the answers to each question that one of them was asked."""
    nothing = Sighting("not observed")
    for question in QUESTIONS:
        if question in before or question in after:
            sides = before.get(question, nothing), after.get(question, nothing)
            answers = [side.difference for side in sides]
            differs = None if None in answers else answers[0] != answers[1]
            yield Contrast(question, sides[0].text, sides[1].text, differs)


def _unproved(result: StressResult) -> int:
    """Return 3 where a fault could not be told from what the machine does, or did not run."""
    failed = any(
        outcome.possible and outcome.counts is None
        for profile in result.profiles
        for outcome in profile.outcomes
    )
    unproved = result.dirty() or result.uncontrolled() or result.disturbed() or failed
    return UNPROVED if unproved else 0
