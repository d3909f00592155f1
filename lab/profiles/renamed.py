"""
What this project's own profiles were when a run was stored, told in the words of today.

A line that checked a start, and did nothing in a server that runs, makes no other profile: what was
measured then holds for the profile as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace

from lab.model import Profile
from lab.profiles.digest import digest_of
from lab.profiles.peer import APP, digest_of_peer

CHECK = re.compile(r'env = FIB_HOME=.*|exec-asap = python3 -I -S "\$FIB_HOME/app/preflight\.py" .*')
"""A line that `fibonacci serve` has made superfluous."""


def as_today(profile: Profile) -> Profile:
    """Return a stored profile with the options, and the digest, that it would have today."""
    peer = bool(profile.commands)
    options = tuple(
        (name, _without_checks(value) if peer and name.endswith(".ini") else value)
        for name, value in profile.options
        if not CHECK.fullmatch(f"{name} = {value}")
    )
    if options == profile.options:
        return profile
    digest = (
        digest_of_peer(options, profile.replace)
        if peer
        else digest_of((*options, *((f"{APP}{family}", app) for family, app in profile.apps)))
    )
    return replace(profile, options=options, digest=digest)


def _without_checks(text: str) -> str:
    return "".join(
        line for line in text.splitlines(keepends=True) if not CHECK.fullmatch(line.rstrip("\n"))
    )
