"""
A profile with another number of worker processes or threads: an arm of a sweep over them.

An ini of uWSGI is served from a private copy with the option replaced. A command gets its program's
own option, which wins over the program's file and variables; where it has {workers} or {threads},
the number stands there. Whether the number took effect is counted: see `lab.analysis.gates.effect`.

Sources: uWSGI 2.0.31, core/uwsgi.c (a later option wins, and an ini that is named without --ini
comes last); gunicorn 27, gunicorn/app/base.py; waitress 3, which ends its options at the first word
that is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from lab import dialects
from lab.dialects.moves.move import MOST_WORKERS, with_values
from lab.errors import UsageError
from lab.model.profile import Own, Profile
from lab.profiles.digest import digest_of

SPELT: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "gunicorn": {"workers": ("--workers", "-w"), "threads": ("--threads",)},
    "granian": {"workers": ("--workers",), "threads": ("--blocking-threads",)},
    "uvicorn": {"workers": ("--workers",)},
    "hypercorn": {"workers": ("--workers", "-w")},
    "waitress-serve": {"threads": ("--threads",)},
    "uwsgi": {"workers": ("--processes", "--workers", "-p"), "threads": ("--threads",)},
}
"""Program -> quantity -> how its command spells the option, the usual way first."""

UWSGI = {
    "workers": ("processes", re.compile("cheaper.*"), "by which workers come and go"),
    "threads": (
        "threads",
        re.compile("asyncio|async|gevent|ugreen"),
        "which serves requests at once without threads",
    ),
}
"""Quantity -> uWSGI's option, the options that do not go with it, and why."""

LOOPS = re.compile("gevent|eventlet|tornado|uvicorn|asgi")
"""Worker classes of gunicorn's that have a loop, and no threads for requests."""


def scaled(profile: Profile, quantity: str, number: int) -> Profile:
    """
    Return *profile* with so many "workers" or "threads".

    Raises:
        UsageError: It has none to vary, or that is no number of them.
    """
    if not 1 <= number <= MOST_WORKERS:
        raise UsageError(f"--sweep {quantity}={number}: between 1 and {MOST_WORKERS}")
    why = _fixed_command(profile, quantity) if profile.commands else _fixed_ini(profile, quantity)
    if why is not None:
        raise UsageError(f"--sweep {quantity}: {profile.name} {why}")
    own = profile.own or Own()
    if not profile.commands:
        # uWSGI switches it on from two threads on; with one it would be another difference.
        threads = {"enable-threads": "true"} if quantity == "threads" else {}
        options = with_values(profile.options, {UWSGI[quantity][0]: number, **threads})
        return replace(profile, own=own, options=options, digest=digest_of(options))
    commands = tuple(_told(each, quantity, number) for each in profile.commands)
    left = iter(commands)
    options = tuple(
        (name, json.dumps(next(left)) if name == "run" else text) for name, text in profile.options
    )
    digest = digest_of(((profile.digest, f"{quantity} = {number}"),))
    peer = replace(profile.peer, commands=commands)
    return replace(profile, own=own, peer=peer, options=options, digest=digest)


def _fixed_ini(profile: Profile, quantity: str) -> str | None:
    """Return why an ini has no such number to vary; None where it has."""
    read, (_, other, why) = dialects.settings(profile), UWSGI[quantity]
    found = next((each for each in read.options if other.fullmatch(each) and read.sets(each)), None)
    return found and f"has {found} = {read.options[found]}, {why}: leave it out in a copy"


def _fixed_command(profile: Profile, quantity: str) -> str | None:
    """Return the same of a command."""
    mark, words = f"{{{quantity}}}", [word for command in profile.commands for word in command]
    if any(mark in word for word in words):
        return None
    programs = [name for word in words if (name := PurePath(word).name) in SPELT]
    if not programs:
        known = ", ".join(name for name, spelt in SPELT.items() if quantity in spelt)
        return (
            f"has no {quantity} to vary: its program is none of {known}, and its command has no "
            f"{mark} where the number is to stand"
        )
    if not any(quantity in SPELT[program] for program in programs):
        return f"has no {quantity} to vary: {programs[0]} has no option for them"
    worker = str(dialects.settings(profile).options.get("worker_class", ""))
    if quantity == "threads" and LOOPS.search(worker):
        return f"has no threads to vary: its worker class, {worker}, serves by a loop"
    return None


def _told(command: Sequence[str], quantity: str, number: int) -> tuple[str, ...]:
    """Return a command that asks for the number; as it is where it starts another program."""
    mark = f"{{{quantity}}}"
    if any(mark in word for word in command):
        return tuple(word.replace(mark, str(number)) for word in command)
    programs = (quantity in SPELT.get(PurePath(word).name, ()) for word in command)
    at = next((place for place, found in enumerate(programs) if found), None)
    if at is None:
        return tuple(command)
    program = PurePath(command[at]).name
    spelt = SPELT[program][quantity]
    first, rest = command[: at + 1], _without(command[at + 1 :], spelt)
    if program != "uwsgi":
        return (*first, spelt[0], str(number), *rest)
    more = ("--enable-threads",) if quantity == "threads" else ()
    return (*first, *_named(rest), spelt[0], str(number), *more)


def _without(words: Sequence[str], spelt: Sequence[str]) -> Iterator[str]:
    """Yield *words* without an option, however it is spelt, and its value."""
    rest = iter(words)
    for word in rest:
        option, equals, _ = word.partition("=")
        if option in spelt and not equals:
            next(rest, None)
        elif option not in spelt and not (word[:2] in spelt and word[2:].isdecimal()):
            yield word


def _named(words: Iterator[str]) -> Iterator[str]:
    """Yield *words* of uWSGI with --ini before each ini, so that what stands behind it wins."""
    before = ""
    for word in words:
        if word.endswith(".ini") and not before.startswith("-"):
            yield "--ini"
        yield word
        before = word
