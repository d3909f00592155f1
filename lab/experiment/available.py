"""What can be compared on this machine: which profiles are installed, and which serve what."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from lab import profiles
from lab.errors import MissingError, UsageError
from lab.experiment.plan import app_of
from lab.model import Profile, Workload
from lab.profiles import backing
from lab.servers import adapter
from lab.servers.command import fill, places
from lab.system.programs import find_command, runs_here, tried

WRITTEN = {"wsgi": "WSGI", "tornado": "Tornado", "program": "built-in"}
"""Interfaces that are written otherwise than as they are named."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A profile, and whether it is installed here."""

    profile: Profile
    missing: str | None
    """Why it cannot, such as "needs granian (pip install granian), which is not installed"."""
    version: str = ""
    """The first line that its server prints of its version; empty where it has none to print."""


def look(name: str) -> Installed:
    """
    Read a profile, by its name or path, and ask its server for its version.

    Raises:
        ProfileError: It is unknown, or cannot be resolved.
    """
    try:
        profile = profiles.read(name)
    except MissingError as error:
        return Installed(profiles.described(name), str(error))
    hint = f" ({profile.needs})" if profile.needs else ""
    if profile.python and not runs_here(profile.python):
        here = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return Installed(profile, f"needs Python {profile.python}, and this is {here}")
    words = places(profile)
    for first, *_ in filter(None, (*profile.commands, profile.build)):
        if first != "{built}" and find_command(fill(first, words, profile.path)) is None:
            program = fill(first, words | {"venv": f".peers/{profile.venv}/bin"}, profile.path)
            return Installed(profile, f"needs {program}{hint}, which is not installed")
    services = (backing.read(backing.FOLDER / f"{name}.toml") for name in profile.backing)
    if (reason := next(filter(None, map(backing.missing, services)), None)) is not None:
        return Installed(profile, reason)
    if not profile.version:
        return Installed(profile, None)
    program, *rest = (fill(word, words, profile.path) for word in profile.version)
    done = _told(find_command(program) or program, *rest)
    said = [line.strip() for line in (done.stdout if done else "").splitlines() if line.strip()]
    if done is None or done.returncode:
        why = said[-1] if said else f"{profile.version[0]} does not tell its version"
        return Installed(profile, f"cannot run{hint}: {why}")
    return Installed(profile, None, said[0] if said else "")


@cache
def _told(program: str, *words: str) -> subprocess.CompletedProcess[str] | None:
    """Return what a program says of its version, asked once for all profiles that run it."""
    return tried(program, *words)


def version_number(version: str) -> str:
    """
    Return the number in a line about a version, or the line where there is none.

    >>> version_number("nginx version: nginx/1.22.1"), version_number("of today")
    ('1.22.1', 'of today')
    """
    found = re.search(r"\d+(\.\w+)+", version)
    return found[0] if found else version


def available(names: Sequence[str], workload: Workload) -> tuple[list[Installed], dict[str, str]]:
    """
    Return the profiles that can be asked for *workload* here, and why each of the others cannot.

    Raises:
        ProfileError: A profile is unknown, cannot be resolved, or would harm a running server.
        UsageError: None can be asked here.
    """
    found = [look(name) for name in names]
    skipped = {
        each.profile.name: reason
        for each in found
        if (reason := each.missing or unserved(each.profile, workload)) is not None
    }
    chosen = [each for each in found if each.profile.name not in skipped]
    if not chosen:
        reasons: dict[str, list[str]] = {}
        for name, reason in skipped.items():
            reasons.setdefault(reason, []).append(name)
        said = (f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        raise UsageError(f"no profile can run here: {'; '.join(said)}")
    for each in chosen:
        adapter(each.profile).check(each.profile)  # now, and not when its turn comes
    return chosen, skipped


def unserved(profile: Profile, workload: Workload) -> str | None:
    """Return why *profile* cannot be asked for *workload*, or None."""
    if app_of(profile, workload) is not None:
        return None
    kinds = " or ".join(WRITTEN.get(each, each) for each in profile.interfaces)
    return f"serves {kinds} applications; {workload.name} has none"
