"""
What is seen of a running server that is no number: which `fib` it loaded, how many ports it has.

Seen from outside, in the files that its processes have mapped: what a server says of itself is
what it was told, and a fallback to plain Python would go unnoticed.
"""

from __future__ import annotations

import re
from pathlib import Path

from lab.bench.probes.listeners import read_listeners
from lab.bench.probes.processes import PROC, read_snapshot
from lab.model.protocols import Subject

_COMPILED = re.compile(r"/fib/_core_c\.[^/\n]*\.so$", re.MULTILINE)

_PYTHON = re.compile(
    r"/libpython3[^/\n]*\.so|/lib-dynload/[^/\n]*\.so|/python3[^/\n]*$", re.MULTILINE
)
"""A shared libpython, a module of the standard library, or the interpreter's own program."""


def facts(subject: Subject) -> dict[str, str]:
    """
    Return what is seen of the server's tree; what cannot be known is absent.

    `fib`: "cython" if a process has the compiled module mapped; "pure" if all could be looked at,
    at least one runs Python and none has it. `listeners`: TCP sockets that it listens on.
    `processes`: those alive, without the tree's root. `threads`: theirs, with each one's first.
    """
    members = [p for p in read_snapshot(subject.server).tree(subject.server) if not p.zombie]
    pids = [process.pid for process in members]
    server_facts = {}
    implementation = _fib([pid for pid in pids if pid != subject.server])
    if implementation is not None:
        server_facts["fib"] = implementation
    listeners = read_listeners(pids)
    if listeners is not None:
        server_facts["listeners"] = str(len(listeners))
    if subject.server in pids:
        server_facts["processes"] = str(len(pids) - 1)
        threads = (process.threads for process in members if process.pid != subject.server)
        server_facts["threads"] = str(sum(threads))
    return server_facts


def classify(maps: str) -> str | None:
    """
    Return the implementation of `fib` in a process with such /proc/PID/maps.

    >>> classify("7f00-7f01 r-xp 0 08:01 7 /srv/fib/_core_c.cpython-311-x86_64-linux-gnu.so")
    'cython'
    >>> classify("7f00-7f01 r-xp 0 08:01 7 /usr/lib/libpython3.11.so.1.0")
    'pure'
    >>> classify("7f00-7f01 r-xp 0 08:01 7 /usr/sbin/nginx") is None
    True
    """
    if _COMPILED.search(maps):
        return "cython"
    return "pure" if _PYTHON.search(maps) else None


def _fib(pids: list[int]) -> str | None:
    builds = set()
    unreadable = False
    for pid in pids:
        try:
            builds.add(classify(Path(PROC, str(pid), "maps").read_text(errors="replace")))
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile
        except OSError:
            unreadable = True  # another user's: it may have the module
    if "cython" in builds:
        return "cython"
    return "pure" if "pure" in builds and not unreadable else None
