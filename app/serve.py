"""
Start uWSGI with a profile: `fibonacci serve [PROFILE]`.

A profile is options and comments, and `uwsgi PROFILE` runs it. What uWSGI would start without, and
should not, is refused here (`app.preflight`); and what no option can say is done: the CPUs of this
container are counted, and the log's pipe is told never to wait. Then this process becomes uWSGI, so
that its id, its signals and its exit status are uWSGI's own.

Any Python can run it: it needs none of what the service imports.

Sources: fcntl(2), O_NONBLOCK, which belongs to the open file and so is uWSGI's, too;
sched_getaffinity(2); Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max) and
scheduler/sched-bwc.rst (cpu.cfs_quota_us).
"""

from __future__ import annotations

import argparse
import difflib
import math
import os
import re
import shlex
import shutil
import signal
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from app.preflight import (
    NUMBERS,
    Option,
    asks,
    check_folder,
    check_free,
    check_name,
    check_numbers,
    check_variable,
    expanded,
    read,
)

FOLDERS = (
    Path(__file__).resolve().parents[1] / "profiles",
    Path(sys.prefix) / "share/fibonacci/profiles",
)
"""Where profiles lie: in a checkout, or as they are installed."""

VARIABLES = ("BIND", "PORT", "SOCKET", "PROCESSES", "WSGI_APP", "WSGI_CHDIR")
"""What the profiles here ask of the environment."""

LEAST = 2
"""Processes: one that is busy, or is being replaced, must not stop the service."""

STOPPED = 30
"""The status with which uWSGI ends when a signal ends it while it starts."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; it ends only with an error, or with --print."""
    # As the first process of a container it would get no signal that it has not asked for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(STOPPED))
    parser = argparse.ArgumentParser(prog="fibonacci", description="The Fibonacci service.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser(
        "serve",
        help="check a profile and what it asks of the environment, and become uWSGI",
        description="Check a profile and what it asks of the environment, and become uWSGI with "
        f"it. The profiles here ask for {', '.join(VARIABLES)}. Without PROCESSES there is one "
        f"process for each CPU that may be used, and at least {LEAST}.",
    )
    serve.add_argument(
        "profile",
        metavar="PROFILE",
        nargs="?",
        default="tuned",
        help="a name, as production, or the path of an ini (default: %(default)s)",
    )
    serve.add_argument(
        "--print", action="store_true", help="print what would be run, and run nothing"
    )
    namespace = parser.parse_args(arguments)
    try:
        run(namespace.profile, only_print=namespace.print)
    except (ValueError, OSError) as error:
        sys.exit(f"fibonacci: {error}")


def run(profile: str, *, only_print: bool = False) -> None:
    """
    Become uWSGI with a profile, or print the command.

    Raises:
        ValueError: Something is wrong with the profile, or with what it asks of the environment.
        OSError: A file cannot be read, or uWSGI cannot be run.
    """
    ini = locate(profile)
    also = filter(None, [os.environ.get("UWSGI_INI")])
    options = [option for name in (ini, *also) for option in read(name)]
    check_numbers(options)
    variables = environment(options, os.environ)
    command = [program(), ini]
    if only_print:
        known = [f"{name}={variables[name]}" for name in VARIABLES if name in variables]
        print(shlex.join(["env", *known, *command]))  # noqa: T201 - it was asked for
        return
    if asks(options, "SOCKET"):
        check_folder(Path(variables["SOCKET"]).parent)
        check_free(Path(variables["SOCKET"]))
    if any(option.name == "log-master" for option in options):
        never_wait_for_the_log()
    os.environ.update(variables)
    os.execvp(command[0], command)  # noqa: S606 - no shell is what is wanted


def program() -> str:
    """Return the path of uWSGI: of the environment that this runs in, or else of PATH."""
    beside = Path(sys.executable).with_name("uwsgi")
    path = str(beside) if beside.is_file() else shutil.which("uwsgi")
    if path is None:
        raise ValueError(f"there is no uwsgi beside {sys.executable}, nor on PATH: install it")
    return path


def locate(profile: str) -> str:
    """
    Return a profile's absolute path, as uWSGI takes it: a colon and a section may follow.

    Raises:
        ValueError: There is none of that name, or uWSGI would read its folder's name otherwise.
    """
    if not ("/" in profile or re.search(r"\.ini(:[^/]*)?$", profile)):
        paths = (folder / f"{profile}.ini" for folder in FOLDERS)
        path = next((candidate for candidate in paths if candidate.is_file()), None)
        if path is None:
            raise ValueError(f"no profile {profile!r}{_close(profile)} Or give the path of an ini.")
        profile = str(path)
    # Not what a link leads to: uWSGI's %d is the folder of the link, too.
    ini = os.path.abspath(profile)  # noqa: PTH100 - see above
    folder = os.path.dirname(ini)  # noqa: PTH120 - a section may follow
    if placeholder := expanded(folder, os.environ):
        raise ValueError(f"{folder}: uWSGI expands {placeholder}: rename that folder")
    return ini


def _close(name: str) -> str:
    known = sorted({path.stem for folder in FOLDERS for path in folder.glob("*.ini")})
    close = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {close[0]}?" if close else f" in {FOLDERS[0]}."


def environment(options: Sequence[Option], environ: Mapping[str, str]) -> dict[str, str]:
    """
    Return the variables that a profile is started with: those that are there, and what it asks for.

    That is PROCESSES, and for SOCKET the path that the profile has itself (`set-ph = sock=/...`).

    Raises:
        ValueError: The profile asks for one that uWSGI would misread.
    """
    variables = dict(environ)
    for name in filter(environ.__contains__, ("BIND", *NUMBERS)):
        if asks(options, name):
            check_variable(name, environ[name])
    if asks(options, "PROCESSES"):
        variables.setdefault("PROCESSES", str(processes()))
    if asks(options, "SOCKET"):
        profile_paths = [
            option.value[5:] for option in options if option.value.startswith("sock=/")
        ]
        path = variables.setdefault("SOCKET", *profile_paths[:1] or [""])
        check_name(path, environ)
    return variables


def processes(root: Path = Path("/")) -> int:
    """
    Return one process for each CPU that this container may use, and at least `LEAST`.

    uWSGI's own %k counts the CPUs of the host: in a container with half a CPU of 64 it would start
    64 workers, which then wait for one another.

    Args:
        root: Where proc and sys are mounted.
    """
    cpus = float(len(os.sched_getaffinity(0)))
    return max(LEAST, math.ceil(min([cpus, *_limits(root)])))


def _limits(root: Path) -> Iterator[float]:
    """Yield the limits in CPUs of this process's cgroup and of all above it; any may bind."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not path.startswith("/"):
            continue
        names = controllers.split(",")
        if names == [""]:  # cgroup v2, by itself or beside v1
            mounts = [root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"]
        elif "cpu" in names:
            mounts = [root / "sys/fs/cgroup" / controllers, root / "sys/fs/cgroup/cpu"]
        else:
            continue
        # In a container the path may be the host's, of which only the mount's root can be seen.
        for folder in (PurePosixPath(path), *PurePosixPath(path).parents):
            for mount in mounts:
                yield from _limit(mount / folder.relative_to("/"))


def _limit(folder: Path) -> Iterator[float]:
    words = _text(folder / "cpu.max").split() or [
        _text(folder / "cpu.cfs_quota_us").strip(),
        _text(folder / "cpu.cfs_period_us").strip(),
    ]
    # "max", or -1 in version 1, is no limit.
    if words[0].isdigit() and words[1].isdigit() and int(words[1]) > 0:
        yield int(words[0]) / int(words[1])


def never_wait_for_the_log() -> None:
    """
    Let lines be lost where nobody reads them, instead of waiting until somebody does.

    For `log-master`, by which workers hand their lines to the master. A master that waits in a
    write neither replaces a dead worker nor obeys SIGTERM. It writes to its standard output, and
    before that to its standard error; containers have a pipe for each. A file never makes it wait,
    and a terminal belongs to others, too.
    """
    for descriptor in (1, 2):
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            os.set_blocking(descriptor, False)


def _text(path: Path) -> str:
    """Return what stands in a file of the kernel's; nothing where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # another version of cgroups, or none
        return ""


if __name__ == "__main__":
    main()
