"""The server that `lab watch` is asked about: a port, a process or a unit of systemd."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.bench.machine import project
from lab.bench.probes.holders import Holding, holders, read_sockets
from lab.bench.probes.processes import PROC, Snapshot, read_snapshot
from lab.bench.probes.sock_diag import ListeningSocket, SocketDiagnosis
from lab.bench.probes.watching import ListeningServer
from lab.cli.tune.moves import ground_of
from lab.config import servers
from lab.config.configuration import Known
from lab.config.interface import WSGI
from lab.config.reading import read
from lab.config.vocabulary.behaviour import facts, of_service
from lab.config.vocabulary.senses import hidden
from lab.config.vocabulary.service import Service
from lab.errors import LabError, UsageError
from lab.model.wording import in_a_line

ARGUMENT = "[PORT|PID|UNIT|SOCKET]"

LONGEST = 60
"""Characters of a command that are shown."""

CLOSED = "is closed"
"""What becomes of a connection after the reply, in the vocabulary of a server that keeps none."""

UNITS = (".service", ".scope", ".slice")
"""Ends of the names of units that have processes; systemctl adds the first where there is none."""

SYSTEMD = "systemd"
"""Name of the process that holds the sockets that it passes to services."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What the command and the configuration of a running server say."""

    name: str = ""
    """Of the server, as its project writes it; empty: unknown."""

    threads: int | None = None
    """Requests that a worker processes at once, and no more; None: any number, or unknown."""

    loops: bool = False
    """Whether each worker takes any number of requests."""

    unknown: str = ""
    """Why the number of threads is unknown; empty: it is known, or there is none."""

    closes: bool = False
    """Whether it is known to close each connection after the reply."""


@dataclass(frozen=True, slots=True)
class WatchTarget(ListeningServer):
    """A running server that is to be watched."""

    settings: ServerSettings = ServerSettings()


def find_target(text: str | None) -> WatchTarget:
    """
    Return the server that *text* names; None: the only known server that listens.

    Raises:
        LabError: It names none, or several; the message says what to write.
    """
    if text is None:
        return _only()
    if re.fullmatch(r":\d{1,5}", text):
        return _of_port(int(text[1:]))
    if text.isdecimal():
        return _of_number(int(text))
    if match := re.fullmatch(r"(?:unix:)?(/.*|@.+)", text):
        return _of_path(match[1])
    if match := re.fullmatch(r"pid:(\d{1,9})", text):
        return _of_processes(text, [int(match[1])])
    return _of_processes(text, unit_processes(text))


def unit_processes(name: str) -> list[int]:
    """
    Return the processes of a unit of systemd, by their control group.

    Raises:
        UsageError: None runs.
    """
    unit = name if name.endswith(UNITS) else f"{name}.service"
    pids = [pid for pid in _pids() if unit in _groups(pid)]
    if not pids:
        raise UsageError(
            f"{in_a_line(name)}: no process of a unit {in_a_line(unit)} runs; "
            f"name a port, a process or a unit: {project.lab_command()} watch {ARGUMENT}"
        )
    return pids


def _groups(pid: int) -> set[str]:
    """Return the names in the paths of a process's control groups."""
    try:
        text = (PROC / str(pid) / "cgroup").read_text(errors="replace")
    except OSError:
        return set()
    return {part for line in text.splitlines() for part in line.split(":", 2)[-1].split("/")}


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdecimal()]  # noqa: PTH208


def _of_number(number: int) -> WatchTarget:
    """Return the server on a port, or that of a process."""
    with SocketDiagnosis() as diagnosis:
        is_port = 0 < number < 1 << 16 and bool(diagnosis.listeners(number))
    is_process = (PROC / str(number)).is_dir()
    if is_port and is_process:
        raise UsageError(
            f"{number} is a port and a process: write :{number} for the port, "
            f"pid:{number} for the process"
        )
    if is_process:
        return _of_processes(str(number), [number])
    return _of_port(number)


def _of_port(port: int) -> WatchTarget:
    with SocketDiagnosis() as diagnosis:
        listeners = diagnosis.listeners(port)
    if not listeners:
        raise UsageError(
            f"nothing listens on TCP port {port} here, and there is no process {port}; of a server "
            "in a container name its process"
        )
    return _target(listeners, holders({listener.inode for listener in listeners}))


def _of_path(path: str) -> WatchTarget:
    name = os.fsencode(path)
    with SocketDiagnosis() as diagnosis:
        listeners, _ = diagnosis.unix(b"\0" + name[1:] if path.startswith("@") else name)
    if not listeners:
        raise UsageError(
            f"{in_a_line(path)}: nothing listens on this UNIX socket here; write the path as the "
            "server has it"
        )
    return _target(listeners, holders({listener.inode for listener in listeners}))


def _of_processes(name: str, pids: Collection[int]) -> WatchTarget:
    """Return the server of which *pids* are processes."""
    snapshot = read_snapshot(*pids)
    tree = [process.pid for process in snapshot.tree(*pids)]
    if not tree:
        raise UsageError(f"there is no process {in_a_line(name)}, and nothing listens there")
    inodes: Counter[int] = Counter()
    for pid in tree:
        try:
            inodes.update(set(read_sockets(pid).values()))
        except PermissionError:
            user = (PROC / str(pid)).stat().st_uid
            raise UsageError(
                f"{in_a_line(name)}: not as this user: which ports the process has "
                f"(it is of user {user}); run `lab watch` as root, or name the port"
            ) from None
    with SocketDiagnosis(tree[0]) as diagnosis:
        of_both = (*diagnosis.listeners(), *diagnosis.unix()[0])
    listeners = [listener for listener in of_both if listener.inode in inodes]
    if not listeners:
        raise UsageError(f"{in_a_line(name)}: it listens nowhere")
    # What the first process has alone serves no requests, such as gunicorn's control socket.
    most = max(inodes[listener.inode] for listener in listeners)
    listeners = [listener for listener in listeners if inodes[listener.inode] == most]
    places = sorted({listener.name for listener in listeners})
    if len(places) > 1:
        raise UsageError(
            f"{in_a_line(name)} listens at {', '.join(map(in_a_line, places))}: name one of them"
        )
    space = None if _same_network(tree[0]) else tree[0]
    return _target(listeners, holders({listener.inode for listener in listeners}), space)


def _same_network(pid: int) -> bool:
    try:
        return (PROC / str(pid) / "ns/net").readlink() == (PROC / "self/ns/net").readlink()
    except OSError:
        return True


def _target(
    listeners: Sequence[ListeningSocket], holding: Holding, space: int | None = None
) -> WatchTarget:
    snapshot = read_snapshot()
    held = {pid for pid in holding.pids if not _is_systemd(snapshot, pid)} or set(holding.pids)
    first = {_first(snapshot, held, at) for at in _by_address(listeners).values()}
    if len(first) > 1:
        named = ", ".join(f"pid:{pid} ({in_a_line(_command(pid))})" for pid in first if pid)
        place = in_a_line(listeners[0].name)
        raise UsageError(f"{place} has several servers: name one of {named}")
    root = first.pop()
    return WatchTarget(
        listeners=tuple(listeners),
        root=root,
        settings=ServerSettings() if root is None else settings_of(root),
        space=space,
    )


def _is_systemd(snapshot: Snapshot, pid: int) -> bool:
    """Return whether a process only passes its sockets to services."""
    return pid in snapshot.processes and snapshot.processes[pid].name == SYSTEMD


def _roots(snapshot: Snapshot, pids: Collection[int]) -> list[int]:
    """Return those of *pids* that descend from none of the others."""
    below = {process.pid for pid in pids for process in snapshot.tree(pid) if process.pid != pid}
    return sorted(set(pids) - below)


def _by_address(listeners: Sequence[ListeningSocket]) -> dict[bytes, set[int]]:
    """Return address -> the inodes that listen there: several with SO_REUSEPORT."""
    inodes: dict[bytes, set[int]] = {}
    for listener in listeners:
        inodes.setdefault(listener.address, set()).add(listener.inode)
    return inodes


def _first(snapshot: Snapshot, held: Collection[int], inodes: Collection[int]) -> int | None:
    """Return the first process of a server that listens with *inodes*; None: unknown."""
    roots = _roots(snapshot, [pid for pid in held if _has(pid, inodes)])
    parents = {snapshot.processes[pid].parent for pid in roots if pid in snapshot.processes}
    if len(roots) > 1 and len(parents) == 1:  # workers that listen without their master
        return parents.pop()
    return min(roots, default=None)


def _has(pid: int, inodes: Collection[int]) -> bool:
    """Return whether a process has one of *inodes* open."""
    try:
        return not set(inodes).isdisjoint(read_sockets(pid).values())
    except PermissionError:
        return False


def _only() -> WatchTarget:
    """
    Return the only server that `lab` knows and that listens here.

    Raises:
        UsageError: There is none, or there are several.
    """
    with SocketDiagnosis() as diagnosis:
        listeners = diagnosis.listeners()
    snapshot = read_snapshot()
    ports: dict[int, str] = {}
    for port in {listener.port for listener in listeners}:
        here = {listener.inode for listener in listeners if listener.port == port}
        for pid in _roots(snapshot, holders(here).pids):
            if servers.of_command(_words(pid)) is not None:
                ports[port] = _command(pid)
    if len(ports) == 1:
        return _of_port(next(iter(ports)))
    named = "; ".join(f"{port} ({in_a_line(command)})" for port, command in sorted(ports.items()))
    which = f"these listen: {named}" if ports else "no server that lab knows listens here"
    raise UsageError(f"which server? Name a port, a process or a unit; {which}")


def settings_of(root: int) -> ServerSettings:
    """Return what the command of a running server, and the files that it names, say."""
    words = _words(root)
    server = servers.of_command(words)
    if server is None:
        title = f"its command is {in_a_line(_command(root))}"
        return ServerSettings(unknown=f"lab does not know this server: {title}")
    begin = next(n for n, word in enumerate(words) if servers.named(word) is server)
    if not server.file:
        return ServerSettings(server.name, loops=server.default_interface != WSGI)
    if not _sees_same_files(root):
        return ServerSettings(server.name, unknown="its files are in a container")
    known = Known(cwd=_folder(root), environ=_environment(root))
    try:
        command = shlex.join((server.program, *words[begin + 1 :]))
        config = read(command, known, strict=False)
        ground = ground_of(server.program, config, os.cpu_count() or 1)
    except LabError as error:
        return ServerSettings(server.name, unknown=in_a_line(str(error)))
    closes = _closes(ground.service)
    if not ground.service.is_wsgi:
        return ServerSettings(server.name, loops=True, closes=closes)
    threads = ground.number("greenlets") or ground.number("threads")
    unknown = "" if threads else "its command and its files do not say it"
    return ServerSettings(server.name, threads, unknown=unknown, closes=closes)


def _closes(service: Service) -> bool:
    """Return whether a server closes each connection after the reply, as far as is known."""
    (kept,) = (difference for difference in hidden() if difference.key == "keep")
    return kept.done_by(service.program, facts(of_service(service))) == CLOSED


def _words(pid: int) -> list[str]:
    """Return the command of a process; a process may have written a title over it."""
    try:
        text = (PROC / str(pid) / "cmdline").read_text(errors="replace")
    except OSError:
        return []
    return [word for word in text.split("\0") if word]


def _command(pid: int) -> str:
    return " ".join(_words(pid))[:LONGEST] or "unknown"


def _sees_same_files(pid: int) -> bool:
    try:
        return (PROC / str(pid) / "ns/mnt").readlink() == (PROC / "self/ns/mnt").readlink()
    except OSError:
        return True


def _folder(pid: int) -> Path | None:
    try:
        return (PROC / str(pid) / "cwd").readlink()
    except OSError:
        return None


def _environment(pid: int) -> dict[str, str]:
    try:
        text = (PROC / str(pid) / "environ").read_text(errors="replace")
    except OSError:
        return {}
    pairs = (entry.partition("=") for entry in text.split("\0") if "=" in entry)
    return {name: value for name, _, value in pairs}
