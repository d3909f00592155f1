"""A profile: one configuration of one server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab.model.runtime import Alteration


@dataclass(frozen=True, slots=True)
class Peer:
    """How to start a server other than uWSGI, and what it needs."""

    commands: tuple[tuple[str, ...], ...] = ()
    """Commands in start order, with {host} {port} {address} {socket} {app} {chdir} {here} {folder}
    {workers} {threads} {venv} {built}; {address} is host:port, or unix:/path."""

    fill: tuple[str, ...] = ()
    """Names of its files that a trial writes to {folder}, with the words in braces filled in."""

    replace: tuple[tuple[str, str], ...] = ()
    """Pairs of texts: in the files of *fill*, a trial replaces the first by the second, so that a
    configuration for production listens and writes elsewhere."""

    needs: str | None = None
    """The command that installs the server, shown if the server is missing."""

    backing: tuple[str, ...] = ()
    """Backing services that it needs, besides those of the workload."""

    factory: tuple[str, ...] = ()
    """Options to add if {app} is a function that makes the application."""

    python: str = ""
    """The Python versions that it supports, such as "<3.12"; empty for all."""

    ended: str = ""
    """When and how its project ended, such as "2026-05-05: removed in gunicorn 26"."""

    successor: str = ""
    """Name of the profile that replaced it."""

    venv: str = ""
    """Name of the virtual environment under .peers that {venv} stands for."""

    build: tuple[str, ...] = ()
    """The command that compiles {built} from a source file beside the profile."""

    counters: tuple[tuple[str, str], ...] = ()
    """Pairs of a cause and the profile that differs in the one setting that the cause names."""


@dataclass(frozen=True, slots=True)
class PrivateCopy:
    """The copy of a configuration that a trial writes to its folder and serves."""

    cwd: Path | None = None
    """The folder to start the server in, unless `Runtime.cwd` is set; None: the caller's."""

    altered: tuple[Alteration, ...] = ()
    """The differences between the copy and the user's file, in the order of the file."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One configuration of one server: a file, or a command, that works without the lab."""

    name: str
    """File name without its suffix; the name used on the command line and in reports."""

    server: str
    """"uwsgi" if `uwsgi X.ini` starts it, "command" if its commands do."""

    path: Path
    """The file: an ini for uWSGI, a TOML under profiles/peers/ for any other server."""

    summary: str
    """One line, imperative: what this profile changes."""

    against: str | None
    """Name of the profile that this one is compared with; None for the first of a ladder."""

    options: tuple[tuple[str, str], ...]
    """The options that the server gets, in order: includes expanded, repeats kept."""

    digest: str
    """SHA-256 of *options* in hexadecimal, independent of the port and of the checkout's folder."""

    section: str = ""
    """The section of the ini that is read; empty for [uwsgi]."""

    keepalive: bool = False
    """Whether the server keeps the connection of a client open between requests."""

    interfaces: tuple[str, ...] = ("wsgi",)
    """The interfaces that it serves, the preferred one first; see `Workload.apps`."""

    apps: tuple[tuple[str, str], ...] = ()
    """Workload family and the application to serve for it: (("db", "app.tornado_db:pool"),)."""

    version: tuple[str, ...] = ()
    """The command that prints the version of the server in its first line, with {python} and
    {here}."""

    reply: str | None = None
    """The body of every reply, if it serves no application: a reference line, which shows the most
    that the server can do."""

    peer: Peer = Peer()
    """How to start a server other than uWSGI; empty for uWSGI."""

    private_copy: PrivateCopy | None = None
    """The private copy that trials serve: of a user's configuration, or of one of our profiles with
    the user's application. None if they serve the file itself."""

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The commands that start it; empty if `uwsgi X.ini` does."""
        return self.peer.commands

    @property
    def cwd(self) -> Path | None:
        """The folder to start the server in, unless `Runtime.cwd` is set; None: any."""
        return self.private_copy.cwd if self.private_copy else None

    @property
    def altered(self) -> tuple[Alteration, ...]:
        """The differences between the private copy and the user's file."""
        return self.private_copy.altered if self.private_copy else ()
