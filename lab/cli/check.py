"""`lab check`: whether this machine is fit to measure."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

import click
from rich.text import Text

from lab.report.console import Console
from lab.report.edge import say_json
from lab.report.terminal import columns
from lab.runs import fitness
from lab.runs.as_json import encode

MARKS = {"ok": ("ok", ""), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}
"""Level of a finding -> its word and its colour."""

INDENT = " " * 6


@click.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check_command(*, as_json: bool) -> int:
    """Say whether this machine is fit to measure, and what each missing thing costs."""
    findings = fitness.check()
    if as_json:
        say_json(encode(findings))
    else:
        console = Console()
        wide = max(len(each.name) for each in findings)
        for each in findings:
            for line in _check_lines(each, wide, columns(console)):
                console.print(line, highlight=False, soft_wrap=True)
    return 3 if any(each.level == "fail" for each in findings) else 0


def _check_lines(finding: fitness.Check, wide: int, width: int) -> Iterator[Text]:
    """
    Yield the finding, and below it what it costs and what to do.

    A command has a line of its own, however long: whoever copies it gets all of it.
    """
    mark, style = MARKS[finding.level]
    yield Text.assemble((f"{mark:<4}", style), f"  {finding.name:<{wide}}  {finding.value}")
    if finding.level == "ok":
        return

    def folded(text: str) -> Iterator[Text]:
        return map(Text, wrap(text, width, initial_indent=INDENT, subsequent_indent=INDENT))

    yield from folded(f"{finding.cost}.")
    for number, part in enumerate(finding.advice.split("`")):
        if number % 2:  # between two backticks
            yield Text(f"{INDENT}  {part}")
        elif (text := part.strip(" ,;")) not in ("", "."):
            yield from folded(text)
