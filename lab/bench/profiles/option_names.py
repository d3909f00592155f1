"""Check the options that --keep and --drop name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from lab.config.uwsgi.table import uwsgi_options
from lab.errors import UsageError
from lab.model.profile import Profile
from lab.model.runtime import Runtime


def check_keep_and_drop(user_profiles: Sequence[Profile], runtime: Runtime) -> None:
    """
    Refuse options of --keep and --drop that no user's configuration has.

    Raises:
        UsageError: There is such an option; the message suggests a similar one.
    """
    inis = [profile for profile in user_profiles if not profile.commands]
    if runtime.drop and user_profiles and not inis:
        raise UsageError(f"--drop {min(runtime.drop)}: it leaves out options of an ini alone")
    for flag, given, of in (("keep", runtime.keep, user_profiles), ("drop", runtime.drop, inis)):
        has = sorted({option for profile in of for option in _options(profile)})
        for option in sorted(given - set(has)):
            hint = f"; it has {like}" if (like := _like(option, has)) else ""
            raise UsageError(f"--{flag} {option}: no configuration of yours has it{hint}")


def _like(option: str, has: Sequence[str]) -> str:
    """Return an option of *has* with the same meaning or a similar name; empty without one."""
    canonical = uwsgi_options().canonical
    same = [name for name in has if canonical(name) == canonical(option)]
    return next(iter(same or difflib.get_close_matches(option, has, n=1)), "")


def _options(profile: Profile) -> set[str]:
    return {name for name, _ in profile.options} | {
        alteration.option for alteration in profile.altered
    }
