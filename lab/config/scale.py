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
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab.config import servers
from lab.config.moves import MOST_WORKERS
from lab.config.server import Server
from lab.errors import UsageError
from lab.model.digest import digest_of
from lab.model.profile import PrivateCopy, Profile


def scaled(profile: Profile, quantity: str, number: int) -> Profile:
    """
    Return *profile* with so many "workers" or "threads".

    Raises:
        UsageError: It has none to vary, or that is no number of them.
    """
    if not 1 <= number <= MOST_WORKERS:
        raise UsageError(f"--sweep {quantity}={number}: between 1 and {MOST_WORKERS}")
    if (why := _fixed(profile, quantity)) is not None:
        raise UsageError(f"--sweep {quantity}: {profile.name} {why}")
    private_copy = profile.private_copy or PrivateCopy()
    if not profile.commands:
        options = servers.of(profile).with_options(profile.options, quantity, number)
        return replace(
            profile, private_copy=private_copy, options=options, digest=digest_of(options)
        )
    commands = tuple(_told(command, quantity, number) for command in profile.commands)
    left = iter(commands)
    options = tuple(
        (name, json.dumps(next(left)) if name == "run" else text) for name, text in profile.options
    )
    digest = digest_of(((profile.digest, f"{quantity} = {number}"),))
    peer = replace(profile.peer, commands=commands)
    return replace(profile, private_copy=private_copy, peer=peer, options=options, digest=digest)


def _fixed(profile: Profile, quantity: str) -> str | None:
    """Return why a profile has no such number to vary; None where it has."""
    mark, words = f"{{{quantity}}}", [word for command in profile.commands for word in command]
    if any(mark in word for word in words):
        return None
    server = servers.of(profile)
    if profile.commands and not any(_asked(command, quantity) for command in profile.commands):
        if server.program:
            return f"has no {quantity} to vary: {server.program} has no option for them"
        known = ", ".join(server.program for server in servers.every() if server.flags_of(quantity))
        return (
            f"has no {quantity} to vary: its program is none of {known}, and its command does not "
            f"contain {mark} in place of the number"
        )
    return server.why_fixed(profile, quantity)


def _asked(command: Sequence[str], quantity: str) -> tuple[int, Server] | None:
    """Return where in a command the program stands that has an option for it; None if nowhere."""
    found = ((at, servers.named(word)) for at, word in enumerate(command))
    return next(
        ((at, server) for at, server in found if server and server.flags_of(quantity)), None
    )


def _told(command: Sequence[str], quantity: str, number: int) -> tuple[str, ...]:
    """Return a command that asks for the number; as it is where it starts another program."""
    mark = f"{{{quantity}}}"
    if any(mark in word for word in command):
        return tuple(word.replace(mark, str(number)) for word in command)
    if (asked := _asked(command, quantity)) is None:
        return tuple(command)
    at, server = asked
    rest = tuple(_without(command[at + 1 :], server.flags_of(quantity)))
    return (*command[: at + 1], *server.with_number(rest, quantity, number))


def _without(words: Sequence[str], spelt: Sequence[str]) -> Iterator[str]:
    """Yield *words* without an option, however it is spelt, and its value."""
    rest = iter(words)
    for word in rest:
        option, equals, _ = word.partition("=")
        if option in spelt and not equals:
            next(rest, None)
        elif option not in spelt and not (word[:2] in spelt and word[2:].isdecimal()):
            yield word
