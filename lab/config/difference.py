"""Which options two profiles differ in."""

from __future__ import annotations

from dataclasses import dataclass

from lab.config.uwsgi import effective
from lab.model.profile import Profile


@dataclass(frozen=True, slots=True)
class Difference:
    """What a profile changes against another; of a repeated option only what takes effect."""

    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str, str], ...] = ()
    """Option, before, after."""


def difference(profile: Profile, against: Profile) -> Difference:
    """Return which options *profile* adds, removes and changes, in alphabetical order."""
    if profile.server != against.server:  # the options of two servers have nothing in common
        return Difference(changed=(("server", against.server, profile.server),))
    before, after = effective(against.options), effective(profile.options)
    return Difference(
        added=tuple((key, after[key]) for key in sorted(after.keys() - before.keys())),
        removed=tuple((key, before[key]) for key in sorted(before.keys() - after.keys())),
        changed=tuple(
            (key, before[key], after[key])
            for key in sorted(before.keys() & after.keys())
            if before[key] != after[key]
        ),
    )
