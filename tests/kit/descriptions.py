"""What the files of all profiles say of themselves, read once for the tables of several files."""

import functools

from lab.bench import profiles
from lab.model.profile import Profile


@functools.cache
def descriptions() -> dict[str, Profile]:
    """Return each profile's description by its name."""
    return {name: profiles.described(name) for name in profiles.find()}
