"""What the options of a uWSGI profile mean: as those of an ini do, by the same reading."""

from __future__ import annotations

from lab.dialects.config import Config
from lab.dialects.meaning import Settings
from lab.dialects.spot import Setting, Spot
from lab.dialects.uwsgi import OFF, application
from lab.dialects.uwsgi.table import uwsgi_options
from lab.model.profile import Profile

AT_ONCE = ("threads", "async", "gevent", "asyncio")
"""Options that say how many requests a worker process serves at a time."""


def config(profile: Profile) -> Config:
    """Return a uWSGI profile's options as what was read, which stands nowhere."""
    nowhere = Spot(profile.path, 0, 0)
    settings = (Setting(name, value, nowhere, value) for name, value in profile.options)
    return Config("uWSGI", profile.path, tuple(settings), table=uwsgi_options())


def read(profile: Profile) -> Settings | None:
    """Return what the options of a uWSGI profile mean; None for another server."""
    if profile.server != "uwsgi":
        return None
    written = config(profile)
    options = dict(profile.options)
    return Settings(
        server="uWSGI",
        options=options,
        off=OFF,
        application=application(options),
        processes=written.processes if _are_numbers(written, "processes") else None,
        at_once=written.at_once if _are_numbers(written, *AT_ONCE) else None,
        routed=bool(written.sockets("router")),
        logs=not written.on("disable-logging"),
        accept_lock=written.on("thunder-lock"),
        implied_keepalive=True,
        movable=True,
    )


def _are_numbers(written: Config, *names: str) -> bool:
    """Return whether these options are written as numbers, as far as they are written."""
    found = (written.last(name) for name in names)
    return all(each.value.isdecimal() for each in found if each is not None)
