"""
What this project's own profiles were when a run was stored, told in the words of today.

A line that checked a start, and did nothing in a server that runs, makes no other profile, nor does
another path of the same application: what was measured then holds for the profile as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace

from lab.bench.profiles.peer import APP, digest_of_peer
from lab.model.digest import digest_of
from lab.model.profile import Profile

CHECK = re.compile(r'env = FIB_HOME=.*|exec-asap = python3 -I -S "\$FIB_HOME/app/preflight\.py" .*')
"""A line that `fibonacci serve` has made superfluous."""

MOVED = {
    "app/algorithms.py": "loadtests/workloads/fib/_algorithms.py",
    "app/article.py": "loadtests/workloads/fib/_article.py",
    "app.hello:app": "loadtests.workloads.hello:app",
    "app.outbound_grequests:app": "loadtests.workloads.outbound._grequests:app",
    "app.outbound_uwsgi:app": "loadtests.workloads.outbound._uwsgi:app",
    "{root}/app/event_loop.py": "{root}/profiles/event_loop.py",
}
"""Where an application was -> where it lies now, as an option names it."""


def as_today(profile: Profile) -> Profile:
    """Return a stored profile with the options, and the digest, that it would have today."""
    peer = bool(profile.commands)
    options = tuple(
        (name, _without_checks(value) if peer and name.endswith(".ini") else _moved(value))
        for name, value in profile.options
        if not CHECK.fullmatch(f"{name} = {value}")
    )
    apps = tuple((family, _moved(app)) for family, app in profile.apps)
    if (options, apps) == (profile.options, profile.apps):
        return profile
    digest = (
        digest_of_peer(options, profile.peer.replace)
        if peer
        else digest_of((*options, *((f"{APP}{family}", app) for family, app in apps)))
    )
    return replace(profile, options=options, apps=apps, digest=digest)


def _moved(value: str) -> str:
    return MOVED.get(value, value)


def _without_checks(text: str) -> str:
    return "".join(
        line for line in text.splitlines(keepends=True) if not CHECK.fullmatch(line.rstrip("\n"))
    )
