"""
Set the number of worker processes or threads of a profile, for a sweep over them.

An ini of uWSGI is served from a private copy with the option replaced. A command gets the option of
its program, which overrides the program's file and variables, or the number in place of {workers}
or {threads}. `lab.analysis.gates.effect` checks that the number took effect.

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
    Return *profile* with *number* "workers" or "threads".

    Raises:
        UsageError: The number cannot be set in this profile, or is out of range.
    """
    if not 1 <= number <= MOST_WORKERS:
        raise UsageError(f"--sweep {quantity}={number}: between 1 and {MOST_WORKERS}")
    if (why := _why_fixed(profile, quantity)) is not None:
        raise UsageError(f"--sweep {quantity}: {profile.name} {why}")
    private_copy = profile.private_copy or PrivateCopy()
    if not profile.commands:
        options = servers.of(profile).with_options(profile.options, quantity, number)
        return replace(
            profile, private_copy=private_copy, options=options, digest=digest_of(options)
        )
    commands = [_with_number(command, quantity, number) for command in profile.commands]
    scaled_profile = with_commands(profile, commands, f"{quantity} = {number}")
    return replace(scaled_profile, private_copy=private_copy)


def with_commands(profile: Profile, commands: Sequence[tuple[str, ...]], change: str) -> Profile:
    """Return *profile* with other commands; *change* is part of its digest."""
    remaining = iter(commands)
    options = tuple(
        (name, json.dumps(next(remaining)) if name == "run" else text)
        for name, text in profile.options
    )
    digest = digest_of(((profile.digest, change),))
    peer = replace(profile.peer, commands=tuple(commands))
    return replace(profile, peer=peer, options=options, digest=digest)


def _why_fixed(profile: Profile, quantity: str) -> str | None:
    """Return why the number cannot be set in a profile; None if it can."""
    mark, words = f"{{{quantity}}}", [word for command in profile.commands for word in command]
    if any(mark in word for word in words):
        return None
    server = servers.of(profile)
    if profile.commands and not any(_program_in(command, quantity) for command in profile.commands):
        if server.program:
            return f"has no {quantity} to vary: {server.program} has no option for them"
        known = ", ".join(server.program for server in servers.every() if server.flags_of(quantity))
        return (
            f"has no {quantity} to vary: its program is none of {known}, and its command does not "
            f"contain {mark} in place of the number"
        )
    return server.why_fixed(profile, quantity)


def _program_in(command: Sequence[str], quantity: str) -> tuple[int, Server] | None:
    """Return the position of a program with an option for *quantity*, and its server."""
    programs = ((at, servers.named(word)) for at, word in enumerate(command))
    return next(
        ((at, server) for at, server in programs if server and server.flags_of(quantity)), None
    )


def _with_number(command: Sequence[str], quantity: str, number: int) -> tuple[str, ...]:
    """Return a command with the number; unchanged if it starts a program without such an option."""
    mark = f"{{{quantity}}}"
    if any(mark in word for word in command):
        return tuple(word.replace(mark, str(number)) for word in command)
    if (program := _program_in(command, quantity)) is None:
        return tuple(command)
    at, server = program
    rest = tuple(_without(command[at + 1 :], server.flags_of(quantity)))
    return (*command[: at + 1], *server.with_number(rest, quantity, number))


def _without(words: Sequence[str], flags: Sequence[str]) -> Iterator[str]:
    """Yield *words* without the options *flags* and their values."""
    rest = iter(words)
    for word in rest:
        option, equals, _ = word.partition("=")
        if option in flags and not equals:
            next(rest, None)
        elif option not in flags and not (word[:2] in flags and word[2:].isdecimal()):
            yield word
