"""What is wrong with a user's own configuration before it is served, with the lines."""

from __future__ import annotations

from dataclasses import replace

from lab.bench.machine import project
from lab.bench.machine.runtime import UWSGI, program, require_python, with_home
from lab.bench.profiles.catalogue import is_ours
from lab.bench.profiles.header import line_of
from lab.bench.profiles.known import with_build
from lab.bench.profiles.reading import NUMBERS, Reading, refused
from lab.config import servers
from lab.config.configuration import Config, Known
from lab.config.launch import placed
from lab.config.uwsgi.overrides import by_drop, by_env, unset
from lab.errors import MissingError, ProfileError
from lab.lint.flaw import Flaw, Severity
from lab.lint.lint import LintResult, linted
from lab.model.profile import Profile
from lab.model.runtime import HOME, OURS, Runtime

RULES = ("UW101", "UW102", "UW103", "UW104", "UW105", "UW106", "UW109", "UW114", "UW115")
"""Of `lab lint`: where they find something uWSGI ends. Those of addresses are not among them."""


def warnings(
    profile: Profile, runtime: Runtime = OURS, reading: Reading | None = None
) -> tuple[str, ...]:
    """
    Return the errors and the options without effect in a user's own configuration, a line each.

    Of a profile of this project only what has a text in the place of a number.

    Args:
        profile: Of that configuration.
        runtime: What its server is started with.
        reading: Of its file; None of a command.

    Raises:
        ProfileError: The file of the project that says which rules count cannot be read.
    """
    if reading is None:
        return ()
    if not profile.private_copy:
        numbers = reading.flaws(NUMBERS)
        return tuple(str(refused(flaw, runtime)) for flaw in numbers if flaw.counts)
    flaws = _linted(profile, runtime, reading, ignore=("UW9", *RULES)).flaws
    reported_flaws = (
        flaw for flaw in flaws if flaw.severity in (Severity.ERROR, Severity.NO_EFFECT)
    )
    return tuple(str(refused(flaw, runtime)) for flaw in reported_flaws)


def _linted(
    profile: Profile,
    runtime: Runtime,
    reading: Reading,
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
) -> LintResult:
    """Return what the linter says, for this machine and the environment that it is served in."""
    server = servers.of(profile)

    def build(known: Known) -> Known:
        # Another server's configuration is judged where no uWSGI is installed, too.
        if not server.has_builds:
            return known
        here = replace(runtime.started_in(profile.cwd), python=None)
        return with_build(known, program(here, server.program))

    every = reading.flaws_with(build)
    return linted(reading.case, every, select=select, ignore=ignore)


def check_startable(profile: Profile, runtime: Runtime, reading: Reading | None) -> None:
    """
    Refuse an ini that uWSGI would not start on this machine.

    Args:
        profile: Of that ini.
        runtime: What its server is started with.
        reading: Of the ini; None of a command.

    Raises:
        ProfileError: With the option, its line, and what to do.
    """
    if reading is None or profile.server != UWSGI or is_ours(profile.path):
        return
    lint_result = _linted(profile, runtime, reading, select=RULES)
    for flaw in lint_result.flaws:
        if flaw.severity is Severity.ERROR:
            raise refused(flaw, runtime, _flag(flaw, lint_result.config))
    here = runtime.started_in(profile.cwd)
    for option, value in placed(profile, project.root()):
        theirs = with_home(here, [(option, value)])
        try:
            program(theirs, UWSGI)
            require_python(theirs)
        except MissingError as error:
            line = line_of(profile.path.read_text(encoding="utf-8"), option)
            message = f"{option} = {value}: {error}; or {by_drop(option)}"
            raise ProfileError(profile.path, message, line) from None


def _flag(flaw: Flaw, config: Config) -> str:
    """Return which option of the lab helps where an ini would not start."""
    there = [setting for setting in config.settings if setting.spot == flaw.spot]
    # Of variables, which have no place of their own, the message says which it is.
    named = [setting for setting in there if flaw.message.startswith(f"{setting.written}: ")]
    option, value = next(((setting.option, setting.value) for setting in named or there), ("", ""))
    if names := unset(value):
        return by_env(names)
    if option == "chdir":
        return "or say which folder it is here: --chdir PATH"
    if option in HOME:
        return f"or name an environment: --python PATH; or {by_drop(option)}"
    return f"or {by_drop(option)}"
