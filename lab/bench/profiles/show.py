"""The lines that `lab show` prints: a profile as a trial runs it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lab.bench.machine.programs import folders
from lab.config.uwsgi import filled, flat
from lab.model.profile import Profile


def lines_of(profile: Profile) -> Iterator[str]:
    """
    Yield the lines of the ini, or of the commands and files, that a trial of *profile* runs.

    Words in braces, such as {port}, {socket} and {folder}, differ in each trial.
    """
    mark = "#" if profile.commands else ";"
    what = "the private copy that a trial runs" if profile.private_copy else "as a trial runs it"
    yield f"{mark} {profile.summary if profile.private_copy else profile.path}: {what}."
    if profile.private_copy:
        yield f"{mark} What is in braces is each trial's own."
    for alteration in profile.altered:
        left_out = "left out: " if alteration.became is None else ""
        yield f"{mark} {left_out}{alteration}"
    yield ""
    places = {**folders(profile), "{host}": "127.0.0.1"}
    if not profile.commands:
        yield from flat(profile.options, places)
    for command in profile.commands:
        words = (shlex.quote(word) if set(word) & set(" '\"$") else word for word in command)
        yield filled(" ".join(words), places)
    for name in profile.peer.fill:
        yield from ("", f"# {name}", filled(dict(profile.options)[name], places).rstrip("\n"))
