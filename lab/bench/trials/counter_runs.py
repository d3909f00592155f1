"""
Counter-runs: the same profile with the one setting changed that a cause names.

That a profile has the router and is slow proves nothing; that it is faster without it does. Each
counter-run of a uWSGI is a profile of its own, written to disk as an ini that `uwsgi` runs without
the lab. That of a command is the command with another number of workers, or with the lab's hook in
its environment; that of a peer may be another peer, which it names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from lab.analysis.causes import HYPOTHESES
from lab.analysis.confirm import diagnose_profiles
from lab.analysis.observations import observe
from lab.analysis.points import points
from lab.bench.machine.programs import folders
from lab.bench.servers.hooked import hooked
from lab.bench.trials.available import look, unserved
from lab.bench.trials.plan import arm_of, named
from lab.bench.workloads import workload
from lab.config import servers
from lab.config.moves import Move
from lab.config.scale import scaled, with_commands
from lab.config.uwsgi import flat, ini
from lab.errors import ResultsError, UsageError
from lab.model.measurement import Run
from lab.model.plan import Arm, CounterRun, Role
from lab.model.profile import Profile

MOST = 6
"""Counter-runs of a run: each is in every block that is left, like one profile more."""

RANKS = 2
"""Causes of one profile that are put to the test, from the first on."""

ON_FIRST_CPU = ("taskset", "-c", "{cpu}")

BY_CAUSE = {hypothesis.name: hypothesis for hypothesis in HYPOTHESES}


def plan_counters(run: Run, folder: Path) -> tuple[CounterRun, ...]:
    """
    Return the counter-runs that test what the trials of *run* show so far.

    One for each distinct cause, at the first profile in ladder order that shows it: the steps of a
    ladder have much the same causes, and one for each step would double its time. First causes
    come before second ones. Of other servers than uWSGI, whose options are not known here, none but
    those that a profile names itself, and those outside the options.

    Args:
        run: Without counter-runs yet.
        folder: Where their inis are written; made if need be.

    Raises:
        ResultsError: *folder* cannot be written.
    """
    planned: dict[str, CounterRun] = {}
    for cause, arm, point in _shown(run):
        if cause in planned or len(planned) == MOST:
            continue
        taken = {counter_run.arm.name for counter_run in planned.values()}
        made = (
            _made_by_move(cause, arm, folder, taken)
            or _made_for_command(cause, arm, point, folder)
            or _named_by_profile(cause, arm, point)
        )
        if made is not None:
            planned[cause] = _counter(cause, arm, point, *made)
    return tuple(planned.values())


def changed(profile: Profile, name: str, path: Path, move: Move) -> Profile:
    """Return *profile* with *move* applied, which is to stand in the ini *path*."""
    return replace(
        servers.of(profile).with_steps(profile, move.steps),
        name=name,
        # A private copy is written of its options, whose folder is that of the user's file.
        path=profile.path if profile.private_copy else path.resolve(),
        summary=f"{profile.name} with {move.text}",
        against=None,
        apps=(),
        private_copy=profile.private_copy and replace(profile.private_copy, altered=()),
    )


def render(profile: Profile, of: Profile) -> str:
    """
    Return the ini of *profile*, a counter-run *of* another one, complete and without includes.

    BIND, PORT, WSGI_APP and WSGI_CHDIR are obeyed as by every profile; the first two must be set.
    Of a private copy these are BIND, PORT, SOCKET and FOLDER, where its files are to be.
    """
    places = folders(of)
    assignments, section = "BIND=127.0.0.1 PORT=8080", ini(profile.options, places)
    if profile.private_copy:
        names = {"{host}": "BIND", "{port}": "PORT", "{socket}": "SOCKET", "{folder}": "FOLDER"}
        section = flat(profile.options, places | {name: f"$({names[name]})" for name in names})
        assignments += " SOCKET=/tmp/new/a.sock FOLDER=/tmp/new"
    lines = [
        f"; Counter-run: {profile.summary}, all else the same.",
        "; Written by `lab run`. To start it by hand:",
        f"; {assignments} uwsgi FILE",
        "",
        "[lab]",
        f"summary = {profile.summary}",
        "",
        *section,
        "",
    ]
    return "\n".join(lines)


def _shown(run: Run) -> Iterator[tuple[str, Arm, Run]]:
    """Yield each cause, the arm that shows it, and the part of *run* in which it does."""
    diagnosed_points = [
        (point, diagnose_profiles(point, observe(point), {})) for point in points(run)
    ]
    for rank in range(RANKS):
        for point, shown in diagnosed_points:
            for arm in point.plan.arms:
                for diagnosis in shown.get(arm.name, ())[rank : rank + 1]:
                    yield diagnosis.cause.name, arm, point


def _made_by_move(
    cause: str, arm: Arm, folder: Path, taken: Collection[str]
) -> tuple[str, Arm] | None:
    """Return what is changed, and the arm; None with nothing to change, or its name *taken*."""
    hypothesis = BY_CAUSE[cause]
    movable = servers.settings(arm.profile).movable
    move = hypothesis.move(arm) if hypothesis.move and movable else None
    if move is None:
        return None
    counter_workload = arm.workload
    if move.workload:
        other = replace(workload(move.workload), runtime=counter_workload.runtime)
        counter_workload = arm_of(arm.profile, other, arm.load).workload
    name = f"{arm.name}~{move.name}"
    if named(name, arm.at) in taken or (move.workload and counter_workload.app == arm.workload.app):
        return None
    path = folder / f"{name}.ini"
    profile = changed(arm.profile, name, path, move)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(render(profile, arm.profile), encoding="utf-8")
    except OSError as error:
        raise ResultsError(path, f"cannot be written: {error.strerror}") from error
    counter = Arm(
        name=named(name, arm.at),
        profile=profile,
        workload=counter_workload,
        load=move.load or arm.load,
        at=arm.at,
        role=Role.COUNTER,
    )
    return move.text, counter


def _made_for_command(cause: str, arm: Arm, run: Run, folder: Path) -> tuple[str, Arm] | None:
    """Return what is changed outside the options of a command, and the arm; None without it."""
    move, profile = BY_CAUSE[cause].outside, arm.profile
    if move is None or not profile.commands:
        return None
    if move.workers > 1:
        trials = (trial for trial in run.trials if trial.slot.arm.name == arm.name)
        seen = [number for t in trials if (number := t.readings.get("workers.number"))]
        if not seen:
            return None
        try:
            profile = scaled(profile, "workers", move.workers * round(median(seen)))
        except UsageError:
            return None  # what the user runs starts its server in its own way
    if move.pinned:
        if len(profile.commands) > 1:
            return None  # a proxy in front has its CPU
        profile = with_commands(profile, [(*ON_FIRST_CPU, *profile.commands[0])], move.text)
    name, summary = f"{profile.name}~{move.name}", f"{profile.name} with {move.text}"
    profile = replace(profile, name=name, summary=summary, against=None)
    counter = replace(arm, name=named(name, arm.at), profile=profile, role=Role.COUNTER)
    if move.pool > 1:
        try:
            (folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ResultsError(folder / name, f"cannot be written: {error.strerror}") from error
        counter = hooked(counter, folder / name, {"pool": move.pool})
    return move.text, counter


def _named_by_profile(cause: str, arm: Arm, run: Run) -> tuple[str, Arm] | None:
    """Return what a peer names for a cause; None without it, or where it cannot be asked here."""
    name = dict(arm.profile.peer.counters).get(cause)
    if name is None:
        return None
    installation = look(name, arm.workload.runtime)
    other = replace(
        installation.profile, name=f"{arm.profile.name}~{installation.profile.name}", against=None
    )
    started = {service.name for service in run.plan.backing}
    # What the arm's workload has for other interfaces is not known any more.
    alike = other.interfaces == arm.profile.interfaces and started.issuperset(other.peer.backing)
    if installation.missing or not alike or unserved(other, arm.workload):
        return None
    counter = replace(arm_of(other, arm.workload, arm.load, arm.at), role=Role.COUNTER)
    return f"{installation.profile.name} instead", counter


def _counter(cause: str, arm: Arm, run: Run, text: str, made: Arm) -> CounterRun:
    windows = [w for t in run.trials if t.slot.arm.name == arm.name for w in t.windows]
    metric, expects = BY_CAUSE[cause].aim(arm, windows)
    return CounterRun(arm.name, cause, text, made, metric, expects)
