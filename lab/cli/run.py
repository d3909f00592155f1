"""`lab run`: the comparison itself."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from lab.bench.load.ab import AbGenerator
from lab.bench.load.process import EngineGenerator
from lab.bench.trials.conduct import Options, Outcome, Prepared, conduct
from lab.bench.trials.progress import Progress
from lab.cli.options import Asked, Understood, carry_out, understand
from lab.cli.options.decorators import every_option, named_profiles
from lab.cli.report import FULL, judged, show
from lab.model.protocols import Generator
from lab.report.console import Console
from lab.report.edge import say
from lab.report.files import files


@click.command("run")
@named_profiles("locust")
@every_option
@FULL
def run_command(*, names: tuple[str, ...], full: bool, **given: Any) -> int:
    """
    Compare PROFILEs (default: the ladder and two reference lines) and write a run's folder.

    A PROFILE is a name that `lab list` prints, or a configuration of your own: a uWSGI ini
    (uwsgi.ini, uwsgi.ini:section), a gunicorn.conf.py, or a whole command in quotes ('granian
    --interface wsgi mysite.wsgi:app'). Yours is not changed: a private copy listens where the lab
    asks, and leaves out what would reach beyond it; `lab show PROFILE` prints that copy.

    The first one is the reference: it runs twice in every block, as the check on the machine.
    """
    asked = Asked(profiles=names, **given)
    understood = understand(asked)

    outcome = made(asked, understood)
    show(outcome.conclusion, outcome.folder, full=full, as_json=asked.json)
    say(f"Run folder: {outcome.folder}", err=asked.json)
    return judged(outcome.conclusion, quiet=asked.json)


def made(asked: Asked, understood: Understood) -> Outcome:
    """
    Make a run, with its progress on standard error.

    Args:
        asked: What was asked for.
        understood: What that means.

    Raises:
        LabError: The narrow one that says what ended it, or why it could not begin.
    """

    def conducted(prepared: Prepared, options: Options) -> Outcome:
        with Progress(prepared.plan, Console(stderr=True)) as progress:
            return conduct(prepared, options, _generator(asked, prepared), progress, files)

    return carry_out(asked, understood, conducted, partial(say, err=True))


def _generator(asked: Asked, prepared: Prepared) -> Generator:
    return AbGenerator() if asked.generator == "ab" else EngineGenerator(prepared.generators)
