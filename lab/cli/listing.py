"""`lab list`: what there is to compare, and to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

import click

from lab.bench import profiles, workloads
from lab.bench.machine import project
from lab.bench.profiles.backing import find, missing, read
from lab.bench.store.effects import effects
from lab.bench.store.encoding import encode
from lab.bench.trials.available import Installation, look_at_all, version_number
from lab.errors import ProfileError, WorkloadError
from lab.model.comparison import Estimate
from lab.model.numbers import centre
from lab.report.edge import page_width, say, say_json

LADDER = "Ladder, each against the one above it"
LINES = "Reference lines, what a server itself needs"
VARIATIONS = "Variations"
PEERS = "Peers"
WORKLOADS = "Workloads, for --workload"
BACKING = "Backing services, which applications ask"
"""Groups of what `lab list` prints."""

MEASURED = (
    "CPU: CPU per request, against the profile that is named or stands above, so 0.5x is half; "
    "~: the interval contains 1. The figures are those of docs/reference/profiles.md: stored runs, "
    "the server on one core. `lab run NAME` measures yours; `lab run` alone compares the ladder "
    "and the reference lines."
)

BESIDE = 33
"""Columns that a description takes beside its name; where there are fewer, it stands below."""


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the profiles as JSON.")
def list_command(*, as_json: bool) -> int:
    """List the profiles, with what each one changes, and the workloads."""
    ladder = profiles.ladder()
    unreadable: list[ProfileError] = []
    installations = look_at_all(profiles.find(), unreadable.append)
    installations.sort(
        key=lambda installation: (
            installation.profile.name not in ladder,
            bool(installation.profile.commands),
            ladder.index(installation.profile.name) if installation.profile.name in ladder else 0,
            installation.profile.name,
        )
    )
    measured = effects(project.runs(), [installation.profile for installation in installations])
    if as_json:
        say_json(
            encode(
                [
                    {
                        "name": installation.profile.name,
                        "server": installation.profile.server,
                        "path": installation.profile.path,
                        "summary": installation.profile.summary,
                        "against": installation.profile.against,
                        "ladder": installation.profile.name in ladder,
                        "cpu": measured.get(installation.profile.name),
                        "version": installation.version or None,
                        "missing": installation.missing,
                    }
                    for installation in installations
                ]
            )
        )
        return _failed(unreadable)
    width = page_width()
    say("\n".join(wrap(MEASURED, width)))
    for title, group in _grouped(installations, ladder).items():
        rows = [*_rows(group, ladder, measured)]
        against = any(" / " in name for name, *_ in rows)
        heads = ("PROFILE / AGAINST" if against else "PROFILE", "CPU", "VERSION", "WHAT IT CHANGES")
        _say_table(title, heads, rows, width)
    _say_table(WORKLOADS, ("WORKLOAD", "WHAT IS ASKED"), [*_workloads()], width)
    _say_table(BACKING, ("SERVICE", "WHAT IT IS"), _services(), width)
    return _failed(unreadable)


def _failed(unreadable: Sequence[ProfileError]) -> int:
    """Print why profiles are not in the list, and return the exit status."""
    for problem, number in Counter(map(str, unreadable)).items():
        of = f"{number} profiles " if number > 1 else ""  # they include the one with the mistake
        say(f"lab: {of}not listed: {problem}", err=True)
    return int(bool(unreadable))


def _say_table(
    title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], width: int
) -> None:
    """Print a table; an empty column is left out, and a last cell that is long wrapped."""
    kept = [number for number, column in enumerate(zip(*rows, strict=True)) if any(column)]
    wides = [max(len(row[number]) for row in (heads, *rows)) for number in kept[:-1]]
    indent = 2 + sum(wides) + 2 * len(wides)
    beside = width - indent >= BESIDE
    say(f"\n{title}:")
    for row in (heads, *rows):
        *cells, last = (row[number] for number in kept)
        line = "  " + "".join(f"{cell:<{wide}}  " for cell, wide in zip(cells, wides, strict=True))
        if beside:
            say("\n".join(wrap(last, width, initial_indent=line, subsequent_indent=" " * indent)))
        else:
            say(line.rstrip())
            say("\n".join(wrap(last, width, initial_indent=" " * 6, subsequent_indent=" " * 6)))


def _grouped(
    installations: Sequence[Installation], ladder: Sequence[str]
) -> dict[str, list[Installation]]:
    """Return the profiles by what they are for, in the order in which they come."""
    groups: dict[str, list[Installation]] = {t: [] for t in (LADDER, LINES, VARIATIONS, PEERS)}
    for installation in installations:
        if installation.profile.name in ladder:
            groups[LADDER].append(installation)
        elif installation.profile.reply is not None:
            groups[LINES].append(installation)
        else:
            peer = installation.profile.path.is_relative_to(project.peers())
            groups[PEERS if peer else VARIATIONS].append(installation)
    return {title: group for title, group in groups.items() if group}


def _rows(
    group: Sequence[Installation], ladder: Sequence[str], measured: Mapping[str, Estimate]
) -> Iterator[tuple[str, ...]]:
    """Yield of each profile: name and against, effect, version, and what it changes."""
    for installation in group:
        profile = installation.profile
        alone = profile.against is None or profile.name in ladder or profile.reply is not None
        name = profile.name if alone else f"{profile.name} / {profile.against}"
        ratio = centre(measured[profile.name]) if profile.name in measured else ""
        summary = profile.summary
        if profile.peer.ended:
            following = f"; now {profile.peer.successor}" if profile.peer.successor else ""
            summary += f" (ended {profile.peer.ended}{following})"
        if installation.missing:
            summary += f". Not here: {installation.missing}"
        yield name, ratio, version_number(installation.version), summary


def _workloads() -> Iterator[tuple[str, str]]:
    """Yield of each workload its name, and what is asked, or what is wrong with it."""
    for name in workloads.find():
        try:
            yield name, workloads.read(name).summary
        except WorkloadError as error:
            yield name, str(error).removeprefix(f"{error.path.parent}/")


def _services() -> list[tuple[str, str]]:
    """Return of each backing service what it is, or what it needs and is not here."""
    return [
        (backing_service.name, missing(backing_service) or backing_service.summary)
        for backing_service in map(read, find())
    ]
