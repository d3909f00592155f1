"""
docs/reference/profiles.md, made from the headers of the profiles.

Each profile explains itself in its own file; the page lists the profiles and adds what was measured
of each step, and what the step changes, as uWSGI resolves it. It is the same on every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.analysis.summary import Summary
from lab.bench import profiles
from lab.bench.machine import project
from lab.bench.store.effects import ENOUGH, LADDER
from lab.config import servers
from lab.config.difference import difference
from lab.model.comparison import Comparison
from lab.model.metric import METRICS, shown
from lab.model.numbers import bounded, judged
from lab.model.plan import Load
from lab.model.profile import Profile
from lab.model.workload import Workload
from lab.report.headline import ANOTHER
from tools.pages.files import DOCS, ROOT, names, swept, written
from tools.pages.runs import mark

PAGE = DOCS / "reference" / "profiles.md"

SHOWN = shown(Load())
"""Metrics by which a step is told."""

OPENING = """\
# Profiles

A profile is one file: options and comments, and nothing that runs a program. `uwsgi
profiles/NAME.ini` serves it. So does `fibonacci serve NAME`, which first [refuses what uWSGI would
misread](production-settings.md#the-launcher) and counts the CPUs. All profiles obey `BIND` and
`PORT`, and serve your application with `WSGI_APP=package.module:callable` and `WSGI_CHDIR=folder`.

Each profile is one step from the profile it is *against*, and *Options* shows what the step
changes. The comments in the file, which each entry links, explain the step. The steps of the ladder
up to `safety` change settings. A step marked *another application* changes what is served, so its
effect is not the server's; with your application it disappears.

The figures are the effect of each step in the stored runs under [`runs/`](../runs), with the
server on one core; [what limits uWSGI](../explanation/what-limits-uwsgi.md) explains them. -: not
measured, or withheld.

A peer is another server than uWSGI, or more than one program. It runs as its documentation
recommends for production, and with its defaults where the documentation says nothing. The file of a
peer gives the reason for every other option, under `[deviations]`. The packages of the peers are
pinned in [`requirements/peers.txt`](../../requirements/peers.txt); nginx is the distribution's.

This page is made from the files: `.venv/bin/python -m tools.pages`.
"""


def render() -> str:
    """
    Return the page.

    Raises:
        ProfileError: A profile cannot be read.
    """
    ladder = profiles.ladder()
    others = [name for name in profiles.find() if name not in ladder]
    read = {name: without_cpus(profiles.read(name)) for name in (*ladder, *others)}
    parts = [OPENING, *_overview(read, len(ladder)), "## The ladder\n"]
    parts += [_section(read[name], read, number) for number, name in enumerate(ladder)]
    parts += ["## Off the ladder\n"]
    parts += [_section(read[name], read, None) for name in others]
    return "\n".join(parts)


def refresh() -> list[Path]:
    """Rewrite the page, and return it if it was another."""
    return written(PAGE, render())


def change(name: str) -> str:
    """
    Return what a profile changes in the one that it is against.

    Raises:
        ProfileError: There is no such profile.
    """
    read = {
        profile_name: without_cpus(profiles.read(profile_name))
        for profile_name in profiles.ladder(name)
    }
    return "\n".join(("```diff", *_changes(read[name], read), "```\n"))


def _section(profile: Profile, read: dict[str, Profile], number: int | None) -> str:
    header = profiles.read_header(profile.path)
    file = profile.path.relative_to(ROOT).as_posix()
    rung = "" if number is None else f"step {number} · "
    against = f" · against [{profile.against}](#{profile.against})" if profile.against else ""
    lines = [f"### {profile.name}\n", f"**{profile.summary}.**\n"]
    lines += [f"{rung}[{file}](../../{file}){against}{_other_application(profile, read)}\n"]
    lines += [f"{text}\n" for text in header.paragraphs if text.startswith("Limit:")]
    if profile.peer.ended:
        following = f"; [{profile.peer.successor}](#{profile.peer.successor}) took its place"
        lines += [f"Ended {profile.peer.ended}{following if profile.peer.successor else ''}.\n"]
    if header.default is not None and not header.default.startswith("none"):
        lines += [f"Default: {header.default}\n"]
    if header.link is not None:
        lines += [f"<{header.link}>\n"]
    if effects := _effects(profile):
        lines += ["Measured:\n", *effects, ""]
    if changes := _changes(profile, read):
        lines += ["<details><summary>Options</summary>\n", "```diff", *changes, "```\n"]
        lines += ["</details>\n"]
    return "\n".join(lines)


def _other_application(profile: Profile, read: dict[str, Profile]) -> str:
    """Name what the profile serves where the one that it is against serves something else."""
    if profile.against is None or profile.reply is not None:
        return ""
    served, before = (
        servers.settings(side).application for side in (profile, read[profile.against])
    )
    return f" · {ANOTHER}: `{served}` instead of `{before}`" if served != before else ""


def _overview(read: Mapping[str, Profile], rungs: int) -> Iterator[str]:
    """
    Yield the lines of a table of profiles, of which the first *rungs* are the ladder's.

    Peers without a figure are named below it.
    """
    titles = [METRICS[name].title for name in SHOWN]
    yield _row("profile", "what it does", "against", *titles)
    yield _row(*["---"] * (3 + len(titles)))
    others = []
    for number, profile in enumerate(read.values()):
        if number == rungs:
            yield _row("*off the ladder*", *[""] * (2 + len(titles)))
        link, effect = f"[{profile.name}](#{profile.name})", _effect(profile)
        if profile.path.parent.name == "peers" and set(effect) == {"-"}:
            others.append(link)
        else:
            yield _row(link, profile.summary, profile.against or "", *effect)
    yield f"\nPeers without a figure here: {', '.join(others)}.\n"


def _effect(profile: Profile) -> list[str]:
    """Return the step's effect by metric: in the ladder's run where that has it, else the first."""
    measurements = sorted(
        _measured(profile), key=lambda measurement: measurement[0].run.name != LADDER
    )
    if not measurements:
        return ["-"] * len(SHOWN)
    run, step = measurements[0]
    effects = (step.get(name) for name in SHOWN)
    return [
        f"{bounded(effect).partition(' [')[0]} {effect.verdict_text}{mark(run)}".replace("~", "\\~")
        if effect is not None and effect.ratio is not None
        else "-"
        for effect in effects
    ]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _effects(profile: Profile) -> list[str]:
    """Return a line for each stored run that has this step under a load that lasts."""
    lines = []
    for run, step in _measured(profile):
        name = run.run.name
        where = f"{_asked(run.run.plan.workload)} ([{name}](../runs/README.md#{name}))"
        ratios = (
            f"{METRICS[metric].title} {judged(comparison)}" for metric, comparison in step.items()
        )
        lines.append(f"- {where}: {', '.join(ratios)}{mark(run)}")
    return [line.replace("~", "\\~") for line in lines]


def _measured(profile: Profile) -> list[tuple[Summary, dict[str, Comparison]]]:
    """Return the stored runs that have this step, and what is not withheld of it by metric."""
    measurements = []
    for run in _runs():
        step = next(
            (candidate for candidate in run.steps if candidate.profile == profile.name), None
        )
        if step is None or step.before is None or step.before != profile.against:
            continue
        comparisons = {name: step.step[name] for name in SHOWN if step.step[name].ratio is not None}
        if comparisons:
            measurements.append((run, comparisons))
    return measurements


def _asked(workload: Workload) -> str:
    path = workload.path
    return f"`{path}`" if len(path) < 30 else f"a number of {len(path) - 1} digits"


@functools.cache
def _runs() -> tuple[Summary, ...]:
    """Return the stored runs of `fib` at full load, in windows that last."""
    return tuple(
        summary
        for name in names()
        for summary in swept(name)
        if summary.run.plan.workload.name == "fib"
        and summary.run.plan.load.requests is None
        and summary.run.plan.load.rate is None
        and summary.run.blocks >= ENOUGH
    )


def _changes(profile: Profile, read: dict[str, Profile]) -> Sequence[str]:
    if profile.server != "uwsgi":
        return [f"+ {' '.join(command)}" for command in profile.commands]
    if profile.against is None:
        return [f"+ {key} = {value}" for key, value in profile.options]
    step = difference(profile, read[profile.against])
    changes = [f"- {_line(key, value)}" for key, value in step.removed]
    for key, before, after in step.changed:
        changes += [f"- {_line(key, before)}", f"+ {_line(key, after)}"]
    return [*changes, *(f"+ {_line(key, value)}" for key, value in step.added)]


def _line(key: str, value: str) -> str:
    """Return an option as an ini has it; `lab.config.difference` has a variable for its own key."""
    name = key.removeprefix("env ")
    written = value if name == key else f"{name}={value}"
    address = written.replace("{host}:{port}", "%(host):%(port)")
    return f"{key.partition(' ')[0]} = {address}"


def without_cpus(profile: Profile) -> Profile:
    """Return *profile* with %k for the number of CPUs, which the page must not depend on."""
    files = [project.profiles() / f"{name}.ini" for name in reversed(profiles.ladder(profile.name))]
    texts = (file.read_text() for file in files if file.is_file())
    # The nearest that says how many processes there are.
    if "processes = %k" not in next((text for text in texts if "\nprocesses = " in text), ""):
        return profile
    return replace(
        profile,
        options=tuple(
            (key, "%k" if key == "processes" else value) for key, value in profile.options
        ),
    )
