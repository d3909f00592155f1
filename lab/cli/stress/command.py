"""`lab stress`: what do clients feel when something goes wrong?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from lab.bench.store.folder import write_json, write_text
from lab.bench.trials.same_application import any_is_users_own
from lab.bench.workloads import refuse_without_app
from lab.cli.options.decorators import named_profiles, shared_option, shared_options
from lab.cli.options.execution import application
from lab.cli.options.runtime import runtime, with_private_copy
from lab.cli.options.table import Job
from lab.cli.outputs import OUTPUT
from lab.cli.stress.faults import FAULTS
from lab.cli.stress.result import StressResult
from lab.cli.stress.run import PROFILES, RATE, WAITING, Wishes, stress
from lab.cli.stress.text import document
from lab.cli.types import number
from lab.errors import Interrupted, ResultsError, UsageError
from lab.model.wording import counted
from lab.model.workload import Workload
from lab.report import terminal
from lab.report.console import Console
from lab.report.drawing import load_matplotlib
from lab.report.edge import say

STARTED = ("cwd", "python", "uwsgi", "env", "env_file")
"""Options of `lab run` that say what every server is started with."""

COPIED = ("keep", "drop")
"""Those that say what stays in the private copy of a configuration, and what does not."""

ASKED = ("path", "method", "data", "header", "cookie", "requests", "static", "writes", "host")
"""Those that say what is asked of an application of the user's."""

JUDGED = ("status", "check")
"""Those that say what its right replies are."""


@click.command("stress", epilog=f"Faults: {', '.join(fault.name for fault in FAULTS)}.")
@click.option(
    "--fault", "faults", multiple=True, metavar="NAME", help="Only this fault; may be repeated."
)
@click.option("--rate", type=number(1, 1000), default=RATE, help="Requests per second.")
@shared_option(
    "app",
    help="Your WSGI or ASGI application.",
    shown="one that waits 12 ms, or 100 ms in event loops",
)
@shared_options("chdir", *STARTED, *COPIED, "front")
@shared_option("path", help="Request target; several make a mix.", shown="/ with --app")
@shared_options(*ASKED[1:], *JUDGED)
@click.option(
    "--require",
    multiple=True,
    metavar="PROFILE",
    help="Profile that must not lose a request or send a wrong reply under any fault: exit with "
    "99 if it does, and with 3 if a fault had no effect or is not possible; may be repeated.",
)
@click.option("--output", type=OUTPUT, help="Write the result to this JSON file.")
@click.option("--figure", type=OUTPUT, help="Write a chart over time to this SVG file.")
@named_profiles("`lab run`")
def stress_command(
    *,
    names: tuple[str, ...],
    faults: tuple[str, ...],
    rate: float,
    require: tuple[str, ...],
    output: Path | None,
    figure: Path | None,
    **given: Any,
) -> int:
    """
    Cause faults in PROFILEs under a steady load, and count lost, late and wrong replies.

    Default: production tuned baseline. Each fault has a new server and takes about ten seconds.
    Exit status 3: requests were lost, late or wrong without any fault, so the effect of faults is
    unknown; the other faults of that profile are left out.
    """
    names = names or PROFILES
    for name in require:
        if name not in [Path(name).stem for name in names]:
            raise UsageError(f"--require {name}: it is none of {', '.join(names)}")
    subject = _subject(Job(profiles=names, **given))
    files = _Files(output, figure)
    wishes = Wishes(profiles=names, faults=faults, workload=subject, rate=rate, required=require)
    try:
        result = stress(wishes, Console(stderr=True), files.keep)
    except Interrupted as error:
        error.kept = files.kept
        raise
    files.keep(result)
    for trial in result.untried(require, faults):
        say(f"--require: {trial} is not possible, so it was not tested", err=True)
    return result.status(require, faults)


def _subject(job: Job) -> Workload:
    """Return what is asked: of the user's application, or of one of ours that waits."""
    if job.app is not None or any_is_users_own(job.profiles):
        return application(job, partial(say, err=True))
    options = {name: getattr(job, name) or None for name in ("chdir", *ASKED, *JUDGED)}
    refuse_without_app(**options)
    started = runtime(**{name: getattr(job, name) for name in STARTED})
    return replace(WAITING, runtime=with_private_copy(started, job.keep, job.drop))


class _Files:
    """Writes the files that are asked for, and knows what there is of a test that ends early."""

    def __init__(self, output: Path | None, figure: Path | None) -> None:
        self.kept = "no trial had finished"
        self._writers = [
            (file, put) for file, put in ((output, write_json), (figure, _draw)) if file
        ]

    def keep(self, result: StressResult) -> None:
        """
        Write each file, whatever becomes of the other, and show the table.

        Raises:
            ResultsError: A file could not be written; where neither could, the second is a note.
        """
        written, errors = [], []
        for file, put in self._writers:
            try:
                put(file, result)
                written.append(file)
            except ResultsError as error:
                errors.append(error)
        self.kept = _kept(result, written)
        try:
            # Last: its reader may have gone, or its disk be full.
            terminal.show_document(document(result), Console())
        finally:
            for other in errors[1:]:
                errors[0].add_note(f"lab: {other}")
            if errors:
                raise errors[0]


def _draw(file: Path, result: StressResult) -> None:
    # matplotlib takes half a second to import, and only this needs it.
    load_matplotlib()
    from lab.cli.stress.figure import svg  # noqa: PLC0415

    write_text(file, svg(result))


def _kept(result: StressResult, written: Sequence[Path]) -> str:
    """Return what there is of a test that was ended early."""
    number = sum(outcome.made for profile in result.profiles for outcome in profile.outcomes)
    where = f"written to {' and '.join(map(str, written))}" if written else "only shown above"
    hint = "" if written else " (no --output)"
    return f"{counted(number, 'trial')} finished, {where}{hint}"
