"""`lab list`: what there is to compare, and to ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

import click

from lab import profiles, workloads
from lab.errors import WorkloadError
from lab.experiment.available import Installed, look_at_all, version_number
from lab.model.comparison import Estimate
from lab.profiles.backing import find, missing, read
from lab.report.edge import page_width, say, say_json
from lab.report.numbers import centre
from lab.runs.as_json import encode
from lab.runs.effects import effects
from lab.system import project

LADDER = "Ladder, each against the one above it"
LINES = "Reference lines, what a server itself needs"
VARIATIONS = "Variations, each / the profile that it is against"
PEERS = "Peers, each / the profile that it is against"
WORKLOADS = "Workloads, for --workload"
BACKING = "Backing services, which applications ask"
"""Groups of what `lab list` prints."""

MEASURED = (
    "The ratios are of CPU per request, measured on one machine in the stored runs of docs/runs. "
    "Of several the one with the most pairs counts; ~ marks what may be 1. `lab run NAME` "
    "measures yours. `lab run` compares the ladder and the reference lines by default."
)


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the profiles as JSON.")
def list_command(*, as_json: bool) -> int:
    """List the profiles: what each changes, and against which; and the workloads."""
    ladder = profiles.ladder()
    found = look_at_all(profiles.find())
    found.sort(
        key=lambda each: (
            each.profile.name not in ladder,
            bool(each.profile.commands),
            ladder.index(each.profile.name) if each.profile.name in ladder else 0,
            each.profile.name,
        )
    )
    measured = effects(project.runs(), [each.profile for each in found], profiles.as_today)
    if as_json:
        say_json(
            encode(
                [
                    {
                        "name": each.profile.name,
                        "server": each.profile.server,
                        "path": each.profile.path,
                        "summary": each.profile.summary,
                        "against": each.profile.against,
                        "ladder": each.profile.name in ladder,
                        "cpu": measured.get(each.profile.name),
                        "version": each.version or None,
                        "missing": each.missing,
                    }
                    for each in found
                ]
            )
        )
        return 0
    width = page_width()
    groups = _grouped(found, ladder).items()
    shown = {title: [*_lines(group, ladder, measured)] for title, group in groups}
    shown |= {WORKLOADS: [*_workloads()], BACKING: _services()}
    for title, lines in shown.items():
        say(f"{title}:")
        for line in lines:
            say(line if len(line) <= width else f"{line[: width - 3]}...")
        say()
    say("\n".join(wrap(MEASURED, width)))
    return 0


def _grouped(found: Sequence[Installed], ladder: Sequence[str]) -> dict[str, list[Installed]]:
    """Return the profiles by what they are for, in the order in which they come."""
    groups: dict[str, list[Installed]] = {t: [] for t in (LADDER, LINES, VARIATIONS, PEERS)}
    for each in found:
        if each.profile.name in ladder:
            groups[LADDER].append(each)
        elif each.profile.reply is not None:
            groups[LINES].append(each)
        else:
            peer = each.profile.path.is_relative_to(project.peers())
            groups[PEERS if peer else VARIATIONS].append(each)
    return {title: group for title, group in groups.items() if group}


def _lines(
    group: Sequence[Installed], ladder: Sequence[str], measured: Mapping[str, Estimate]
) -> Iterator[str]:
    """Yield a line for each profile: name, against, effect, version, and what it changes."""
    names = [
        each.name
        if each.against is None or each.name in ladder or each.reply is not None
        else f"{each.name} / {each.against}"
        for each in (one.profile for one in group)
    ]
    versions = [version_number(each.version) for each in group]
    wide, long = (max(map(len, column)) for column in (names, versions))
    for name, version, each in zip(names, versions, group, strict=True):
        profile = each.profile
        ratio = centre(measured[profile.name]) if profile.name in measured else ""
        said = each.missing or profile.summary
        if profile.peer.ended:
            following = f"; now {profile.peer.successor}" if profile.peer.successor else ""
            said += f" (ended {profile.peer.ended}{following})"
        yield f"  {name:<{wide}}  {ratio:>7}  {version:<{long}}  {said}"


def _workloads() -> Iterator[str]:
    """Yield a line for each workload: its name, and what is asked, or what is wrong with it."""
    names = workloads.find()
    for name in names:
        try:
            said = workloads.read(name).summary
        except WorkloadError as error:
            said = str(error).removeprefix(f"{error.path.parent}/")
        yield f"  {name:<{max(map(len, names))}}  {said}"


def _services() -> list[str]:
    """Return a line for each backing service: what it is, or what it needs and is not here."""
    services = [read(path) for path in find()]
    wide = max(len(each.name) for each in services)
    return [f"  {each.name:<{wide}}  {missing(each) or each.summary}" for each in services]
