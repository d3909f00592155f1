"""uWSGI: `uwsgi X.ini`, told by the environment where to answer and what to serve."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

from lab.bench.machine import project, temporary
from lab.bench.machine.programs import placed
from lab.bench.machine.runtime import UWSGI, command_of, environment_of, python_of_uwsgi, runtime_of
from lab.bench.servers.application import ApplicationTarget
from lab.bench.servers.process import Order, Process, serve
from lab.config.uwsgi import APPLICATION, PYTHONPATH, flat, is_on, stop_signal
from lab.config.uwsgi.roles import serving
from lab.errors import ProfileError
from lab.model.profile import Profile
from lab.model.protocols import Endpoint
from lab.model.runtime import HOME, LOOPBACK
from lab.model.workload import Transport, Workload

LAZY = ("lazy-apps", "lazy")
"""Options by which each worker loads the application by itself."""


class UwsgiServer:
    """A server that runs a uWSGI profile as a user would, or a private copy of one."""

    def check(self, profile: Profile) -> None:
        """
        Refuse a profile that does not listen where it is told.

        Raises:
            ProfileError: It neither obeys PORT, nor is served from a private copy.
        """
        if not profile.own and not any("{port}" in value for _, value in profile.options):
            problem = "it does not obey PORT; write `http-socket = 127.0.0.1:$(PORT)`"
            raise ProfileError(profile.path, problem)

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
        if workload.runtime.bind != LOOPBACK:
            _check_bind(profile)
        if workload.transport is Transport.UNIX and not profile.own:
            problem = f"{workload.name} is asked over a UNIX socket, and BIND and PORT name no such"
            raise ProfileError(
                profile.path, f"{problem}; choose a peer whose `run` has {{address}}"
            )
        runtime = runtime_of(profile, workload.runtime)

        def order(endpoint: Endpoint) -> Order:
            path, variables = profile.path, dict[str, str]()
            if profile.own:
                path = _copy(profile, workload, endpoint, folder)
            else:
                variables = {"BIND": endpoint.host, "PORT": str(endpoint.port)}
                if workload.app is not None:
                    variables["WSGI_APP"] = workload.app
                    variables["WSGI_CHDIR"] = str(workload.chdir or project.root())
            return Order(
                profile=profile.name,
                commands=(command_of(runtime, UWSGI, str(path)),),
                environment=environment_of(runtime, **variables),
                folder=folder,
                cwd=runtime.cwd or Path.cwd(),
                cores=cores,
                stop_signal=stop_signal(profile.options),
                loads_in_workers=any(is_on(dict(profile.options), each) for each in LAZY),
            )

        return serve(order, workload, folder)

    def sought(self, profile: Profile, workload: Workload) -> ApplicationTarget:
        """Return which application *profile* is to load for *workload*, and where."""
        pairs, runtime = placed(profile), runtime_of(profile, workload.runtime)
        options, known = dict(pairs), runtime.variables.reveal()
        env = (
            re.sub(r"\$\((\w+)\)", lambda name: known.get(name[1], name[0]), value).partition("=")
            for value in _values(pairs, ("env",))
        )
        path = _values(pairs, PYTHONPATH)
        python = None if _gives_up_root(options) else python_of_uwsgi(runtime)
        variables = tuple((name, value) for name, _, value in env)
        sought = partial(ApplicationTarget, path=path, variables=variables)
        if workload.app is not None:
            module, _, name = workload.app.partition(":")
            folder, how = workload.chdir or project.root(), "--chdir names another folder"
            return sought(module, name, folder, how, named=f"--app {workload.app}", python=python)
        module, _, name = next(
            (options[each] for each in APPLICATION if each in options and each != "callable"), ""
        ).partition(":")
        folder = (runtime.cwd or Path.cwd()) / options.get("chdir", "")
        how = f"name another by --chdir PATH, or by `chdir` in {profile.path}"
        if workload.runtime.chdir is not None:
            how = "--chdir names another folder"
        elif "chdir" in options:
            how = f"`chdir` in {profile.path} names another folder"
        return sought(
            module,
            name or options.get("callable", "application"),
            folder,
            how,
            named=str(profile.path),
            python=python if module else None,
        )


def _check_bind(profile: Profile) -> None:
    """Refuse a profile that would listen on the loopback whatever `--bind` says."""
    if not any("{host}" in value or "{socket}" in value for _, value in profile.options):
        problem = "it does not obey BIND; write `http-socket = $(BIND):$(PORT)`"
        raise ProfileError(profile.path, problem)


def _copy(profile: Profile, workload: Workload, endpoint: Endpoint, folder: Path) -> Path:
    """Write the private copy of *profile* into the trial's folder, and return its path."""
    places = {
        "{host}": endpoint.host,
        "{port}": str(endpoint.port),
        "{socket}": endpoint.socket,
        "{folder}": str(folder),
    }
    options = placed(profile)
    if workload.runtime.python is not None:  # which the command names
        options = [pair for pair in options if pair[0] not in HOME]
    if workload.app is not None:
        options = [*serving(options, workload.app, str(workload.chdir or project.root()))]
    path = folder / f"{profile.name}.ini"
    temporary.write(path, "\n".join([*flat(options, places), ""]))
    _hand_over(folder, dict(options))
    return path


def _hand_over(folder: Path, options: dict[str, str]) -> None:
    """Give the trial's folder to the user that a server of root's becomes."""
    user, group = (options.get(each, options.get(f"immediate-{each}")) for each in ("uid", "gid"))
    if os.geteuid() != 0 or (user or group) is None:
        return
    log = folder / "server.log"
    log.touch()
    ids = [
        -1 if each is None else int(each) if each.isdecimal() else each for each in (user, group)
    ]
    with suppress(LookupError):  # uWSGI says that there is no such user
        for path in (folder, log):
            shutil.chown(path, *ids)


def _values(pairs: Sequence[tuple[str, str]], names: Collection[str]) -> tuple[str, ...]:
    return tuple(value for option, value in pairs if option in names)


def _gives_up_root(options: Collection[str]) -> bool:
    """Return whether uWSGI loads the application as another user, who owns what that writes."""
    return not os.geteuid() and not {"uid", "gid"}.isdisjoint(options)
