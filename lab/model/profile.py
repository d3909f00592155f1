"""A profile: one configuration of one server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab.model.runtime import Alteration


@dataclass(frozen=True, slots=True)
class Peer:
    """How another server than uWSGI is started, and what is known of it."""

    commands: tuple[tuple[str, ...], ...] = ()
    """Commands in start order, with {host} {port} {address} {socket} {app} {chdir} {here} {folder}
    {workers} {threads} {venv} {built}; {address} is host:port, or unix:/path."""

    fill: tuple[str, ...] = ()
    """Those of its own files that are written to {folder} with their words filled."""

    replace: tuple[tuple[str, str], ...] = ()
    """Texts of those files and what takes their place, so that a configuration which is deployed as
    it is can listen and write elsewhere in a trial."""

    needs: str | None = None
    """What installs the server, shown where it is missing."""

    backing: tuple[str, ...] = ()
    """Backing services that it needs beside the workload's."""

    factory: tuple[str, ...] = ()
    """Words that say that {app} makes the application, which is not one itself."""

    python: str = ""
    """Pythons that it runs on, such as "<3.12"; empty for all."""

    ended: str = ""
    """When and how its project ended, such as "2026-05-05: removed in gunicorn 26"."""

    successor: str = ""
    """Name of the profile that took its place."""

    venv: str = ""
    """The virtual environment under .peers whose programs {venv} holds."""

    build: tuple[str, ...] = ()
    """The command that compiles {built} from a source beside it."""

    counters: tuple[tuple[str, str], ...] = ()
    """A cause, and the profile that has the one setting otherwise which it names."""


@dataclass(frozen=True, slots=True)
class PrivateCopy:
    """That a profile is served from a private copy of its options, in the trial's folder."""

    cwd: Path | None = None
    """Folder that its server is started in, unless `Runtime.cwd` says; None for the caller's."""

    altered: tuple[Alteration, ...] = ()
    """What that copy has otherwise than the user's file, in its order."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One configuration of one server, a file that its server can run without the lab."""

    name: str
    """File name without its suffix; the name used on the command line and in reports."""

    server: str
    """What starts it: "uwsgi" if `uwsgi X.ini` does, "command" if its commands do."""

    path: Path
    """The file: an ini for uWSGI, a TOML under profiles/peers/ for any other server."""

    summary: str
    """One line, imperative: what this step changes."""

    against: str | None
    """Name of the profile that this one is compared with; None for the start of a ladder."""

    options: tuple[tuple[str, str], ...]
    """Resolved options in order, includes expanded, repeats kept; what the server really gets."""

    digest: str
    """SHA-256 of *options* in hexadecimal, independent of the port and of the checkout's folder."""

    section: str = ""
    """The section of the ini that is read; empty for [uwsgi]."""

    keepalive: bool = False
    """Whether it promises to keep a client's connection open between requests."""

    interfaces: tuple[str, ...] = ("wsgi",)
    """What its applications are written for, the most fitting first; see `Workload.apps`."""

    apps: tuple[tuple[str, str], ...] = ()
    """What it serves for a workload instead: (("db", "app.tornado_db:pool"),), by family."""

    version: tuple[str, ...] = ()
    """The command whose first line is its server's version, with {python} and {here}."""

    reply: str | None = None
    """The body of every reply, where it serves no application: it shows what its server can do at
    most, and stands beside the others as a reference line."""

    peer: Peer = Peer()
    """What there is of another server than uWSGI; of uWSGI it is empty, and has no commands."""

    own: PrivateCopy | None = None
    """Whether it is served from a private copy: it is a configuration of the user's, or one of ours
    with what theirs says of their application. None where its file itself is served."""

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The commands that start it; none where `uwsgi X.ini` does."""
        return self.peer.commands

    @property
    def cwd(self) -> Path | None:
        """Folder that its server is started in, unless `Runtime.cwd` says; None for any."""
        return self.own.cwd if self.own else None

    @property
    def altered(self) -> tuple[Alteration, ...]:
        """What its private copy has otherwise than the user's file."""
        return self.own.altered if self.own else ()
