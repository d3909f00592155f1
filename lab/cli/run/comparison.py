"""A run that was asked for on a command line, and its report."""

from __future__ import annotations

from functools import partial

from lab.bench.load.ab import AbGenerator
from lab.bench.load.process import EngineGenerator
from lab.bench.trials.conduct import Measurement, Outcome, PreparedRun, conduct
from lab.bench.trials.progress import Progress
from lab.cli.options.execution import CheckedJob, carry_out, understand
from lab.cli.options.table import Job
from lab.cli.report import judged, show
from lab.model.protocols import Generator
from lab.report.console import Console
from lab.report.edge import say
from lab.report.files import files


def compare(job: Job, *, full: bool) -> int:
    """Make a run, print its report, and return its exit status."""
    outcome = made(job, understand(job, may_slow=True))
    show(outcome.conclusion, outcome.folder, full=full, as_json=job.json)
    say(f"Run folder: {outcome.folder}", err=job.json)
    return judged(outcome.conclusion, quiet=job.json)


def made(job: Job, understood: CheckedJob) -> Outcome:
    """
    Make a run, with its progress on standard error.

    Args:
        job: What was asked for.
        understood: What that means.

    Raises:
        LabError: The narrow one that says what ended it, or why it could not begin.
    """

    def conduct_with_progress(prepared: PreparedRun, options: Measurement) -> Outcome:
        with Progress(prepared.plan, Console(stderr=True)) as progress:
            return conduct(prepared, options, _generator(job, prepared), progress, files)

    return carry_out(job, understood, conduct_with_progress, partial(say, err=True))


def _generator(job: Job, prepared: PreparedRun) -> Generator:
    return AbGenerator() if job.generator == "ab" else EngineGenerator(prepared.generators)
