"""
Configurations of the user's that are no file of uWSGI's: a gunicorn.conf.py, a command in quotes.

They run as they are, but listen where the lab asks. What a trial of them must not do as well, such
as to write a real server's log, a second configuration file undoes, which the first one is read by.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.dialects import granian
from lab.dialects import gunicorn as known
from lab.dialects.gunicorn import assignments, hooks, python_text
from lab.dialects.meaning import Computed
from lab.errors import ProfileError
from lab.model.profile import Own, Peer, Profile
from lab.model.runtime import OWN, Altered
from lab.profiles.digest import digest_of, told

BIND, HOST_PORT = ("--bind", "{host}:{port}"), ("--host", "{host}", "--port", "{port}")
LISTENS = {
    "gunicorn": BIND,
    "hypercorn": BIND,
    "granian": HOST_PORT,
    "uvicorn": HOST_PORT,
    "waitress-serve": ("--listen", "{host}:{port}"),
}
"""Program -> the words that tell it where to listen."""

FLAGS = {"gunicorn": known.takes_no_value, "granian": granian.takes_no_value}
"""Program -> whether one of its words is an option without a value."""

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
    "pidfile": "would overwrite a real server's",
    "statsd_host": "would report the trial's figures",
    "syslog": "would write to the real log",
    "logconfig": "would write to the real log",
    "logconfig_dict": "would write to the real log",
    "logconfig_json": "would write to the real log",
    "certfile": "the lab asks without TLS",
    "keyfile": "the lab asks without TLS",
}
FILES = {
    "--pid": LEFT_OUT["pidfile"],
    "-p": LEFT_OUT["pidfile"],
    "--control-socket": "would take a real server's",
    "--statsd-host": LEFT_OUT["statsd_host"],
    **dict.fromkeys(("--access-logfile", "--error-logfile", "--log-file"), LEFT_OUT["syslog"]),
}
"""Words of theirs that name a file or a host of the server in production -> why not in a trial."""
MOVED = {"bind": "a free port", "accesslog": "the trial's folder", "errorlog": "the trial's folder"}

PLACES = {"--bind", "-b", "--host", "--port", "--uds", "--listen", *FILES}
"""These, and the words that name an address; each has a value."""

BACKGROUND = {"--daemon", "-D"}


def is_command(name: str) -> bool:
    """Return whether a profile's name is a whole command, and not the path of a file."""
    # Of no name it says that it is too long.
    return " " in name.strip() and not os.path.isfile(os.path.expanduser(name))  # noqa: PTH111, PTH113


def gunicorn(path: Path) -> Profile:
    """
    Return the profile of a gunicorn.conf.py.

    Raises:
        ProfileError: It cannot be read, or is no Python.
    """
    try:
        text = python_text(path.read_bytes(), path)
        str(path.absolute()).encode()
    except OSError as error:
        raise ProfileError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeEncodeError:
        problem = "its path is no UTF-8, and Python reads no private copy of it: rename it"
        raise ProfileError(path, problem) from None
    settings = assignments(text)
    app = settings.get("wsgi_app")
    command = ("gunicorn", "--config", f"{{folder}}/{COPY}", *BIND, "{app}")
    called = ", ".join(hooks(text))
    run = f"# Its hooks run, and nobody here knows what they do: {called}.\n" if called else ""
    copy = SETTINGS.replace("HOOKS", run).replace("NAME", path.name)
    copy += UNPRIVILEGED * (os.geteuid() != 0)
    served = isinstance(app, str) and not isinstance(app, Computed)
    options = (("app", str(app)),) if served else ()
    made = _profile(path.with_suffix("").name, path, command, options)
    return replace(
        made,
        summary=path.name,
        options=(*made.options, (path.name, text), (COPY, copy)),
        digest=digest_of((*made.options, (path.name, told(path.name, text)))),
        peer=replace(made.peer, fill=(COPY,)),
        interfaces=made.interfaces if options else ("wsgi",),
        own=Own(path.parent, tuple(_altered(settings))),
    )


def _altered(settings: Mapping[str, object]) -> Iterator[Altered]:
    """Yield what the copy has otherwise than the settings of a gunicorn.conf.py."""
    reasons = dict(LEFT_OUT)
    if os.geteuid():
        reasons |= dict.fromkeys(("user", "group"), "you are not root, so it runs as you")
    for name, value in settings.items():
        if value in (None, False, "-", ""):
            continue
        if name in reasons or name in MOVED:
            yield Altered(name, str(value), MOVED.get(name), reasons.get(name, ""))


def command(text: str) -> Profile:
    """
    Return the profile of a command, which listens where {host} and {port} say.

    Raises:
        ProfileError: It does not say where, and its program is not known here.
    """
    here = Path.cwd()
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ProfileError(text, f"this is no command: {error}") from None
    if "=" in words[0]:
        words.insert(0, "env")
    at = next((n for n, word in enumerate(words) if "=" not in word and word != "env"), 0)
    at += 2 * (words[at + 1 : at + 2] == ["-m"])
    program = Path(words[at]).name if at < len(words) else ""
    altered: list[Altered] = []
    if not any("{port}" in word or "{address}" in word for word in words):
        if program not in LISTENS:
            hint = "give its options in an ini" if program == "uwsgi" else "write {port}"
            problem = f"the lab does not know how to tell {program} where to listen; {hint}"
            raise ProfileError(text, problem)
        words, altered = _listening(words, at, LISTENS[program])
    if program == "gunicorn":
        _check_gunicorn(text, words, here)
    _check_served(text, words[at:], program)
    apps = [word for word in words if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*(\(\))?", word)]
    said = [each for each in words[at + 1 :] if each not in PLACES and not re.search("[:{]", each)]
    name = re.sub(r"[^\w.]+", "-", " ".join((program, *said))).strip("-")
    options = tuple(("app", app) for app in apps[-1:])
    made = _profile(name, here / name, tuple(words), options)
    version = (words[0], "--version") if at == 0 and program in LISTENS else ()
    return replace(made, summary=text, version=version, own=Own(here, tuple(altered)))


def _check_gunicorn(text: str, words: Sequence[str], here: Path) -> None:
    """Refuse what would act beyond a trial, and what a file says that gunicorn reads by itself."""
    options = {word.partition("=")[0] for word in words}
    if options & BACKGROUND:
        raise ProfileError(text, "it would go to the background: leave --daemon out")
    if options & {"--config", "-c"}:
        raise ProfileError(text, "name its configuration itself, as in lab run gunicorn.conf.py")
    if (here / "gunicorn.conf.py").is_file():
        problem = (
            "gunicorn reads the gunicorn.conf.py of this folder, too: lab run gunicorn.conf.py"
        )
        raise ProfileError(text, problem)


def _check_served(text: str, words: Sequence[str], program: str) -> None:
    """Refuse a command of which no word may be an application; of other programs nobody knows."""
    if program not in FLAGS:
        return
    for before, word in itertools.pairwise(words):
        follows = before.startswith("-") and "=" not in before and not FLAGS[program](before)
        if not word.startswith("-") and (not follows or re.search(r"[A-Za-z_][.:]", word)):
            return
    instead = f"'{text} mysite.wsgi:application'"
    raise ProfileError(text, f"it names no application: write what it serves, as in {instead}")


def _listening(
    words: list[str], at: int, listens: tuple[str, ...]
) -> tuple[list[str], list[Altered]]:
    """Return a command, whose program stands *at*, at an address of the lab's in place of its."""
    kept, altered = words[: at + 1] + list(listens), []
    rest = iter(words[at + 1 :])
    for word in rest:
        option, equals, value = word.partition("=")
        if option not in PLACES:
            kept.append(word)
            continue
        value = value if equals else next(rest, "")
        if option in FILES and value == "-":  # it costs what it costs in production
            kept += [option, value]
        elif option in FILES:
            altered.append(Altered(option, value, None, FILES[option]))
        else:
            altered.append(Altered(option, value, MOVED["bind"]))
    return kept, altered


def _profile(
    name: str, path: Path, words: tuple[str, ...], options: tuple[tuple[str, str], ...]
) -> Profile:
    """Return what profiles of one command have in common."""
    told_so = (*options, ("run", json.dumps(words)))
    return Profile(
        name=name,
        server="command",
        path=path,
        summary="",
        against=None,
        options=told_so,
        digest=digest_of(told_so),
        interfaces=(OWN, "wsgi"),
        peer=Peer(commands=(words,)),
    )
