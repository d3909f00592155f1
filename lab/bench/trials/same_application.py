"""
A user's configuration in a comparison: what it serves, the other profiles serve as well.

Application and server are two parts of it. The profiles of ours beside it keep their server, and
get its application, and stand behind the same proxy: so only what is compared differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab.bench import profiles
from lab.bench.machine import project
from lab.bench.machine.runtime import runtime_of
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.plan import app_of
from lab.config import servers
from lab.config.launch import placed
from lab.config.uwsgi.private import asked_over, proxied
from lab.config.uwsgi.roles import served_by
from lab.errors import UsageError
from lab.model.digest import digest_of
from lab.model.profile import PrivateCopy, Profile
from lab.model.runtime import OWN, Alteration, Variables
from lab.model.workload import Workload


def says_what_is_served(names: Sequence[str]) -> bool:
    """
    Return whether one of the profiles is a configuration of the user's.

    Raises:
        ProfileError: One that is named as a file is not there.
    """
    return any(map(profiles.is_theirs, names))


def shared(found: Sequence[Profile], workload: Workload) -> tuple[list[Profile], Workload]:
    """
    Return profiles and workload so that all serve what the first of the user's own says.

    Its application goes to profiles of uWSGI with all that it says of it, and to others as a module
    and its environment, unless *workload* names one. Where it is asked as a proxy asks, profiles of
    uWSGI are, too.

    Raises:
        UsageError: An option is to be kept that none of them has, or that cannot be.
    """
    theirs = [profile for profile in found if profile.own]
    _check_options_apply(theirs, workload)
    for profile in theirs:
        for alteration in profile.altered:
            if alteration.value and alteration.option in workload.runtime.keep:
                problem = f"{profile.path.name}: {alteration}: that cannot stay as it is"
                raise UsageError(f"--keep {alteration.option}: {problem}; leave --keep out")
    given, workload = _with_application_of_first(found, theirs, workload)
    if not workload.runtime.front_http:
        given = [_proxied(profile, theirs) for profile in given]
    return given, workload


def _check_options_apply(theirs: Sequence[Profile], workload: Workload) -> None:
    """Refuse what is told of inis of the user's where none of them has it."""
    runtime = workload.runtime
    profiles.check_named(theirs, runtime)
    folder = runtime.chdir
    moves_chdir = any(change.option == "chdir" for profile in theirs for change in profile.altered)
    inis = any(not profile.commands for profile in theirs)
    if theirs and not (inis or moves_chdir) and folder is not None and OWN in workload.apps:
        raise UsageError(f"--chdir {folder}: it goes with --app, or with a file of yours")


def _with_application_of_first(
    found: Sequence[Profile], theirs: Sequence[Profile], workload: Workload
) -> tuple[list[Profile], Workload]:
    """Return profiles and workload with the application that the first of the user's own serves."""
    if not theirs or OWN not in workload.apps:
        return list(found), workload
    mine = theirs[0]
    sought = ServerRunner().sought(mine, replace(workload, apps={}))
    if sought is None or not sought.module:
        return [_with_application(profile, mine) for profile in found], replace(
            workload, name=mine.name
        )
    module, path = sought.module, sought.path
    if module.endswith(".py"):
        file = sought.folder / module
        module, path = file.stem, (*path, str(file.parent))
    app, runtime = f"{module}:{sought.callable}", workload.runtime
    runtime = replace(runtime, python=runtime_of(mine, runtime).python)
    values = {**runtime.variables.reveal(), **dict(sought.variables)}
    if path:
        # uWSGI puts each before those that it has.
        values["PYTHONPATH"] = ":".join(str(sought.folder / each) for each in reversed(path))
    variables = Variables.of(values, runtime.variables.digest) if values else runtime.variables
    given = replace(
        workload,
        name=app,
        apps={OWN: "", "wsgi": app},
        chdir=sought.folder,
        beside=replace(runtime, variables=variables),
    )
    return [_with_application(profile, mine) for profile in found], given


def _with_application(profile: Profile, mine: Profile) -> Profile:
    """Return a profile of uWSGI with the application of *mine*."""
    other = profile.own or profile.commands or mine.commands or profile.reply is not None
    if other or "wsgi" not in profile.interfaces:
        return profile
    interfaces = (OWN, *profile.interfaces)
    options = served_by(profile.options, placed(mine, project.root()))
    private_copy = PrivateCopy(mine.cwd, profile.altered)
    return replace(_with_options(profile, options), own=private_copy, interfaces=interfaces)


def _proxied(profile: Profile, theirs: Sequence[Profile]) -> Profile:
    """Return a profile of ours behind the proxy of the first ini among *theirs*, if it has one."""
    asked = next((asked_over(profile.options) for profile in theirs if not profile.commands), None)
    if asked is None or profile.commands or profile in theirs or not asked[0].manner.proxied:
        return profile
    return replace(_with_options(profile, proxied(profile.options, asked[1])), keepalive=False)


def _with_options(profile: Profile, options: tuple[tuple[str, str], ...]) -> Profile:
    """Return a profile of ours that is served from a private copy, of other options."""
    private_copy = profile.own or PrivateCopy()
    return replace(profile, own=private_copy, options=options, digest=digest_of(options))


def remarks(
    found: Sequence[Profile], cores: Sequence[int] | None, workload: Workload
) -> Iterator[str]:
    """Yield what the user has to know of their configurations before they run, in lines."""
    theirs = [profile for profile in found if profile.own and not profiles.is_ours(profile.path)]
    if len(theirs) > 1 and (app := app_of(theirs[0], workload)):
        names = ", ".join(profile.path.name for profile in theirs)
        yield f"{names}: all serve {app} (--app, --workload), not the applications that they name"
    for profile in found:
        moved = [alteration for alteration in profile.altered if alteration.became is not None]
        left_out = [alteration for alteration in profile.altered if alteration.became is None]
        if moved:
            yield f"{profile.path.name}: changed in the private copy: {'; '.join(_gathered(moved))}"
        if left_out:
            yield f"{profile.path.name}: left out: {'; '.join(map(str, left_out))}"
        processes = servers.settings(profile).processes
        if profile.altered and cores and processes and processes > len(cores):
            cpus = f"{len(cores)} CPU{'s' * (len(cores) > 1)}"
            yield f"{profile.path.name}: {processes} processes share {cpus} here"
    ours = [
        profile for profile in found if profile.own and not (profile.altered or profile.commands)
    ]
    if behind := [
        profile.name for profile in ours if asked_over(profile.options)[0].manner.proxied
    ]:
        several = len(behind) > 1
        yield (
            f"{', '.join(behind)} also use{'' if several else 's'} the uwsgi protocol. "
            f"To test {'all' if several else 'both'} over HTTP, use --front http."
        )
    if any(profile.altered for profile in found):
        yield "`lab show PROFILE` prints the private copy; --keep OPTION keeps an option in it."


def _gathered(moved: Sequence[Alteration]) -> Iterator[str]:
    """Yield changes, those that went to one place together."""
    places: dict[str, list[Alteration]] = {}
    for alteration in moved:
        places.setdefault(alteration.became or "", []).append(alteration)
    for place, there in places.items():
        names = ", ".join(alteration.option for alteration in there)
        yield f"{names} -> {place}" if len(there) > 1 else str(there[0])
