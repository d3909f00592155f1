"""A profile as a trial runs it, for people: what `lab show` prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lab.bench.machine.programs import folders
from lab.config.uwsgi import filled, flat
from lab.model.profile import Profile


def shown(profile: Profile) -> Iterator[str]:
    """
    Yield the lines of the ini, or of the commands and files, that a trial of *profile* runs.

    {port}, {socket}, {folder} and what else is in braces stand for what each trial has of its own.
    """
    mark = "#" if profile.commands else ";"
    theirs = "the private copy that a trial runs" if profile.own else "as a trial runs it"
    yield f"{mark} {profile.summary if profile.own else profile.path}: {theirs}."
    if profile.own:
        yield f"{mark} What is in braces is each trial's own."
    for alteration in profile.altered:
        what = "left out: " if alteration.became is None else ""
        yield f"{mark} {what}{alteration}"
    yield ""
    places = {**folders(profile), "{host}": "127.0.0.1"}
    if not profile.commands:
        yield from flat(profile.options, places)
    for command in profile.commands:
        words = (shlex.quote(word) if set(word) & set(" '\"$") else word for word in command)
        yield filled(" ".join(words), places)
    for name in profile.peer.fill:
        yield from ("", f"# {name}", filled(dict(profile.options)[name], places).rstrip("\n"))
