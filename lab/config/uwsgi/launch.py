"""How a trial starts uWSGI: `uwsgi X.ini`, with its address and application in the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

from lab.config.launch import ApplicationTarget, Launch, Site, placed
from lab.config.uwsgi import APPLICATION, PYTHONPATH, flat, is_on, stop_signal
from lab.config.uwsgi.roles import serving
from lab.errors import ProfileError
from lab.model.profile import Profile
from lab.model.runtime import HOME, LOOPBACK
from lab.model.workload import Transport, Workload

LAZY = ("lazy-apps", "lazy")
"""Options by which each worker loads the application by itself."""

Options = Sequence[tuple[str, str]]


def check(profile: Profile) -> None:
    """Refuse a profile that neither obeys PORT, nor is served from a private copy."""
    if not profile.private_copy and not any("{port}" in value for _, value in profile.options):
        problem = "it does not obey PORT; write `http-socket = 127.0.0.1:$(PORT)`"
        raise ProfileError(profile.path, problem)


def launch(profile: Profile, workload: Workload, site: Site) -> Launch:
    """
    Return how uWSGI is started with a profile, or with the private copy of one.

    Raises:
        ProfileError: The profile cannot listen where the workload is asked.
    """
    check(profile)
    _check_address(profile, workload)
    options, endpoint = placed(profile, site.root), site.endpoint
    path, files, environment = profile.path, dict[str, str](), dict[str, str]()
    if profile.private_copy:
        path = site.folder / f"{profile.name}.ini"
        files = {path.name: _copy(options, workload, site)}
    else:
        environment = {"BIND": endpoint.host, "PORT": str(endpoint.port)}
        if workload.app is not None:
            environment["WSGI_APP"] = workload.app
            environment["WSGI_CHDIR"] = str(workload.chdir or site.root)
    last = dict(options)
    user, group = (last.get(name, last.get(f"immediate-{name}")) for name in ("uid", "gid"))
    return Launch(
        commands=(("uwsgi", str(path)),),
        environment=environment,
        cwd=workload.runtime.started_in(profile.cwd).cwd or Path.cwd(),
        files=files,
        stop_signal=stop_signal(profile.options),
        loads_in_workers=any(is_on(dict(profile.options), option) for option in LAZY),
        owner=(user, group) if profile.private_copy else (None, None),
    )


def application(
    profile: Profile, workload: Workload, root: Path, python: str | None
) -> ApplicationTarget:
    """Return the application that uWSGI loads; see `Server.application`."""
    pairs, runtime = placed(profile, root), workload.runtime.started_in(profile.cwd)
    options, known = dict(pairs), runtime.variables.reveal()
    env = (
        re.sub(r"\$\((\w+)\)", lambda name: known.get(name[1], name[0]), value).partition("=")
        for value in _values(pairs, ("env",))
    )
    path = _values(pairs, PYTHONPATH)
    if not os.geteuid() and not {"uid", "gid"}.isdisjoint(options):
        python = None  # another user loads the application, and owns what it writes
    variables = tuple((name, value) for name, _, value in env)
    target = partial(ApplicationTarget, path=path, variables=variables)
    if workload.app is not None:
        module, _, name = workload.app.partition(":")
        folder, how = workload.chdir or root, "--chdir names another folder"
        return target(module, name, folder, how, named=f"--app {workload.app}", python=python)
    module, _, name = next(
        (options[option] for option in APPLICATION if option in options and option != "callable"),
        "",
    ).partition(":")
    folder = (runtime.cwd or Path.cwd()) / options.get("chdir", "")
    how = f"name another by --chdir PATH, or by `chdir` in {profile.path}"
    if workload.runtime.chdir is not None:
        how = "--chdir names another folder"
    elif "chdir" in options:
        how = f"`chdir` in {profile.path} names another folder"
    return target(
        module,
        name or options.get("callable", "application"),
        folder,
        how,
        named=str(profile.path),
        python=python if module else None,
    )


def _check_address(profile: Profile, workload: Workload) -> None:
    """Refuse a profile that would listen on the loopback whatever `--bind` says, or over TCP."""
    addresses = [value for _, value in profile.options]
    obeys = any("{host}" in value or "{socket}" in value for value in addresses)
    if workload.runtime.bind != LOOPBACK and not obeys:
        problem = "it does not obey BIND; write `http-socket = $(BIND):$(PORT)`"
        raise ProfileError(profile.path, problem)
    if workload.transport is Transport.UNIX and not profile.private_copy:
        problem = f"{workload.name} is asked over a UNIX socket, and BIND and PORT name no such"
        raise ProfileError(profile.path, f"{problem}; choose a peer whose `run` has {{address}}")


def _copy(options: Options, workload: Workload, site: Site) -> str:
    """Return the text of the private copy that a trial is served from."""
    endpoint = site.endpoint
    places = {
        "{host}": endpoint.host,
        "{port}": str(endpoint.port),
        "{socket}": endpoint.socket,
        "{folder}": str(site.folder),
    }
    if workload.runtime.python is not None:  # which the command names
        options = [pair for pair in options if pair[0] not in HOME]
    if workload.app is not None:
        options = serving(options, workload.app, str(workload.chdir or site.root))
    return "\n".join([*flat(options, places), ""])


def _values(pairs: Options, names: Collection[str]) -> tuple[str, ...]:
    return tuple(value for option, value in pairs if option in names)
