"""Which profiles can run on this machine: installed, and able to serve the workload."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from lab.bench.trials.plan import NAMED, app_of, arm_of
from lab.bench.trials.same_application import shared
from lab.config.launch import ApplicationTarget, fill
from lab.errors import ApplicationError, MissingError, ProfileError, UsageError
from lab.model.plan import Load
from lab.model.profile import Profile
from lab.model.runtime import OURS, OWN, Runtime
from lab.model.workload import Workload

INTERFACE_NAMES = {"wsgi": "WSGI", "asgi": "ASGI", "tornado": "Tornado", "program": "built-in"}
"""Interface -> name in a message, if that differs."""

NOT_INSTALLED = re.compile(r"No (?:module named|package metadata was found for) '?([\w-]+)")
"""The last line of Python if a package is not installed, with a group for its name."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A profile, and whether it can run here."""

    profile: Profile
    missing: str | None
    """Why it cannot run: "needs granian (pip install granian), which is not installed"."""
    version: str = ""
    """The first line of the output with which its server prints its version; empty: unknown."""
    reading: Reading | None = None
    """The reading of its file; None for a command."""


def look(name: str, runtime: Runtime = OURS) -> Installation:
    """
    Read a profile, by its name or path, and ask its server for its version.

    Args:
        name: The name or path of the profile.
        runtime: The runtime of its server.

    Raises:
        ProfileError: The profile is unknown, or cannot be resolved.
    """
    return _with_version(_checked(name, runtime))


def look_at_all(
    names: Iterable[str], unreadable: Callable[[ProfileError], None] | None = None
) -> list[Installation]:
    """
    Read several profiles, and ask their servers for their versions in parallel.

    Args:
        names: Of the profiles.
        unreadable: Gets what is wrong with a profile, which is then left out; None: it is raised.

    Raises:
        ProfileError: A profile cannot be read.
    """
    # Read them one by one: Python's parser is not thread-safe (3.11).
    checked = []
    for name in names:
        try:
            checked.append(_checked(name, OURS))
        except ProfileError as error:
            if unreadable is None:
                raise
            unreadable(error)
    with ThreadPoolExecutor() as pool:
        return list(pool.map(_with_version, checked))


@dataclass(frozen=True, slots=True)
class _Check:
    """A profile before its server is asked for its version."""

    installed: Installation
    version_command: tuple[str, ...] = ()
    """The command that prints the version of the server; empty: there is none, or it is missing."""
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
    command = tuple(fill(word, words, profile.path) for word in profile.version)
    with suppress(MissingError):
        command = command_of(runtime, *command)
    return _Check(Installation(profile, None, reading=reading), command, hint)


def _missing(profile: Profile, runtime: Runtime, hint: str) -> str | None:
    """Return why a profile cannot run here, without starting its server; None: unknown."""
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
            says_where = UWSGI in command or (runtime.python is not None and not hint)
            return str(error) if says_where else absent
    services = (backing.read(project.backing() / f"{name}.toml") for name in profile.peer.backing)
    return next(filter(None, map(backing.missing, services)), None)


def _with_version(checked: _Check) -> Installation:
    """Return a profile with the version of its server."""
    command, profile = checked.version_command, checked.installed.profile
    if not command:
        return checked.installed
    done = _run_once(find_command(command[0]) or command[0], *command[1:])
    lines = [line.strip() for line in (done.stdout if done else "").splitlines() if line.strip()]
    if done is None or done.returncode:
        why = lines[-1] if lines else f"{profile.version[0]} does not print its version"
        package = NOT_INSTALLED.search(why)
        if package and any(package[1] in word for word in command):
            return replace(checked.installed, missing=f"not installed{checked.hint}")
        return replace(checked.installed, missing=f"cannot run{checked.hint}: {why}")
    return replace(checked.installed, version=lines[0] if lines else "")


def _run_once(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Return the result of a command, which runs once for all profiles."""
    with _LOCKS[command]:  # other threads wait for the first one
        return _run(command)


_LOCKS: defaultdict[tuple[str, ...], Lock] = defaultdict(Lock)


@cache
def _run(command: tuple[str, ...]) -> subprocess.CompletedProcess[str] | None:
    return tried(*command)


def version_number(version: str) -> str:
    """
    Return the number in a line about a version, or the line itself without one.

    >>> version_number("nginx version: nginx/1.22.1"), version_number("of today")
    ('1.22.1', 'of today')
    """
    match = re.search(r"\d+(\.\w+)+", version)
    return match[0] if match else version


def available(
    names: Sequence[str], workload: Workload
) -> tuple[list[Installation], dict[str, str], Workload]:
    """
    Return the profiles that can run here, profile -> reason for the others, and the workload.

    The workload then has the application of the user's configuration, if there is one.

    Raises:
        ProfileError: A profile is unknown, cannot be resolved, or would not start here.
        UsageError: No profile can run here.
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
        texts = (f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        raise UsageError(f"no profile can run here: {'; '.join(texts)}")
    for installation in chosen:
        ServerRunner().check(installation.profile)  # now, and not in its first trial
        profiles.check_startable(installation.profile, runtime, installation.reading)
        if installation.reading and not installation.profile.commands:
            confirm(installation.reading, runtime)
    return chosen, skipped, workload


def warnings(installations: Sequence[Installation], runtime: Runtime) -> tuple[str, ...]:
    """Return a line for each warning about the configurations."""
    return tuple(
        line
        for installation in installations
        for line in profiles.warnings(installation.profile, runtime, installation.reading)
    )


def import_applications(
    installations: Sequence[Installation], workload: Workload, unread: Sequence[str] = ()
) -> dict[str, Any]:
    """
    Import each of the user's applications once, as its server would.

    Args:
        installations: The profiles that serve them.
        workload: The workload.
        unread: Warnings about options that a server ignores, which may explain a failed import.

    Returns:
        The versions of the user's Python, uWSGI and packages; those of inis with other environments
        under "others". Empty without an environment of the user's.

    Raises:
        ApplicationError: An application cannot be imported, or does not have the right interface.
    """
    targets = dict(_targets([installation.profile for installation in installations], workload))
    try:
        packages = preflight.check(targets.values())
    except ApplicationError as error:
        for line in unread:
            error.add_note(f"warning: {line}")
        raise
    first = next((runtime for _, runtime in targets.values()), workload.runtime)
    environment: dict[str, Any] = {}
    if first.python is not None or first.uwsgi is not None:
        uwsgi_versions = (
            installation.version
            for installation in installations
            if installation.profile.version[:1] == (UWSGI,)
        )
        environment = {
            "python": version_of_python(first),
            "uwsgi": next(uwsgi_versions, None),
        }
        environment["distributions"] = packages.get(first.python)
    others = {
        name: runtime for name, (_, runtime) in targets.items() if runtime.python != first.python
    }
    if others:
        environment["others"] = {
            "python": {name: version_of_python(runtime) for name, runtime in others.items()},
            "distributions": {
                name: packages.get(runtime.python, {}) for name, runtime in others.items()
            },
        }
    return {name: value for name, value in environment.items() if value}


def _targets(
    chosen: Sequence[Profile], workload: Workload
) -> Iterator[tuple[str, tuple[ApplicationTarget, Runtime]]]:
    """Yield the name, application and runtime of each profile with an application of the user's."""
    # The user's profiles come first, so that a message names them.
    for profile in sorted(chosen, key=lambda profile: profiles.is_ours(profile.path)):
        served = arm_of(profile, workload, Load()).workload
        ours = served.chdir is None and profiles.is_ours(profile.path)
        if ours or profile.reply is not None or not NAMED.intersection(profile.interfaces):
            continue
        if (target := ServerRunner().target_of(profile, served)) is not None:
            yield profile.name, (target, runtime_of(profile, served.runtime))


def unserved(profile: Profile, workload: Workload) -> str | None:
    """Return why *profile* cannot serve *workload*; None if it can."""
    if app_of(profile, workload) is not None:
        return None
    if profile.private_copy and OWN not in profile.interfaces:
        module = profile.path.stem if profile.path.suffix == ".py" else "MODULE"
        name = "application" if profile.path.suffix == ".py" else "CALLABLE"
        return f"names no application: --app {module}:{name}"
    kinds = " or ".join(
        INTERFACE_NAMES.get(interface, interface) for interface in profile.interfaces
    )
    return f"serves {kinds} applications; {workload.name} has none"
