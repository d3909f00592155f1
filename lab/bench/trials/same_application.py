"""
Make the other profiles of a run serve the application of a user's configuration.

A configuration has an application and a server. In a run, our profiles keep their servers, but get
the user's application and the same proxy, so that only the servers differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from lab.bench import profiles
from lab.bench.machine import project
from lab.bench.machine.runtime import runtime_of
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.plan import NAMED, app_of
from lab.config import servers
from lab.config.launch import placed
from lab.config.uwsgi.private import protocol_of, proxied
from lab.config.uwsgi.roles import served_by
from lab.config.vocabulary.senses import senses
from lab.errors import UsageError
from lab.model.digest import digest_of
from lab.model.profile import PrivateCopy, Profile
from lab.model.runtime import OWN, Alteration, Variables
from lab.model.workload import Workload


def any_is_users_own(names: Sequence[str]) -> bool:
    """
    Return whether one of the names is a user's configuration, and not one of our profiles.

    Raises:
        ProfileError: A file does not exist.
    """
    return any(map(profiles.is_users_own, names))


def shared(run_profiles: Sequence[Profile], workload: Workload) -> tuple[list[Profile], Workload]:
    """
    Return profiles and workload so that all serve the application of the first user's profile.

    uWSGI profiles get all its options about the application; other servers get the module and the
    environment. If *workload* names an application, that is served instead. If the user's profile
    is behind a proxy, our uWSGI profiles are, too.

    Raises:
        UsageError: --keep, --drop or --chdir does not apply to the user's configurations.
    """
    user_profiles = [profile for profile in run_profiles if profile.private_copy]
    _check_options_apply(user_profiles, workload)
    for profile in user_profiles:
        for alteration in profile.altered:
            if alteration.value and alteration.option in workload.runtime.keep:
                problem = f"{profile.path.name}: {alteration}: that cannot stay as it is"
                raise UsageError(f"--keep {alteration.option}: {problem}; leave --keep out")
    given, workload = _with_application_of_first(run_profiles, user_profiles, workload)
    if not workload.runtime.front_http:
        given = [_proxied(profile, user_profiles) for profile in given]
    return given, workload


def _check_options_apply(user_profiles: Sequence[Profile], workload: Workload) -> None:
    """Refuse --keep, --drop and --chdir if no configuration of the user's takes them."""
    runtime = workload.runtime
    profiles.check_keep_and_drop(user_profiles, runtime)
    if runtime.chdir is None or OWN not in workload.apps:
        return
    folders = {f"--{name}" for of in senses()["chdir"].columns.values() for name in of.names}
    for profile in user_profiles:
        moved = any(change.option == "chdir" for change in profile.altered)
        words = () if moved else tuple(itertools.chain(*profile.commands))
        named = next((word for word in words if word.partition("=")[0] in folders), None)
        problem = f"{profile.name} has {named}: change it there" if named else ""
        if words and runtime.cwd is not None:
            problem = f"{profile.name} is a command, which starts in --cwd: give one of them"
        if problem:
            raise UsageError(f"--chdir {runtime.chdir}: {problem}")


def _with_application_of_first(
    run_profiles: Sequence[Profile], user_profiles: Sequence[Profile], workload: Workload
) -> tuple[list[Profile], Workload]:
    """Return profiles and workload with the application of the first of *user_profiles*."""
    if not user_profiles or OWN not in workload.apps:
        return list(run_profiles), workload
    user_profile = user_profiles[0]
    target = ServerRunner().target_of(user_profile, replace(workload, apps={}))
    if target is None or not target.module:
        return [_with_application(profile, user_profile) for profile in run_profiles], replace(
            workload, name=user_profile.name
        )
    module, path = target.module, target.path
    if module.endswith(".py"):
        file = target.folder / module
        module, path = file.stem, (*path, str(file.parent))
    app, runtime = f"{module}:{target.callable}", workload.runtime
    runtime = replace(runtime, python=runtime_of(user_profile, runtime).python)
    values = {**runtime.variables.reveal(), **dict(target.variables)}
    if path:
        # uWSGI puts each before those that it has.
        values["PYTHONPATH"] = ":".join(str(target.folder / folder) for folder in reversed(path))
    variables = Variables.of(values, runtime.variables.digest) if values else runtime.variables
    given = replace(
        workload,
        name=app,
        apps={OWN: "", **dict.fromkeys(_interfaces(user_profile), app)},
        chdir=target.folder,
        beside=replace(runtime, variables=variables),
    )
    return [_with_application(profile, user_profile) for profile in run_profiles], given


def _interfaces(profile: Profile) -> Collection[str]:
    """Return how the application of a user's configuration can be called: all, if unknown."""
    interface = servers.of(profile).interface(profile)
    return (interface,) if interface in NAMED else NAMED


def _with_application(profile: Profile, user_profile: Profile) -> Profile:
    """Return a uWSGI profile of ours with the application of *user_profile*; others unchanged."""
    other = (
        profile.private_copy
        or profile.commands
        or user_profile.commands
        or profile.reply is not None
    )
    if other or "wsgi" not in profile.interfaces:
        return profile
    interfaces = (OWN, *profile.interfaces)
    options = served_by(profile.options, placed(user_profile, project.root()))
    private_copy = PrivateCopy(user_profile.cwd, profile.altered)
    return replace(
        _with_options(profile, options), private_copy=private_copy, interfaces=interfaces
    )


def _proxied(profile: Profile, user_profiles: Sequence[Profile]) -> Profile:
    """Return a uWSGI profile of ours behind the proxy of the user's first ini, if it has one."""
    protocol = next(
        (protocol_of(profile.options) for profile in user_profiles if not profile.commands), None
    )
    if (
        protocol is None
        or profile.commands
        or profile in user_profiles
        or not protocol[0].manner.proxied
    ):
        return profile
    return replace(_with_options(profile, proxied(profile.options, protocol[1])), keepalive=False)


def _with_options(profile: Profile, options: tuple[tuple[str, str], ...]) -> Profile:
    """Return a profile of ours that serves *options* from a private copy."""
    private_copy = profile.private_copy or PrivateCopy()
    return replace(profile, private_copy=private_copy, options=options, digest=digest_of(options))


def remarks(
    run_profiles: Sequence[Profile], cores: Sequence[int] | None, workload: Workload
) -> Iterator[str]:
    """Yield a line for each thing that users have to know about their configurations."""
    user_profiles = [
        profile
        for profile in run_profiles
        if profile.private_copy and not profiles.is_ours(profile.path)
    ]
    if len(user_profiles) > 1 and (app := app_of(user_profiles[0], workload)):
        names = ", ".join(profile.path.name for profile in user_profiles)
        yield f"{names}: all serve {app} (--app, --workload), not the applications that they name"
    for profile in run_profiles:
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
        profile
        for profile in run_profiles
        if profile.private_copy and not (profile.altered or profile.commands)
    ]
    if behind := [
        profile.name for profile in ours if protocol_of(profile.options)[0].manner.proxied
    ]:
        several = len(behind) > 1
        yield (
            f"{', '.join(behind)} also use{'' if several else 's'} the uwsgi protocol. "
            f"To test {'all' if several else 'both'} over HTTP, use --front http."
        )
    if any(profile.altered for profile in run_profiles):
        yield "`lab show PROFILE` prints the private copy; --keep OPTION keeps an option in it."


def _gathered(moved: Sequence[Alteration]) -> Iterator[str]:
    """Yield changes, those that went to one place together."""
    places: dict[str, list[Alteration]] = {}
    for alteration in moved:
        places.setdefault(alteration.became or "", []).append(alteration)
    for place, there in places.items():
        names = ", ".join(alteration.option for alteration in there)
        yield f"{names} -> {place}" if len(there) > 1 else str(there[0])
