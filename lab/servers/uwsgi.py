"""uWSGI: `uwsgi X.ini`, told by the environment where to answer and what to serve."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

from lab.errors import ProfileError
from lab.model import Endpoint, Profile, Transport, Workload
from lab.servers.application import Sought
from lab.servers.in_use import check_unused
from lab.servers.process import Order, Process, serve
from lab.settings.uwsgi import APPLICATION, BACKGROUND, BINDS, FOR_PROXIES, PYTHONPATH, stop_signal
from lab.system.programs import ROOT
from lab.system.runtime import UWSGI, command_of, environment_of, python_of_uwsgi, with_home


class UwsgiServer:
    """A `lab.model.Server` that runs a uWSGI profile as a user would."""

    def check(self, profile: Profile) -> None:
        """
        Refuse a profile that the lab cannot run, or that would harm a server which runs now.

        Raises:
            ProfileError: It goes to the background, has no address for the lab, or names what
                another server is using.
        """
        for option in BACKGROUND:
            if option in dict(profile.options):
                problem = f"{option} takes it to the background, where the lab cannot watch it"
                raise ProfileError(profile.path, f"{problem}; test a copy of the file without it")
        _check_address(profile)
        check_unused(profile)

    def start(
        self, profile: Profile, workload: Workload, folder: Path, cores: Sequence[int] | None
    ) -> AbstractContextManager[Process]:
        """
        Start *profile* on a free port, wait for the right reply, and stop it on exit.

        Raises:
            ServerStartError: It ended, or gave no correct reply in time.
            ProfileError: See `check`; or it is to answer on a UNIX socket.
        """
        self.check(profile)
        if workload.transport is Transport.UNIX:
            problem = f"{workload.name} is asked over a UNIX socket, and BIND and PORT name no such"
            raise ProfileError(
                profile.path, f"{problem}; choose a peer whose `run` has {{address}}"
            )

        runtime = with_home(workload.runtime, _filled(profile))

        def order(endpoint: Endpoint) -> Order:
            variables = {"BIND": endpoint.host, "PORT": str(endpoint.port)}
            if workload.app is not None:
                variables["WSGI_APP"] = workload.app
                variables["WSGI_CHDIR"] = str(workload.chdir or ROOT)
            return Order(
                profile=profile.name,
                commands=(command_of(runtime, UWSGI, str(profile.path)),),
                environment=environment_of(runtime, **variables),
                folder=folder,
                cwd=runtime.cwd or Path.cwd(),
                cores=cores,
                stop_signal=stop_signal(profile.options),
                sought=self.sought(profile, workload),
            )

        return serve(order, workload, folder)

    def sought(self, profile: Profile, workload: Workload) -> Sought:
        """Return which application *profile* is to load for *workload*, and where."""
        pairs = _filled(profile)
        options, runtime = dict(pairs), with_home(workload.runtime, pairs)
        python, path = python_of_uwsgi(runtime), _values(pairs, PYTHONPATH)
        sought = partial(Sought, python=python, path=path)
        if workload.app is not None and _obeys_app(profile):
            module, _, name = workload.app.partition(":")
            folder, how = workload.chdir or ROOT, "--chdir names another folder"
            return sought(module, name, folder, how, named=f"--app {workload.app}")
        module, _, name = next(
            (options[each] for each in APPLICATION if each in options and each != "callable"), ""
        ).partition(":")
        folder = (runtime.cwd or Path.cwd()) / options.get("chdir", "")
        how = f"`chdir` in {profile.path} names another folder"
        if "chdir" not in options:
            how = f"write `chdir = {profile.path.parent}`, or another folder, in {profile.path}"
        known = runtime.variables.reveal()
        env = (
            re.sub(r"\$\((\w+)\)", lambda name: known.get(name[1], name[0]), each).partition("=")
            for each in _values(pairs, ("env",))
        )
        found = sought(
            module,
            name or options.get("callable", "application"),
            folder,
            how,
            named=str(profile.path),
            python=python if module and not _gives_up_root(options) else None,
            variables=tuple((name, value) for name, _, value in env),
        )
        if _obeys_app(profile) or workload.app == str(found):
            return found
        named = f"--app {found}" if module and not module.endswith(".py") else "--app"
        instead = (
            f"{profile.path} serves its own application: name that by {named} and --chdir, and "
            "what to ask of it by --path"
        )
        return replace(found, instead=instead)


def _check_address(profile: Profile) -> None:
    """Refuse a profile that does not listen for HTTP where it is told; raises ProfileError."""
    binds = [
        (option, value)
        for option, value in profile.options
        if BINDS.fullmatch(option) and not option.endswith(("stats", "stats-server"))
    ]
    http = [(option, value) for option, value in binds if not FOR_PROXIES.fullmatch(option)]
    spoken = [option for option, _ in binds if FOR_PROXIES.fullmatch(option)]
    if any("{port}" in value and option not in spoken for option, value in profile.options):
        return
    option, value = (http or binds or [("", "")])[0]
    value = value.replace("{here}", str(profile.path.parent))
    if not option:
        problem = "it names no address, and does not obey PORT"
    elif http:
        problem = f"`{option} = {value}` does not obey PORT, and each trial has a port of its own"
    else:
        problem = f"`{option} = {value}` is for a proxy such as nginx, and the lab speaks HTTP"
    wanted = option if option in ("http", "http11-socket") else "http-socket"
    raise ProfileError(
        profile.path, f"{problem}; write `{wanted} = 127.0.0.1:$(PORT)` in a copy of the file"
    )


def _values(pairs: Sequence[tuple[str, str]], names: Collection[str]) -> tuple[str, ...]:
    return tuple(value for option, value in pairs if option in names)


def _gives_up_root(options: Collection[str]) -> bool:
    """Return whether uWSGI loads the application as another user, who owns what that writes."""
    return not os.geteuid() and not {"uid", "gid"}.isdisjoint(options)


def _filled(profile: Profile) -> list[tuple[str, str]]:
    """Return the options of a profile with the folders that its values name."""
    here, root = str(profile.path.parent), str(ROOT)
    return [
        (option, value.replace("{here}", here).replace("{root}", root))
        for option, value in profile.options
    ]


def _obeys_app(profile: Profile) -> bool:
    """Return whether the profile serves what --app names: all of this project's do."""
    return profile.path.is_relative_to(ROOT) or "WSGI_APP" in profile.path.read_text(
        encoding="utf-8"
    )
