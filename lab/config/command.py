"""The profile of a user's command in quotes: it runs unchanged, at the address of the trial."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lab.config import servers
from lab.config.private import FREE_PORT, LOG, PID, STATSD, started_by
from lab.config.words import program_at, with_literals, words_of
from lab.errors import ProfileError
from lab.model.digest import digest_of
from lab.model.profile import PrivateCopy, Profile
from lab.model.runtime import Alteration

FILES = {
    "--pid": PID,
    "--pid-file": PID,
    "-p": PID,
    "--control-socket": "would take over that of a real server",
    "--statsd-host": STATSD,
    **dict.fromkeys(("--access-logfile", "--error-logfile", "--log-file"), LOG),
}
"""Command options that would touch production -> why they are refused."""

VARIABLE = re.compile(r"\$[\w({]")

MAX_NAME = 32
"""Length of a name that fits into figures and tables, in characters."""

REPLACED = {"--bind", "-b", "--host", "--port", "--uds", "--listen", *FILES}
"""Options that are replaced: those of `FILES`, and those that set an address. Each has a value."""


def is_command(name: str) -> bool:
    """Return whether the name of a profile is a command, and not a file with blanks in its path."""
    return " " in name.strip() and not os.path.isfile(os.path.expanduser(name))  # noqa: PTH111, PTH113


def alone(text: str) -> str:
    """Return a command without the comments above it."""
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))


def profile_of(text: str, folder: Path | None = None) -> Profile:
    """
    Return the profile of a command, with {host} and {port} for its address.

    Args:
        text: The command, as `lab.config.reading.named` returns it.
        folder: The folder to start it in; None: the current folder.

    Raises:
        ProfileError: The command sets no address, and its program is unknown; or it has a variable
            that only a shell replaces.
    """
    here = folder or Path.cwd()
    words = shlex.split(text)
    before = list(itertools.takewhile(lambda word: "=" in word or word == "exec", words))
    words = [word for word in before if word != "exec"] + words[len(before) :]
    if "=" in words[0]:
        words.insert(0, "env")
    words, altered = _bound(text, words)
    at = program_at(words)
    at += 2 * (words[at + 1 : at + 2] == ["-m"])
    program = Path(words[at]).name if at < len(words) else ""
    server = servers.named(program)
    if not any("{port}" in word or "{address}" in word for word in words):
        if server is None or not server.listen:
            form = Path(server.file).suffix[1:] if server else ""
            hint = f"give its options in an {form}" if form else "write {port}"
            problem = f"the lab does not know how to tell {program} where to listen; {hint}"
            raise ProfileError(text, problem)
        words, moved = _listening(words, at, server.listen)
        altered += moved
    for word in words_of(text, here):
        if VARIABLE.search(with_literals(word.raw)) and word.value in words:
            problem = f"{word.raw}: only a shell knows what it stands for: write its value"
            raise ProfileError(text, problem)
    if server and (why := server.why_refused(words[at:], here)):
        raise ProfileError(text, why)
    if server and server.takes_no_value:
        _check_served(text, words[at:], server.takes_no_value)
    apps = [word for word in words if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*(\(\))?", word)]
    named = [
        word for word in words[at + 1 :] if word not in REPLACED and not re.search("[:{]", word)
    ]
    binding = [f"taskset {one.value}" for one in altered if one.option == "taskset"]
    name = _name(re.sub(r"[^\w.]+", "-", " ".join((*binding, program, *named))).strip("-"))
    options = tuple(("app", app) for app in apps[-1:])
    profile = started_by(name, here / name, tuple(words), options)
    prints = server is not None and server.listen and server.prints_version
    version = (words[0], "--version") if at == 0 and prints else ()
    return replace(
        profile, summary=text, version=version, private_copy=PrivateCopy(here, tuple(altered))
    )


def _bound(text: str, words: list[str]) -> tuple[list[str], list[Alteration]]:
    """Return a command that `taskset` binds to a CPU with {cpu} for it, and what was changed."""
    before = words[: program_at(words)]
    at = next((n for n, word in enumerate(before) if Path(word).name == "taskset"), None)
    if at is None:
        return words, []
    end = next((n for n in range(at + 1, len(before)) if not before[n].startswith("-")), at)
    options, cpus = before[at + 1 : end], before[end]
    is_list = any(re.fullmatch("-[a-z]*c[a-z]*|--cpu-list", option) for option in options)
    is_mask = re.fullmatch("(0x)?[0-9a-fA-F]+", cpus)
    if not (cpus.isdecimal() if is_list else is_mask and int(cpus, 16).bit_count() == 1):
        problem = f"taskset {cpus} is not one CPU: leave it out; --server-cores names the CPUs"
        raise ProfileError(text, problem)
    bound = [*words[: at + 1], "-c", "{cpu}", *words[end + 1 :]]
    return bound, [Alteration("taskset", cpus, "the first CPU of the server")]


def _name(words: str) -> str:
    """Return the name of a command; a long name is cut, and made unique by a digest."""
    if len(words) <= MAX_NAME:
        return words
    digest = digest_of((("command", words),))[:4]
    return f"{words[: MAX_NAME - len(digest) - 1].rstrip('-')}-{digest}"


def _check_served(text: str, words: Sequence[str], takes_no_value: Callable[[str], bool]) -> None:
    """Refuse a command in which no word can be an application."""
    for before, word in itertools.pairwise(words):
        follows = before.startswith("-") and "=" not in before and not takes_no_value(before)
        if not word.startswith("-") and (not follows or re.search(r"[A-Za-z_][.:]", word)):
            return
    instead = f"'{text} shop.wsgi:application'"
    raise ProfileError(
        text, f"the command names no application: write what it serves, as in {instead}"
    )


def _listening(
    words: list[str], at: int, listens: tuple[str, ...]
) -> tuple[list[str], list[Alteration]]:
    """Return a command with the address of the trial, and what was changed; its program is *at*."""
    replaced = {*REPLACED, *(word for word in listens if word.startswith("-"))}
    kept, altered = words[: at + 1] + list(listens), []
    rest = iter(words[at + 1 :])
    for word in rest:
        option, equals, value = word.partition("=")
        if option not in replaced:
            kept.append(word)
            continue
        value = value if equals else next(rest, "")
        if option in FILES and value == "-":  # its cost is that in production
            kept += [option, value]
        elif option in FILES:
            altered.append(Alteration(option, value, None, FILES[option]))
        else:
            altered.append(Alteration(option, value, FREE_PORT))
    return kept, altered
