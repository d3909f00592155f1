"""`lab selftest`: is the lab itself right?"""

from __future__ import annotations

from pathlib import Path

import click

from lab.report.console import Console
from studies.selftest.run import selftest


@click.command("selftest")
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option("--quick", is_flag=True, help="The clear-cut cases, two trials of each: two minutes.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write the result to this JSON file."
)
@click.option("--verbose", is_flag=True, help="Print the evidence, and the readings of each miss.")
def selftest_command(
    *, cases: tuple[str, ...], quick: bool, output: Path | None, verbose: bool
) -> int:
    """
    Measure servers with a fault built in, and count what the lab says of them.

    CASE is the name of a fault; or "bounds", what is said of servers that share
    a core with the load, against what they do on a core of their own.

    Exit status 1: it said something wrong; 3: too little could be
    judged (a busy machine, or cases that cannot be made here).
    """
    return selftest(quick=quick, names=cases, console=Console(), output=output, verbose=verbose)
