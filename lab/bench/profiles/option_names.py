"""Options of a user's configurations that --keep and --drop name: they must be there."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from lab.config.uwsgi.table import uwsgi_options
from lab.errors import UsageError
from lab.model.profile import Profile
from lab.model.runtime import Runtime


def check_keep_and_drop(user_profiles: Sequence[Profile], runtime: Runtime) -> None:
    """
    Refuse options to keep or to drop that none of the user's configurations has.

    Raises:
        UsageError: With the option of that meaning, or of a like name, that they have.
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
    """Return the option of *has* that means the same, or has such a name; empty without one."""
    canonical = uwsgi_options().canonical
    same = [each for each in has if canonical(each) == canonical(option)]
    return next(iter(same or difflib.get_close_matches(option, has, n=1)), "")


def _options(profile: Profile) -> set[str]:
    return {name for name, _ in profile.options} | {
        alteration.option for alteration in profile.altered
    }
