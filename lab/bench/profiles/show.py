"""The lines that `lab show` prints: a profile as `lab run` starts it."""

from __future__ import annotations

import re
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
    lines = list(_lines(profile))
    private_copy = "the private copy that `lab run` starts"
    what = private_copy if profile.private_copy else "as `lab run` starts it"
    yield f"{mark} {profile.summary if profile.private_copy else profile.path}: {what}."
    if braces := re.search(r"\{[a-z]+\}", "\n".join(lines)):
        yield f"{mark} What is in braces, such as {braces[0]}, is chosen at each start."
    for alteration in profile.altered:
        left_out = "left out: " if alteration.became is None else ""
        yield f"{mark} {left_out}{alteration}"
    yield ""
    yield from lines


def _lines(profile: Profile) -> Iterator[str]:
    places = {**folders(profile), "{host}": "127.0.0.1"}
    if not profile.commands:
        yield from flat(profile.options, places)
    for command in profile.commands:
        words = (shlex.quote(word) if set(word) & set(" '\"$") else word for word in command)
        yield filled(" ".join(words), places)
    for name in profile.peer.fill:
        yield from ("", f"# {name}", filled(dict(profile.options)[name], places).rstrip("\n"))
