"""
A gunicorn.conf.py of the user's as a trial may run it.

What a trial of it must not do as well, such as to write a real server's log, a second configuration
file undoes, which the first one is read by.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.config.files import UnreadableError, read_bytes
from lab.config.gunicorn import BIND, PROGRAM
from lab.config.gunicorn.edit import as_python
from lab.config.gunicorn.reader import assignments, hooks, python_text
from lab.config.meaning import ComputedValue
from lab.config.private import ASKED_SO, FREE_PORT, LOG, PID, PRIVATE_SOCKET, STATSD, started_by
from lab.config.steps import Put, Rename, Step
from lab.errors import ProfileError
from lab.model.digest import digest_of, told
from lab.model.profile import PrivateCopy, Profile
from lab.model.runtime import Alteration
from lab.model.workload import Transport, Wire

COPY = "private.conf.py"
SETTINGS = """\
# The private copy of {here}/NAME that a trial is served from.
HOOKS__file__ = "{here}/NAME"
with open(__file__, "rb") as _file:
    exec(compile(_file.read(), __file__, "exec"))
daemon = syslog = False
control_socket_disable = True
pidfile = statsd_host = certfile = keyfile = logconfig = logconfig_json = None
logconfig_dict = dict()
for _log in ("accesslog", "errorlog"):
    if globals().get(_log) not in (None, "-"):
        globals()[_log] = "{folder}/" + _log
"""
UNPRIVILEGED = "user = group = None\n"

LEFT_OUT = {
    "daemon": "would go to the background",
    "pidfile": PID,
    "statsd_host": STATSD,
    **dict.fromkeys(("syslog", "logconfig", "logconfig_dict", "logconfig_json"), LOG),
    **dict.fromkeys(("certfile", "keyfile"), "lab sends requests without TLS"),
}
MOVED = {"bind": FREE_PORT, "accesslog": "the trial's folder", "errorlog": "the trial's folder"}


def own(path: Path) -> Profile:
    """
    Return the profile of a gunicorn.conf.py.

    Raises:
        ProfileError: It cannot be read, or is no Python.
    """
    try:
        text = python_text(read_bytes(path), path)
        str(path.absolute()).encode()
    except UnreadableError as error:
        raise ProfileError(path, str(error)) from None
    except UnicodeEncodeError:
        problem = "its path is not UTF-8, and Python cannot read a private copy of it: rename it"
        raise ProfileError(path, problem) from None
    said = assignments(text)
    app = said.get("wsgi_app")
    bind = ("--bind", "{address}") if asked_over(said) else BIND
    command = (PROGRAM, "--config", f"{{folder}}/{COPY}", *bind, "{app}")
    called = ", ".join(hooks(text))
    run = f"# Its hooks run, and nobody here knows what they do: {called}.\n" if called else ""
    copy = SETTINGS.replace("HOOKS", run).replace("NAME", path.name)
    copy += UNPRIVILEGED * (os.geteuid() != 0)
    served = isinstance(app, str) and not isinstance(app, ComputedValue)
    options = (("app", str(app)),) if served else ()
    made = started_by(path.with_suffix("").name, path, command, options)
    return replace(
        made,
        summary=path.name,
        options=(*made.options, (path.name, text), (COPY, copy)),
        digest=digest_of((*made.options, (path.name, told(path.name, text)))),
        peer=replace(made.peer, fill=(COPY,)),
        interfaces=made.interfaces if options else ("wsgi",),
        own=PrivateCopy(path.parent, tuple(_altered(said))),
    )


def moved(profile: Profile, folder: Path) -> Profile:
    """Return the profile of a gunicorn.conf.py whose application is imported in *folder*."""
    if profile.own is None or COPY not in dict(profile.options):
        return profile
    said = assignments(dict(profile.options)[profile.path.name]).get("chdir")
    change = Alteration("chdir", str(said or ""), str(folder), "" if said else "--chdir")
    options = tuple(
        (name, f"{text}chdir = {str(folder)!r}\n" if name == COPY else text)
        for name, text in profile.options
    )
    private_copy = replace(profile.own, altered=(*profile.own.altered, change))
    return replace(profile, options=options, own=private_copy)


def stepped(profile: Profile, steps: Sequence[Step]) -> Profile:
    """Return the profile of a gunicorn.conf.py with some of its settings otherwise."""
    said = "".join(f"{_statement(step)}\n" for step in steps)
    options = tuple((name, text + said if name == COPY else text) for name, text in profile.options)
    return replace(profile, options=options, digest=digest_of((*profile.options, ("", said))))


def _statement(step: Step) -> str:
    match step:
        case Put(option, value):
            return f"{option} = {as_python(option, value)}"
        case Rename(option, to):
            return f"{to} = globals().pop({option!r})"
    return f"globals().pop({step.option!r}, None)"


def asked_over(settings: Mapping[str, object]) -> tuple[Wire, Transport] | None:
    """Return how a file with these settings is asked where that is not HTTP over TCP."""
    if settings.get("protocol") != "uwsgi":
        return None
    unix = str(settings.get("bind", "")).startswith("unix:")
    return Wire.UWSGI, Transport.UNIX if unix else Transport.TCP


def _altered(settings: Mapping[str, object]) -> Iterator[Alteration]:
    """Yield what the copy has otherwise than the settings of a gunicorn.conf.py."""
    reasons, moved = dict(LEFT_OUT), dict(MOVED)
    if os.geteuid():
        reasons |= dict.fromkeys(("user", "group"), "you are not root, so the server runs as you")
    if over := asked_over(settings):
        place = PRIVATE_SOCKET if over[1] is Transport.UNIX else FREE_PORT
        moved["bind"] = f"{place}, {ASKED_SO}"
    for name, value in settings.items():
        if value in (None, False, "-", ""):
            continue
        if name in reasons or name in moved:
            yield Alteration(name, str(value), moved.get(name), reasons.get(name, ""))
