"""What is wrong with a user's own configuration before it is served, with the lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lab.errors import MissingError, ProfileError
from lab.lint.flaw import Severity
from lab.lint.lint import Linted, lint
from lab.model.profile import Profile
from lab.model.runtime import OURS, Runtime
from lab.profiles.catalogue import is_ours
from lab.profiles.header import line_of
from lab.profiles.known import known_of
from lab.system.programs import placed
from lab.system.runtime import UWSGI, environment_of, program, require_python, with_home

RULES = ("UW101", "UW102", "UW103", "UW104", "UW105", "UW106", "UW109", "UW114", "UW115")
"""Of `lab lint`: where they find something uWSGI ends. Those of addresses are not among them."""


def warnings(profile: Profile, runtime: Runtime = OURS) -> tuple[str, ...]:
    """
    Return the errors and the options without effect in a user's own configuration, a line each.

    Raises:
        ProfileError: It cannot be read.
    """
    if not profile.own or not profile.path.is_file():
        return ()
    found = _linted(profile, runtime, ignore=("UW9", *RULES)).flaws
    said = (each for each in found if each.severity in (Severity.ERROR, Severity.NO_EFFECT))
    return tuple(f"{each.spot.file}:{each.spot.line}: {each.message}" for each in said)


def _linted(profile: Profile, runtime: Runtime, **rules: Any) -> Linted:
    """Return what the linter says, for this machine and the environment that it is served in."""
    runtime = runtime.started_in(profile.cwd)
    known = replace(
        known_of(program(replace(runtime, python=None), UWSGI)),
        cwd=runtime.cwd,
        environ=environment_of(runtime),
        section=profile.section,
    )
    return lint(str(profile.path), known, **rules)


def check_startable(profile: Profile, runtime: Runtime) -> None:
    """
    Refuse an ini that uWSGI would not start on this machine.

    Raises:
        ProfileError: With the option, its line, and what to do.
    """
    if profile.path.suffix != ".ini" or is_ours(profile.path):
        return
    linted = _linted(profile, runtime, select=RULES)
    for flaw in linted.flaws:
        if not linted.config.guesses and flaw.severity is Severity.ERROR:
            raise ProfileError(flaw.spot.file, flaw.message, flaw.spot.line)
    here = runtime.started_in(profile.cwd)
    for option, value in placed(profile):
        theirs = with_home(here, [(option, value)])
        try:
            program(theirs, UWSGI)
            require_python(theirs)
        except MissingError as error:
            line = line_of(profile.path.read_text(encoding="utf-8"), option)
            raise ProfileError(profile.path, f"{option} = {value}: {error}", line) from None
