"""
What each server's options mean: of a profile, whichever server it is for.

To add a server of which more is known than its command, add a module whose `read` returns the
`Settings` of that server's profiles and None for any other, and name the module in `_READERS`.
Nothing here starts a server, and no other part of the lab asks which server a profile is for.
"""

from __future__ import annotations

from lab.dialects import gunicorn
from lab.dialects.meaning import Settings
from lab.dialects.uwsgi import meant
from lab.model.profile import Profile

_READERS = (meant.read, gunicorn.read)


def settings(profile: Profile) -> Settings:
    """Return what the options mean; of a server without a reader, the application alone."""
    answers = (read(profile) for read in _READERS)
    unknown = Settings(application=dict(profile.options).get("app"))
    return next((found for found in answers if found is not None), unknown)
