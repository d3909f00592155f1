"""
The machine, the kernel and every version that a result depends on.

Two results are comparable where their environments agree; what may differ without harm, such as the
load of the moment, is under `now` and no part of the digest. What cannot be read is absent.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Any

from lab.bench.machine.programs import output_of, parse_plugins
from lab.bench.probes.machine import (
    divide,
    present,
    read_cpu,
    read_kernel,
    read_limits,
    read_meminfo,
    read_siblings,
    read_text,
)
from lab.bench.probes.processes import PROC
from lab.model.nested import steady

Cores = tuple[tuple[int, ...], tuple[int, ...]]
"""The server's and the generator's CPUs."""


SMALL = 4
"""CPUs up to which one generator process is usual: the lab and the kernel have work to do beside
the generator, and it is one process that earlier runs had."""

LEAST_CONNECTIONS = 8
"""Connections of a generator process, at the least, where nobody says how many processes there are.
With fewer the engine wakes for single replies: a request to nginx took 7.2 µs of its CPU with 64
connections, 7.5 with 8, 8.0 with 4 and 37 with one (measured)."""

_FIB = """
import json, warnings
warnings.simplefilter("ignore")
import fib
print(json.dumps({"implementation": fib.BUILD, "info": fib.build_info()}))
"""


def read_environment() -> dict[str, Any]:
    """
    Read the environment: nested, of what JSON can hold.

    It starts no server and takes about 0.1 s, most of it waiting for the tools to tell their
    versions.
    """
    with ThreadPoolExecutor(8) as pool:
        slow = {
            "uwsgi": pool.submit(_read_uwsgi),
            "fib": pool.submit(_read_fib),
            "git": pool.submit(_read_git),
            "tools": pool.submit(_read_tools),
        }
        environment: dict[str, Any] = {
            "cpu": read_cpu(),
            "machine": present(
                architecture=platform.machine() or None,
                virtualisation=_read_virtualisation(),
                memory=read_meminfo("MemTotal"),
                swap=read_meminfo("SwapTotal"),
            ),
            "kernel": read_kernel(),
            "limits": read_limits(),
            "python": _read_python(),
            "distributions": _read_distributions(),
            "now": _read_now(),
        }
        environment |= {name: future.result() for name, future in slow.items()}
    return {name: value for name, value in environment.items() if value}


def digest(environment: Mapping[str, Any]) -> str:
    """Return a SHA-256, in hexadecimal, of all that must agree for a comparison."""
    return hashlib.sha256(json.dumps(steady(environment), sort_keys=True).encode()).hexdigest()


def split_cores() -> Cores | None:
    """
    Return the CPUs of the server and of the generator: half of the usable ones each.

    Hyperthreads of one core stay on one side if there are two cores: a generator on the twin of a
    server's CPU slows the server down. The server gets the larger half. None with a single CPU.
    """
    usable = os.sched_getaffinity(0)
    return divide([siblings & usable for siblings in read_siblings(usable)])


def default_generators(cores: Cores | None, connections: int) -> int:
    """
    Return how many generator processes share a load of *connections* by default.

    One if nothing is pinned, or both sides together have at most `SMALL` CPUs. Otherwise one per
    physical core of the generator, as far as each process has `LEAST_CONNECTIONS`.
    """
    if cores is None or len(cores[0]) + len(cores[1]) <= SMALL:
        return 1
    cpus = set(cores[1])
    physical = {frozenset(siblings & cpus) for siblings in read_siblings(cpus)}
    return max(1, min(len(physical), connections // LEAST_CONNECTIONS))


def _read_virtualisation() -> str | None:
    detected = output_of("systemd-detect-virt")
    if detected:
        name = detected.strip()
        return "bare metal" if name == "none" else name
    flags = read_text(PROC / "cpuinfo") or ""
    return "yes" if re.search(r"^flags\s*:.*\bhypervisor\b", flags, re.MULTILINE) else None


def _read_python() -> dict[str, Any]:
    arguments = str(sysconfig.get_config_var("CONFIG_ARGS") or "")
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "optimised": "--enable-optimizations" in arguments,
        "lto": "--with-lto" in arguments,
        "shared": bool(sysconfig.get_config_var("Py_ENABLE_SHARED")),
        "debug": bool(sysconfig.get_config_var("Py_DEBUG")),
        "flags": str(sysconfig.get_config_var("OPT") or ""),
    }


def _read_distributions() -> dict[str, str]:
    """Return the version of every installed distribution by its normalised name."""
    versions: dict[str, str] = {}
    for distribution in metadata.distributions():
        # Not distribution.metadata: it parses the description as well, 1 ms for each.
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
        fields = dict(line.partition(": ")[::2] for line in text.partition("\n\n")[0].split("\n"))
        if name := fields.get("Name"):
            versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), fields.get("Version", ""))
    return dict(sorted(versions.items()))


def _read_uwsgi() -> dict[str, Any]:
    version = output_of("uwsgi", "--version")
    if version is None:
        return {}
    plugins = parse_plugins(output_of("uwsgi", "--plugin-list") or "")
    return present(version=version.strip() or None, plugins=plugins or None)


def _read_fib() -> dict[str, Any]:
    """Ask a process of its own, so that nothing measured is imported here."""
    try:
        answer = json.loads(output_of(sys.executable, "-c", _FIB) or "")
        info = answer["info"]
        built = dict(info.get("built") or {})
        return present(
            implementation=answer["implementation"], stale=info.get("stale"), built=built or None
        )
    except (ValueError, TypeError, KeyError):
        return {}


def _read_git() -> dict[str, Any]:
    commit = output_of("git", "rev-parse", "HEAD")
    if commit is None or not re.fullmatch(r"[0-9a-f]{40,64}\n", commit):
        return {}
    changes = output_of("git", "--no-optional-locks", "status", "--porcelain")
    return present(commit=commit.strip(), dirty=None if changes is None else bool(changes))


def _read_tools() -> dict[str, str]:
    versions = {}
    for name, option, pattern in (
        ("wrk", "-v", r"wrk (?:debian/)?(\S+)"),
        ("ab", "-V", r"Version (\S+)"),
        ("ss", "-V", r"iproute2-(\S+)"),
        ("nginx", "-v", r"nginx/(\S+)"),
    ):
        version = re.search(pattern, output_of(name, option) or "")
        if version:
            versions[name] = version[1]
    return versions


def _read_now() -> dict[str, Any]:
    try:
        return {"load": list(os.getloadavg())}
    except OSError:
        return {}
