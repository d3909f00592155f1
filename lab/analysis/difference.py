"""
Which options two profiles differ in.

Of most options uWSGI keeps the last value that is written, so options are compared by what they
amount to and not line by line.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.model import Profile

REPEATABLE = frozenset(
    {"add-header", "cache2", "collect-header", "http", "http-socket", "http11-socket", "import"}
    | {"plugins", "pythonpath", "socket", "static-map", "uwsgi-socket"}
)
REPEATED = ("exec-", "hook-", "route", "final-route")
"""Options, and beginnings of them, of which uWSGI keeps every value, as of `env`; of any other the
last counts."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a profile changes against another; of a repeated option only what takes effect."""

    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str, str], ...] = ()
    """Option, before, after."""


def step(profile: Profile, against: Profile) -> Step:
    """Return which options *profile* adds, removes and changes, in alphabetical order."""
    if profile.server != against.server:  # the options of two servers have nothing in common
        return Step(changed=(("server", against.server, profile.server),))
    before, after = _effective(against), _effective(profile)
    return Step(
        added=tuple((key, after[key]) for key in sorted(after.keys() - before.keys())),
        removed=tuple((key, before[key]) for key in sorted(before.keys() - after.keys())),
        changed=tuple(
            (key, before[key], after[key])
            for key in sorted(before.keys() & after.keys())
            if before[key] != after[key]
        ),
    )


def _effective(profile: Profile) -> dict[str, str]:
    effective: dict[str, str] = {}
    for key, value in profile.options:
        if key == "env":
            name, _, content = value.partition("=")
            effective[f"env {name}"] = content
        elif key in effective and (key in REPEATABLE or key.startswith(REPEATED)):
            effective[key] += f", {value}"
        else:
            effective[key] = value
    return effective
