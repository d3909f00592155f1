"""`lab list` and `lab check`: what there is to compare, and what to compare it on."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table

from lab import profiles
from lab.runs import fitness
from lab.runs.folder import encode


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
                    }
                    for each in found
                ]
            )
        )
        return 0
    table = Table(box=None, pad_edge=False)
    for title in ("Profile", "What it changes", "Against"):
        table.add_column(title)
    for each in found:
        if each.name not in ladder and found[found.index(each) - 1].name in ladder:
            table.add_row("", "", "")
        table.add_row(each.name, each.summary, each.against or "-")
    Console().print(table)
    click.echo(f"\nThe first {len(ladder)} are the ladder, which `lab run` compares by default.")
    return 0


@click.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check_command(*, as_json: bool) -> int:
    """Say whether this machine is fit to measure, and what each missing thing costs."""
    findings = fitness.check()
    if as_json:
        click.echo(encode(findings))
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("", "What", "Found", "What it costs, what to do"):
            table.add_column(title)
        for each in findings:
            table.add_row(*_check_row(each))
        Console().print(table)
    return 3 if any(each.level == "fail" for each in findings) else 0


def _check_row(finding: fitness.Check) -> tuple[str, str, str, str]:
    mark = {"ok": "ok", "warn": "[yellow]warn[/]", "fail": "[red]FAIL[/]"}[finding.level]
    note = "" if finding.level == "ok" else f"{finding.cost}. {finding.advice}"
    return mark, finding.name, finding.value, note
