"""Which profile of a run each one is a step from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lab.model.plan import Plan
from lab.model.profile import Profile


def reference_lines(plan: Plan) -> tuple[Profile, ...]:
    """Return the profiles that only show what their server can do; none that a run begins with."""
    if plan.profiles[0].reply is not None:
        return ()
    return tuple(profile for profile in plan.profiles if profile.reply is not None)


def steps_from(plan: Plan) -> dict[str, str | None]:
    """
    Return by profile the one that it is a step from; none comes back to itself by such steps.

    A run holds only the profiles that it runs, so where `against` is not among them the ladder's
    order is what is left of the line of descent: the one that the plan has before it, of the same
    server if there is one, and no reference line, which nothing is a step from.
    """
    names = {profile.name for profile in plan.profiles}
    origins = {
        profile.name: profile.against
        for profile in plan.profiles
        if profile.against is None or profile.against in names
    }
    origins[plan.profiles[0].name] = None  # all others are compared with it
    lines = reference_lines(plan)
    for place, profile in enumerate(plan.profiles):
        if profile.name in origins:
            continue
        earlier = [
            candidate
            for candidate in plan.profiles[:place]
            if candidate not in lines and profile.name not in _descent(candidate.name, origins)
        ]
        alike = [candidate for candidate in earlier if candidate.server == profile.server]
        origins[profile.name] = (alike or earlier)[-1].name if earlier else None
    return origins


def _descent(name: str | None, before: Mapping[str, str | None]) -> Iterator[str]:
    while name is not None:
        yield name
        name = before.get(name)
