"""uWSGI: `uwsgi X.ini`, told by the environment where to answer and what to serve."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from lab.errors import ProfileError, ServerStartError
from lab.model import Endpoint, Profile, Workload
from lab.servers.in_use import check_unused
from lab.servers.process import Order, Process, serve
from lab.settings.uwsgi import BACKGROUND, stop_signal
from lab.system.programs import ROOT, binary, environment


class UwsgiServer:
    """A `lab.model.Server` that runs a uWSGI profile as a user would."""

    def check(self, profile: Profile) -> None:
        """
        Refuse a profile that the lab cannot run, or that would harm a server which runs now.

        Raises:
            ProfileError: It goes to the background, or names what another server is using.
        """
        for option in BACKGROUND:
            if option in dict(profile.options):
                problem = f"{option} takes it to the background, where the lab cannot watch it"
                raise ProfileError(profile.path, f"{problem}; test a copy of the file without it")
        check_unused(profile)

    def start(
        self, profile: Profile, workload: Workload, folder: Path, cores: Sequence[int] | None
    ) -> AbstractContextManager[Process]:
        """
        Start *profile* on a free port, wait for the right reply, and stop it on exit.

        Raises:
            ServerStartError: It does not obey PORT, ended, or gave no correct reply in time.
            ProfileError: See `check`.
        """
        if not any("{port}" in value for _, value in profile.options):
            raise ServerStartError(
                profile.name,
                f"{profile.path} does not obey PORT, so it cannot run beside other servers; write "
                "`http-socket = 127.0.0.1:$(PORT)` in it",
            )
        self.check(profile)

        def order(endpoint: Endpoint) -> Order:
            variables = {"BIND": endpoint.host, "PORT": str(endpoint.port)}
            if workload.app is not None:
                variables["WSGI_APP"] = workload.app
                variables["WSGI_CHDIR"] = str(workload.chdir or ROOT)
            return Order(
                profile=profile.name,
                commands=((binary(), str(profile.path)),),
                environment=environment(**variables),
                folder=folder,
                cwd=Path.cwd(),
                cores=cores,
                stop_signal=stop_signal(profile.options),
            )

        return serve(order, workload)
