"""`lab list` and `lab check`: what there is to compare, and what to compare it on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

import click
from rich.console import Console
from rich.text import Text

from lab import profiles
from lab.claims.read import RUNS
from lab.model import Estimate, Profile
from lab.profiles.backing import find, missing, read
from lab.report.numbers import centre
from lab.report.terminal import columns
from lab.runs import fitness
from lab.runs.effects import effects
from lab.runs.folder import encode

LADDER = "Ladder, each against the one above it"
LINES = "Reference lines, what a server itself needs"
VARIATIONS = "Variations, each / the profile that it is against"
PEERS = "Peers, each / the profile that it is against"
"""Groups of profiles, as `lab list` prints them."""

BACKING = "Backing services, which applications ask"

MARKS = {"ok": ("ok", ""), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}
"""Level of a finding -> its word and its colour."""

INDENT = " " * 6

MEASURED = (
    "The ratios are of CPU per request, measured in this project's stored runs on one machine; ~ "
    "marks one that cannot be told from 1. `lab run NAME` measures yours. `lab run` compares the "
    "ladder and the reference lines by default."
)


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the profiles as JSON.")
def list_command(*, as_json: bool) -> int:
    """List the profiles: what each changes, and against which."""
    ladder = profiles.ladder()
    found = [profiles.read(name) for name in profiles.find()]
    found.sort(
        key=lambda each: (
            each.name not in ladder,
            bool(each.commands),
            ladder.index(each.name) if each.name in ladder else 0,
            each.name,
        )
    )
    measured = effects(RUNS, found)
    if as_json:
        click.echo(
            encode(
                [
                    {
                        "name": each.name,
                        "server": each.server,
                        "path": each.path,
                        "summary": each.summary,
                        "against": each.against,
                        "ladder": each.name in ladder,
                        "cpu": measured.get(each.name),
                    }
                    for each in found
                ]
            )
        )
        return 0
    width = columns(Console())
    groups = _grouped(found, ladder).items()
    shown = {title: [*_lines(group, ladder, measured)] for title, group in groups}
    for title, lines in (shown | {BACKING: _services()}).items():
        click.echo(f"{title}:")
        for line in lines:
            click.echo(line if len(line) <= width else f"{line[: width - 3]}...")
        click.echo()
    click.echo("\n".join(wrap(MEASURED, width)))
    return 0


def _grouped(found: Sequence[Profile], ladder: Sequence[str]) -> dict[str, list[Profile]]:
    """Return the profiles by what they are for, in the order in which they come."""
    groups: dict[str, list[Profile]] = {title: [] for title in (LADDER, LINES, VARIATIONS, PEERS)}
    for each in found:
        if each.name in ladder:
            groups[LADDER].append(each)
        elif each.reply is not None:
            groups[LINES].append(each)
        else:
            peer = each.path.is_relative_to(profiles.PEERS)
            groups[PEERS if peer else VARIATIONS].append(each)
    return {title: group for title, group in groups.items() if group}


def _lines(
    group: Sequence[Profile], ladder: Sequence[str], measured: Mapping[str, Estimate]
) -> Iterator[str]:
    """Yield a line for each profile: name, what it is against, its effect, what it changes."""
    names = [
        each.name
        if each.against is None or each.name in ladder or each.reply is not None
        else f"{each.name} / {each.against}"
        for each in group
    ]
    wide = max(map(len, names))
    for name, each in zip(names, group, strict=True):
        ratio = centre(measured[each.name]) if each.name in measured else ""
        yield f"  {name:<{wide}}  {ratio:>7}  {each.summary}"


def _services() -> list[str]:
    """Return a line for each backing service: what it is, or what it needs and is not here."""
    services = [read(path) for path in find()]
    wide = max(len(each.name) for each in services)
    return [f"  {each.name:<{wide}}  {missing(each) or each.summary}" for each in services]


@click.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check_command(*, as_json: bool) -> int:
    """Say whether this machine is fit to measure, and what each missing thing costs."""
    findings = fitness.check()
    if as_json:
        click.echo(encode(findings))
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
