"""
The private copy of a user's gunicorn.conf.py.

The copy is a second configuration file. It executes the user's file, and then overrides the
settings that would reach beyond a trial, such as the log of a server in production.
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
from lab.config.private import FREE_PORT, LOG, OVER_UWSGI, PID, PRIVATE_SOCKET, STATSD, started_by
from lab.config.steps import Put, Rename, Step
from lab.errors import ProfileError
from lab.model.digest import digest_of, without_comments
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
CHANGED = {"bind": FREE_PORT, "accesslog": "the trial's folder", "errorlog": "the trial's folder"}


def profile_of_file(path: Path) -> Profile:
    """
    Return the profile of a gunicorn.conf.py.

    Raises:
        ProfileError: The file cannot be read, or is not Python.
    """
    try:
        text = python_text(read_bytes(path), path)
        str(path.absolute()).encode()
    except UnreadableError as error:
        raise ProfileError(path, str(error)) from None
    except UnicodeEncodeError:
        problem = "its path is not UTF-8, and Python cannot read a private copy of it: rename it"
        raise ProfileError(path, problem) from None
    settings = assignments(text)
    app = settings.get("wsgi_app")
    bind = ("--bind", "{address}") if protocol_of(settings) else BIND
    command = (PROGRAM, "--config", f"{{folder}}/{COPY}", *bind, "{app}")
    names = ", ".join(hooks(text))
    comment = f"# Its hooks run, and nobody here knows what they do: {names}.\n" if names else ""
    copy = SETTINGS.replace("HOOKS", comment).replace("NAME", path.name)
    copy += UNPRIVILEGED * (os.geteuid() != 0)
    served = isinstance(app, str) and not isinstance(app, ComputedValue)
    options = (("app", str(app)),) if served else ()
    profile = started_by(path.with_suffix("").name, path, command, options)
    return replace(
        profile,
        summary=path.name,
        options=(*profile.options, (path.name, text), (COPY, copy)),
        digest=digest_of((*profile.options, (path.name, without_comments(path.name, text)))),
        peer=replace(profile.peer, fill=(COPY,)),
        interfaces=profile.interfaces if options else ("wsgi",),
        private_copy=PrivateCopy(path.parent, tuple(_altered(settings))),
    )


def with_chdir(profile: Profile, folder: Path) -> Profile:
    """Return the profile of a gunicorn.conf.py with *folder* as its `chdir`."""
    if profile.private_copy is None:
        return profile
    before = assignments(dict(profile.options)[profile.path.name]).get("chdir")
    change = Alteration("chdir", str(before or ""), str(folder), "" if before else "--chdir")
    options = tuple(
        (name, f"{text}chdir = {str(folder)!r}\n" if name == COPY else text)
        for name, text in profile.options
    )
    private_copy = replace(profile.private_copy, altered=(*profile.private_copy.altered, change))
    return replace(profile, options=options, private_copy=private_copy)


def with_steps(profile: Profile, steps: Sequence[Step]) -> Profile:
    """Return the profile of a gunicorn.conf.py with the steps made in its private copy."""
    code = "".join(f"{_statement(step)}\n" for step in steps)
    options = tuple((name, text + code if name == COPY else text) for name, text in profile.options)
    return replace(profile, options=options, digest=digest_of((*profile.options, ("", code))))


def _statement(step: Step) -> str:
    match step:
        case Put(option, value):
            return f"{option} = {as_python(option, value)}"
        case Rename(option, to):
            return f"{to} = globals().pop({option!r})"
    return f"globals().pop({step.option!r}, None)"


def protocol_of(settings: Mapping[str, object]) -> tuple[Wire, Transport] | None:
    """Return the protocol that settings choose; None: HTTP over TCP."""
    if settings.get("protocol") != "uwsgi":
        return None
    unix = str(settings.get("bind", "")).startswith("unix:")
    return Wire.UWSGI, Transport.UNIX if unix else Transport.TCP


def _altered(settings: Mapping[str, object]) -> Iterator[Alteration]:
    """Yield the settings that differ in the private copy."""
    reasons, changed = dict(LEFT_OUT), dict(CHANGED)
    if os.geteuid():
        reasons |= dict.fromkeys(("user", "group"), "you are not root, so the server runs as you")
    if protocol := protocol_of(settings):
        place = PRIVATE_SOCKET if protocol[1] is Transport.UNIX else FREE_PORT
        changed["bind"] = f"{place}, {OVER_UWSGI}"
    for name, value in settings.items():
        if value in (None, False, "-", ""):
            continue
        if name in reasons or name in changed:
            yield Alteration(name, str(value), changed.get(name), reasons.get(name, ""))
