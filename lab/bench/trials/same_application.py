"""
A user's configuration in a comparison: what it serves, the other profiles serve as well.

Application and server are two parts of it. The profiles of ours beside it keep their server, and
get its application, and stand behind the same proxy: so only what is compared differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab.bench import profiles
from lab.bench.machine.programs import placed
from lab.bench.machine.runtime import runtime_of
from lab.bench.servers import adapter
from lab.bench.trials.plan import app_of
from lab.config import servers
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
    theirs = [each for each in found if each.own]
    _check_told(theirs, workload)
    for profile in theirs:
        for each in profile.altered:
            if each.value and each.option in workload.runtime.keep:
                problem = f"{profile.path.name}: {each}: that cannot stay as it is"
                raise UsageError(f"--keep {each.option}: {problem}; leave --keep out")
    given, workload = _serving(found, theirs, workload)
    if not workload.runtime.front_http:
        given = [_proxied(each, theirs) for each in given]
    return given, workload


def _check_told(theirs: Sequence[Profile], workload: Workload) -> None:
    """Refuse what is told of inis of the user's where none of them has it."""
    runtime = workload.runtime
    profiles.check_named(theirs, runtime)
    folder = runtime.chdir
    takes = any(change.option == "chdir" for each in theirs for change in each.altered)
    inis = any(not each.commands for each in theirs)
    if theirs and not (inis or takes) and folder is not None and OWN in workload.apps:
        raise UsageError(f"--chdir {folder}: it goes with --app, or with a file of yours")


def _serving(
    found: Sequence[Profile], theirs: Sequence[Profile], workload: Workload
) -> tuple[list[Profile], Workload]:
    """Return profiles and workload with the application that the first of the user's own serves."""
    if not theirs or OWN not in workload.apps:
        return list(found), workload
    mine = theirs[0]
    sought = adapter(mine).sought(mine, replace(workload, apps={}))
    if sought is None or not sought.module:
        return [_beside(each, mine) for each in found], replace(workload, name=mine.name)
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
    return [_beside(each, mine) for each in found], given


def _beside(profile: Profile, mine: Profile) -> Profile:
    """Return a profile of uWSGI with the application of *mine*."""
    other = profile.own or profile.commands or mine.commands or profile.reply is not None
    if other or "wsgi" not in profile.interfaces:
        return profile
    interfaces = (OWN, *profile.interfaces)
    options = served_by(profile.options, placed(mine))
    own = PrivateCopy(mine.cwd, profile.altered)
    return replace(_with_options(profile, options), own=own, interfaces=interfaces)


def _proxied(profile: Profile, theirs: Sequence[Profile]) -> Profile:
    """Return a profile of ours behind the proxy of the first ini among *theirs*, if it has one."""
    asked = next((asked_over(each.options) for each in theirs if not each.commands), None)
    if asked is None or profile.commands or profile in theirs or not asked[0].manner.proxied:
        return profile
    return replace(_with_options(profile, proxied(profile.options, asked[1])), keepalive=False)


def _with_options(profile: Profile, options: tuple[tuple[str, str], ...]) -> Profile:
    """Return a profile of ours that is served from a private copy, of other options."""
    own = profile.own or PrivateCopy()
    return replace(profile, own=own, options=options, digest=digest_of(options))


def remarks(
    found: Sequence[Profile], cores: Sequence[int] | None, workload: Workload
) -> Iterator[str]:
    """Yield what the user has to know of their configurations before they run, in lines."""
    theirs = [each for each in found if each.own and not profiles.is_ours(each.path)]
    if len(theirs) > 1 and (app := app_of(theirs[0], workload)):
        names = ", ".join(each.path.name for each in theirs)
        yield f"{names}: all serve {app}, and not what they name: --app and --workload say it"
    for profile in found:
        moved = [each for each in profile.altered if each.became is not None]
        left_out = [each for each in profile.altered if each.became is None]
        if moved:
            yield f"{profile.path.name}: in a private copy: {'; '.join(_gathered(moved))}"
        if left_out:
            yield f"{profile.path.name}: left out: {'; '.join(map(str, left_out))}"
        processes = servers.settings(profile).processes
        if profile.altered and cores and processes and processes > len(cores):
            cpus = f"{len(cores)} CPU{'s' * (len(cores) > 1)}"
            yield f"{profile.path.name}: {processes} processes, and its server has {cpus} here"
    ours = [each for each in found if each.own and not (each.altered or each.commands)]
    if behind := [each.name for each in ours if asked_over(each.options)[0].manner.proxied]:
        yield f"{', '.join(behind)}: at such a socket as well; --front http asks them over HTTP"
    if any(profile.altered for profile in found):
        yield "`lab show PROFILE` prints that copy, and --keep OPTION leaves an option in it"


def _gathered(moved: Sequence[Alteration]) -> Iterator[str]:
    """Yield changes, those that went to one place together."""
    places: dict[str, list[Alteration]] = {}
    for each in moved:
        places.setdefault(each.became or "", []).append(each)
    for place, there in places.items():
        names = ", ".join(each.option for each in there)
        yield f"{names} -> {place}" if len(there) > 1 else str(there[0])
