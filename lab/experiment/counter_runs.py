"""
Counter-runs: the same profile with the one setting toggled that a cause names.

That a profile has the router and is slow proves nothing; that it is faster without it does. Each
counter-run is a profile of its own, written to disk as an ini that `uwsgi` runs without the lab.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from lab import profiles
from lab.analysis.confirm import diagnoses
from lab.analysis.gates import LATE
from lab.analysis.metrics import merged_latency
from lab.analysis.observations import observe
from lab.analysis.points import points
from lab.errors import ProfileError, ResultsError
from lab.experiment.plan import named
from lab.model import Arm, Better, CounterRun, Diagnosis, Profile, Role, Run
from lab.settings.moves import TOGGLES, Toggle
from lab.system.programs import ROOT

MOST = 6
"""Counter-runs of a run: each is in every block that is left, like one profile more."""

RANKS = 2
"""Causes of one profile that are put to the test, from the first on."""

LATE_REPLIES = 0.02
"""Share of late replies from which p99 shows whether they are gone; below, throughput has to."""

APPLICATION = ("module", "wsgi", "wsgi-file", "file", "callable")
"""Options that say what is served, in place of which the environment may name another one."""


def plan_counters(run: Run, folder: Path) -> tuple[CounterRun, ...]:
    """
    Return the counter-runs that test what the trials of *run* show so far.

    One for each distinct cause, at the first profile in ladder order that shows it: the steps of a
    ladder have much the same causes, and one for each step would double its time. First causes
    come before second ones. None for other servers than uWSGI, whose options are not known here.

    Args:
        run: Without counter-runs yet.
        folder: Where their inis are written; made if need be.

    Raises:
        LabError: uWSGI is gone, or *folder* cannot be written.
    """
    found = [(point, diagnoses(point, observe(point), {})) for point in points(run)]
    planned: dict[str, CounterRun] = {}
    for rank in range(RANKS):
        for point, shown in found:
            for arm in point.plan.arms:
                for diagnosis in shown.get(arm.name, ())[rank : rank + 1]:
                    if diagnosis.cause.name in planned or len(planned) == MOST:
                        continue
                    taken = {each.arm.name for each in planned.values()}
                    with suppress(ProfileError):  # what uWSGI refuses cannot be put to the test
                        counter = _counter(diagnosis, arm, point, folder, taken)
                        if counter is not None:
                            planned[diagnosis.cause.name] = counter
    return tuple(planned.values())


def render(profile: Profile, toggle: Toggle) -> str:
    """
    Return the ini of *profile* with *toggle* applied, complete and without includes.

    BIND, PORT, WSGI_APP and WSGI_CHDIR are obeyed as by every profile; the first two must be set.
    """
    lines = [
        f"; Counter-run: {profile.name} with {toggle.text}, all else the same.",
        "; Written by `lab run`. To start it by hand:",
        "; BIND=127.0.0.1 PORT=8080 uwsgi FILE",
        "",
        "[lab]",
        f"summary = {profile.name} with {toggle.text}",
        "",
        "[uwsgi]",
    ]
    places = {"{host}": "$(BIND)", "{port}": "$(PORT)", "{root}": str(ROOT)}
    places["{here}"] = str(profile.path.resolve().parent)
    application = []
    for key, value in toggle.options:
        filled = value
        for place, meaning in places.items():
            filled = filled.replace(place, meaning)
        line = f"{key} = {filled}"
        if key in APPLICATION:
            application.append(line)
        else:
            lines.append(line)
    lines += ["if-env = WSGI_CHDIR", "chdir = %(_)", "endif ="]
    lines += ["if-env = WSGI_APP", "module = %(_)", "endif ="]
    lines += ["if-not-env = WSGI_APP", *application, "endif =", ""]
    return "\n".join(lines)


def _counter(
    diagnosis: Diagnosis, arm: Arm, run: Run, folder: Path, taken: Collection[str]
) -> CounterRun | None:
    """Return the counter-run of one diagnosis; None with nothing to toggle, or its name *taken*."""
    find = TOGGLES.get(diagnosis.cause.name)
    toggle = find(arm) if find and arm.profile.server == "uwsgi" else None
    if toggle is None:
        return None
    name = f"{arm.name}~{toggle.name}"
    if named(name, arm.at) in taken:
        return None
    path = folder / f"{name}.ini"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(render(arm.profile, toggle), encoding="utf-8")
    except OSError as error:
        raise ResultsError(path, f"cannot be written: {error.strerror}") from error
    metric, expects = "throughput", Better.HIGHER
    if arm.load.rate is not None:  # throughput is planned
        metric, expects = "p90", Better.LOWER
    elif diagnosis.cause.name == "accept queue" and _late_share(run, arm.name) >= LATE_REPLIES:
        metric, expects = "p99", Better.LOWER
    toggled = Arm(
        name=named(name, arm.at),
        profile=profiles.read(str(path)),
        workload=toggle.workload or arm.workload,
        load=toggle.load or arm.load,
        at=arm.at,
        role=Role.COUNTER,
    )
    return CounterRun(arm.name, diagnosis.cause.name, toggle.text, toggled, metric, expects)


def _late_share(run: Run, name: str) -> float:
    """Return the share of an arm's replies that the kernel's retry timer may have delayed."""
    windows = [w for t in run.trials if t.slot.arm.name == name for w in t.windows]
    latency = merged_latency(windows)
    late = sum(count for us, count in latency.items() if us >= LATE * 1e6)
    return late / max(1, latency.total())
