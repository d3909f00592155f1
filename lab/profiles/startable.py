"""What of a user's ini would keep uWSGI from starting here, with the line where it stands."""

from __future__ import annotations

from dataclasses import replace

from lab.errors import MissingError, ProfileError
from lab.model import Profile, Runtime
from lab.profiles.catalogue import FOLDER
from lab.profiles.header import line_of
from lab.profiles.lint import known_of, lint
from lab.settings.lint.flaw import Severity
from lab.system.programs import ROOT
from lab.system.runtime import UWSGI, environment_of, program, with_home

RULES = ("UW101", "UW102", "UW103", "UW104", "UW105", "UW106", "UW109", "UW114", "UW115")
"""Of `lab lint`: where they find something uWSGI ends. Those of addresses are not among them."""


def check_startable(profile: Profile, runtime: Runtime) -> None:
    """
    Refuse an ini that uWSGI would not start on this machine.

    Raises:
        ProfileError: With the option, its line, and what to do.
    """
    if profile.path.suffix != ".ini" or profile.path.is_relative_to(FOLDER):
        return
    runtime = replace(runtime, cwd=runtime.cwd or profile.cwd)
    environ = environment_of(runtime)
    known = replace(
        known_of(program(replace(runtime, python=None), UWSGI)), cwd=runtime.cwd, environ=environ
    )
    linted = lint(str(profile.path), known, select=RULES)
    for flaw in linted.flaws:
        judged = not (linted.config.guesses or profile.section)  # it reads [uwsgi] alone
        if judged and flaw.severity is Severity.ERROR:
            raise ProfileError(flaw.spot.file, flaw.message, flaw.spot.line)
    places = ("{here}", str(profile.path.parent)), ("{root}", str(ROOT))
    for option, value in profile.options:
        for name, place in places:
            value = value.replace(name, place)  # noqa: PLW2901
        try:
            program(with_home(runtime, [(option, value)]), UWSGI)
        except MissingError as error:
            line = line_of(profile.path.read_text(encoding="utf-8"), option)
            raise ProfileError(profile.path, f"{option} = {value}: {error}", line) from None
