"""
Whether an instance may have the UNIX socket that SOCKET names.

profiles/production.ini runs it twice, as it runs preflight.py:

    ini = exec://... python3 socket_path.py        before any other line takes effect
    exec-pre-jail = ... python3 socket_path.py folder    before anything is bound

The first prints a line of configuration that makes uWSGI end, which looks at no exit status there.
So early, because an instance that ends once it has read `vacuum` and `stats` removes the socket of
those statistics, whoever made it. It imports nothing of this project, so any Python can run it.

Sources: uWSGI 2.0.31, core/utils.c, uwsgi_apply_config_pass; core/socket.c, bind_to_unix;
core/uwsgi.c, vacuum; unix(7), SO_PEERCRED.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

LONGEST = 102 - len(".stats")
"""Bytes of a socket's path: uWSGI's limit, of which the path of the statistics takes some."""

DEFAULT = "/run/fibonacci/a.sock"
"""As in production.ini."""

STOP = "[uwsgi]\nexit = 1"


def check_name(path: str, environ: Mapping[str, str]) -> None:
    """
    Refuse a name that uWSGI would take for something else.

    Raises:
        ValueError: It is no absolute path, or too long; has a colon, which makes it an address;
            or something that uWSGI expands.
    """
    expected = f"SOCKET={path!r}: expected the path of a UNIX socket, as /run/fibonacci/a.sock"
    if not path.startswith("/"):
        raise ValueError(f"{expected}: it begins with a slash")
    if not path.strip("/"):
        raise ValueError(f"{expected}: it has a name")
    if found := expanded(path, environ):
        raise ValueError(f"{expected}: uWSGI expands {found}")
    if ":" in path:
        raise ValueError(f"{expected}: a colon would make it an address")
    if any(ord(each) < 32 for each in path) or path != path.strip():
        raise ValueError(f"{expected}: without line breaks, and without blanks at its ends")
    if len(os.fsencode(path)) > LONGEST:
        raise ValueError(f"{expected}: of {LONGEST} bytes at the most")


def expanded(text: str, environ: Mapping[str, str]) -> str | None:
    """
    Return the first part of *text* that uWSGI would replace; of `@(exec://...)` it runs the rest.

    >>> expanded("/a$(HOME)", {"HOME": "/"}), expanded("/a$(b c)", {})
    ('$(HOME)', None)
    """
    if found := re.search(r"[@%]\(", text):
        return found[0]
    names = re.findall(r"\$\(([^()]+)\)", text)
    return next((f"$({name})" for name in names if name in environ), None)


def check_free(path: Path) -> None:
    """
    Refuse a socket that uWSGI would take away from others.

    It removes any file that has the socket's name; and when an instance whose socket it took
    stops, that one removes the statistics' socket of its successor.

    Raises:
        ValueError: Another kind of file has the name, or a process that is alive listens there.
    """
    for each in (path, path.with_name(f"{path.name}.stats")):
        if os.path.lexists(each) and not each.is_socket():
            raise ValueError(f"{each} is there and is no socket: remove it, or set SOCKET")
    pid = listener(path)
    if pid is not None:
        who = f"process {pid}" if pid else "a process of another container"
        raise ValueError(f"{who} listens on {path}: stop it first, or set SOCKET")


def check_folder(folder: Path) -> None:
    """
    Refuse a folder in which no socket can be made; uWSGI's own message does not name it.

    Raises:
        ValueError: There is no such folder, or this user may not write to it.
    """
    if not folder.is_dir():
        raise ValueError(f"no folder {folder} for the socket: make it, or set SOCKET")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{folder} cannot be written by user {os.geteuid()}: see chown")


def listener(path: Path) -> int | None:
    """
    Return the process that listens on a socket; 0 where it is in another container.

    Returns:
        None where nobody does, and where the process that began to listen is dead: after a master
        was killed, a worker goes on with the request that it is at, for as long as that takes, and
        must not keep the next instance from starting.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.setblocking(False)
        try:
            connection.connect(str(path))
        except OSError:  # nobody, or its queue is full; better two instances than none
            return None
        size = struct.calcsize("3i")
        packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid: int = struct.unpack("3i", packed)[0]
    if not pid:
        return 0
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return None
    return None if line.rpartition(") ")[2][0] in "ZX" else pid


def _check_first(environ: Mapping[str, str]) -> None:
    # The folder's name, too, stands in values of the ini.
    if found := expanded(str(Path.cwd()), environ):
        raise ValueError(f"{Path.cwd()}: uWSGI expands {found}: rename that folder")
    path = environ.get("SOCKET", DEFAULT)
    check_name(path, environ)
    # 0 at a start. An instance that reloads is itself the one that listens.
    if environ.get("UWSGI_RELOADS") == "0":
        check_free(Path(path))


if __name__ == "__main__":
    first = sys.argv[1:] != ["folder"]
    try:
        if first:
            _check_first(os.environ)
        else:
            check_folder(Path(os.environ["SOCKET"]).parent)
    except ValueError as error:
        if first:
            print(STOP)  # noqa: T201 - its output is its purpose
        sys.exit(f"preflight: {error}")
