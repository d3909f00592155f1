"""What can be compared on this machine: which profiles are installed, and which serve what."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Any

from lab.bench import profiles
from lab.bench.machine import project
from lab.bench.machine.programs import find_command, plugins, runs_on, tried
from lab.bench.machine.runtime import UWSGI, command_of, pip, program, runtime_of, version_of_python
from lab.bench.profiles import backing
from lab.bench.profiles.asking import confirm
from lab.bench.profiles.reading import Reading
from lab.bench.servers import preflight
from lab.bench.servers.runner import ServerRunner, places
from lab.bench.trials.plan import app_of, arm_of
from lab.bench.trials.same_application import shared
from lab.config.launch import ApplicationTarget, fill
from lab.errors import ApplicationError, MissingError, UsageError
from lab.model.plan import Load
from lab.model.profile import Profile
from lab.model.runtime import OURS, OWN, Runtime
from lab.model.workload import Workload

WRITTEN = {"wsgi": "WSGI", "tornado": "Tornado", "program": "built-in"}
"""Interfaces that are written otherwise than as they are named."""

ABSENT = re.compile(r"No (?:module named|package metadata was found for) '?([\w-]+)")
"""How Python ends if a package is not installed; a group for its name."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A profile, and whether it is installed here."""

    profile: Profile
    missing: str | None
    """Why it cannot, such as "needs granian (pip install granian), which is not installed"."""
    version: str = ""
    """The first line that its server prints of its version; empty where it has none to print."""
    reading: Reading | None = None
    """Of its file; None of a command."""


def look(name: str, runtime: Runtime = OURS) -> Installation:
    """
    Read a profile, by its name or path, and ask its server for its version.

    Args:
        name: The profile's.
        runtime: What its server would be started with.

    Raises:
        ProfileError: It is unknown, or cannot be resolved.
    """
    return _with_version(_checked(name, runtime))


def look_at_all(names: Iterable[str]) -> list[Installation]:
    """`look` at several, whose servers are asked for their versions at once: they take a while."""
    # They are read one after the other: Python's parser is not safe in several threads (3.11).
    checked = [_checked(name, OURS) for name in names]
    with ThreadPoolExecutor() as pool:
        return list(pool.map(_with_version, checked))


@dataclass(frozen=True, slots=True)
class _Check:
    """What is known of a profile before its server is asked."""

    installed: Installation
    asked: tuple[str, ...] = ()
    """The command that says the server's version; empty where nothing is to be asked."""
    hint: str = ""
    """How to install what is missing."""


def _checked(name: str, runtime: Runtime) -> _Check:
    """Read a profile, and look for what it needs."""
    profile, reading = profiles.with_reading(name, runtime)
    needs = project.as_installed(profile.peer.needs or "")
    if runtime.python is not None:
        needs = needs.replace("pip install", pip(runtime.python))
    hint = f" ({needs})" if needs else ""
    missing = _missing(profile, runtime, hint)
    if missing is not None or not profile.version:
        return _Check(Installation(profile, missing, reading=reading))
    words = places(profile, runtime)
    asked = tuple(fill(word, words, profile.path) for word in profile.version)
    with suppress(MissingError):
        asked = command_of(runtime, *asked)
    return _Check(Installation(profile, None, reading=reading), asked, hint)


def _missing(profile: Profile, runtime: Runtime, hint: str) -> str | None:
    """Return why a profile cannot run here, as far as that is known without its server."""
    pythons = profile.peer.python
    if pythons and not runs_on(here := version_of_python(runtime), pythons):
        return f"needs Python {pythons}, and this is {here}"
    if not profile.commands:
        try:
            uwsgi = program(runtime, UWSGI)
        except MissingError as error:
            return str(error)
        needed = profiles.read_header(profile.path).plugins
        if lacking := [plugin for plugin in needed if plugin not in plugins(uwsgi)]:
            how = project.how_to_install("service") if runtime == OURS else f"it is {uwsgi}"
            return f"uWSGI is built without plug-in {' and '.join(lacking)}: {how}"
    words = places(profile, runtime)
    for command in filter(None, (*profile.commands, profile.peer.build)):
        if command[0] in ("{python}", "{built}"):  # which is made when a run begins
            continue
        first = fill(command[0], words, profile.path)
        try:
            program(runtime, first)
            command_of(runtime, first, *command[1:])
        except MissingError as error:
            short = first.removeprefix(f"{project.root()}/")
            absent = f"needs {short}{hint}, which is not installed"
            return str(error) if UWSGI in command else absent
    services = (backing.read(project.backing() / f"{name}.toml") for name in profile.peer.backing)
    return next(filter(None, map(backing.missing, services)), None)


def _with_version(checked: _Check) -> Installation:
    """Return a profile with what its server says of its version."""
    command, profile = checked.asked, checked.installed.profile
    if not command:
        return checked.installed
    done = _told(find_command(command[0]) or command[0], *command[1:])
    said = [line.strip() for line in (done.stdout if done else "").splitlines() if line.strip()]
    if done is None or done.returncode:
        why = said[-1] if said else f"{profile.version[0]} does not print its version"
        absent = ABSENT.search(why)
        if absent and any(absent[1] in word for word in command):
            return replace(checked.installed, missing=f"not installed{checked.hint}")
        return replace(checked.installed, missing=f"cannot run{checked.hint}: {why}")
    return replace(checked.installed, version=said[0] if said else "")


def _told(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Return what a program says of its version, asked once for all profiles that run it."""
    with _ASKED[command]:  # those that are looked at in other threads wait for this one
        return _said(command)


_ASKED: defaultdict[tuple[str, ...], Lock] = defaultdict(Lock)


@cache
def _said(command: tuple[str, ...]) -> subprocess.CompletedProcess[str] | None:
    return tried(*command)


def version_number(version: str) -> str:
    """
    Return the number in a line about a version, or the line where there is none.

    >>> version_number("nginx version: nginx/1.22.1"), version_number("of today")
    ('1.22.1', 'of today')
    """
    match = re.search(r"\d+(\.\w+)+", version)
    return match[0] if match else version


def available(
    names: Sequence[str], workload: Workload
) -> tuple[list[Installation], dict[str, str], Workload]:
    """
    Return the profiles that can be asked for *workload* here, and why each of the others cannot.

    And the workload: where a configuration of the user's says what is served, with that.

    Raises:
        ProfileError: A profile is unknown, cannot be resolved, or would not start here.
        UsageError: None can be asked here.
    """
    runtime = workload.runtime
    installations = [look(name, runtime) for name in names]
    given, workload = shared([installation.profile for installation in installations], workload)
    installations = [
        replace(installation, profile=profile)
        for installation, profile in zip(installations, given, strict=True)
    ]
    skipped = {
        installation.profile.name: reason
        for installation in installations
        if (reason := installation.missing or unserved(installation.profile, workload)) is not None
    }
    chosen = [
        installation for installation in installations if installation.profile.name not in skipped
    ]
    if not chosen:
        reasons: dict[str, list[str]] = {}
        for name, reason in skipped.items():
            reasons.setdefault(reason, []).append(name)
        said = (f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        raise UsageError(f"no profile can run here: {'; '.join(said)}")
    for installation in chosen:
        ServerRunner().check(installation.profile)  # now, and not when its turn comes
        profiles.check_startable(installation.profile, runtime, installation.reading)
        if installation.reading and not installation.profile.commands:
            confirm(installation.reading, runtime)
    return chosen, skipped, workload


def warnings(installations: Sequence[Installation], runtime: Runtime) -> tuple[str, ...]:
    """Return what is wrong with the user's own configurations, in a line each."""
    theirs = (
        installation
        for installation in installations
        if not profiles.is_ours(installation.profile.path)
    )
    return tuple(
        line
        for installation in theirs
        for line in profiles.warnings(installation.profile, runtime, installation.reading)
    )


def import_applications(
    installations: Sequence[Installation], workload: Workload, unread: Sequence[str] = ()
) -> dict[str, Any]:
    """
    Import each application of the user's, once, as its server would.

    Args:
        installations: The profiles that serve it.
        workload: What is asked of them.
        unread: What a server ignores in its profile, in lines: it may be why an import fails.

    Returns:
        Of the user's own environment and uWSGI what the run depends on: their versions, and those
        of its packages; of inis with an environment of their own the same under "others". Empty
        where all is ours.

    Raises:
        ApplicationError: One cannot be imported, or is not what its server serves.
    """
    soughts = dict(_sought([installation.profile for installation in installations], workload))
    try:
        packages = preflight.check(soughts.values())
    except ApplicationError as error:
        for line in unread:
            error.add_note(f"warning: {line}")
        raise
    first = next((runtime for _, runtime in soughts.values()), workload.runtime)
    said: dict[str, Any] = {}
    if first.python is not None or first.uwsgi is not None:
        told = (
            installation.version
            for installation in installations
            if installation.profile.version[:1] == (UWSGI,)
        )
        said = {"python": version_of_python(first), "uwsgi": next(told, None)}
        said["distributions"] = packages.get(first.python)
    others = {
        name: runtime for name, (_, runtime) in soughts.items() if runtime.python != first.python
    }
    if others:
        said["others"] = {
            "python": {name: version_of_python(runtime) for name, runtime in others.items()},
            "distributions": {
                name: packages.get(runtime.python, {}) for name, runtime in others.items()
            },
        }
    return {name: value for name, value in said.items() if value}


def _sought(
    found: Sequence[Profile], workload: Workload
) -> Iterator[tuple[str, tuple[ApplicationTarget, Runtime]]]:
    """Yield the application of each profile that serves one of the user's, and what serves it."""
    # What the user has written comes first, so that it is what a message names.
    for profile in sorted(found, key=lambda profile: profiles.is_ours(profile.path)):
        asked = arm_of(profile, workload, Load()).workload
        ours = asked.chdir is None and profiles.is_ours(profile.path)
        if ours or profile.reply is not None or "wsgi" not in profile.interfaces:
            continue
        if (sought := ServerRunner().sought(profile, asked)) is not None:
            yield profile.name, (sought, runtime_of(profile, asked.runtime))


def unserved(profile: Profile, workload: Workload) -> str | None:
    """Return why *profile* cannot be asked for *workload*, or None."""
    if app_of(profile, workload) is not None:
        return None
    if profile.private_copy and OWN not in profile.interfaces:
        return "names no application: --app MODULE:CALLABLE"
    kinds = " or ".join(WRITTEN.get(interface, interface) for interface in profile.interfaces)
    return f"serves {kinds} applications; {workload.name} has none"
