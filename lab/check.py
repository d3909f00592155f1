"""
Whether this machine is fit to measure, and what each missing thing costs.

`read_moment` and `lab.environment` read, `assess` judges and reads nothing. "fail" is kept for what
stops a run or makes it say something untrue; "warn" for what makes it say less.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lab.environment import output_of, read_environment
from lab.model import Probe, Subject
from lab.probes.machine import read_meminfo
from lab.probes.pressure import PressureProbe
from lab.probes.tcp import TcpProbe

Level = Literal["ok", "warn", "fail"]

BACKLOG = 1024
"""Longest accept queue of any shipped profile; uWSGI refuses to start above somaxconn."""

FILES = 4096
"""Descriptors: 1,024 connections, each with an end in the generator, and as much again for logs,
libraries and reconnecting."""

FILES_LEAST = 1100
"""Descriptors below which 1,024 connections cannot even be opened."""

FOREIGN = 0.10
"""Cores; the limit above which a trial is repeated."""

STEAL = 0.02
"""Share; the same."""

PRESSURE = 0.05
"""Share of the time in which some task waited, with nothing of ours running."""

MEMORY = 500e6
"""Bytes: eight workers of a small application, the generator and the lab."""

TRACKED = 4_000_000
"""Connections that a firewall must be able to track: 30,000 a second, each for the two minutes that
it stays in the table."""

TABLE = Path("/proc/sys/net/netfilter")

SAMPLE = 0.5
"""Seconds in which other load is looked at: 50 of the kernel's ticks."""


TOOLS = {
    "ss": (
        "Where a container forbids to ask a server's sockets, accept-queue drops go unseen",
        "apt install iproute2",
    ),
    "wrk": ("The engine cannot be checked against it", "apt install wrk"),
    "ab": ("The article's own commands cannot be repeated", "apt install apache2-utils"),
    "gunicorn": ("Its profile is skipped", "pip install gunicorn"),
    "locust": ("`locust -f loadtests/` does not run; `lab run` does", "pip install locust"),
}
"""What is useful without being necessary: what it costs to be without it, and what installs it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding, for a row of a table."""

    name: str
    value: str
    """What was found."""
    level: Level
    cost: str = ""
    """What it costs if it stays so; without a full stop. Empty where all is well."""
    advice: str = ""
    """What to do; a sentence."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What the machine does just now."""

    readings: Mapping[str, float]
    """As the probes name them."""
    memory: int | None = None
    """Bytes that could be used without swapping."""
    swapped: int | None = None
    """Bytes swapped out."""
    routing: bool | None = None
    """Whether uWSGI was built with internal routing; None without uWSGI."""
    tracked: tuple[int, int] | None = None
    """Connections that the firewall tracks now, and at most; None where it cannot."""


def check() -> list[Check]:
    """Look at this machine for about a second, and judge it."""
    return assess(read_environment(), read_moment())


def read_moment(seconds: float = SAMPLE) -> Moment:
    """Read what goes on, over *seconds* in which this process sleeps."""
    subject = Subject(server=os.getpid(), port=0)
    probes: tuple[Probe, ...] = (PressureProbe(), TcpProbe())
    stops = [probe.start(subject) for probe in probes]
    time.sleep(seconds)
    readings: dict[str, float] = {}
    for stop in stops:
        readings.update(stop())
    total, free = read_meminfo("SwapTotal"), read_meminfo("SwapFree")
    options = output_of("uwsgi", "--help")
    return Moment(
        readings=readings,
        memory=read_meminfo("MemAvailable"),
        swapped=None if total is None or free is None else total - free,
        routing=None if options is None else "--route " in options,
        tracked=_read_tracked(),
    )


def _read_tracked() -> tuple[int, int] | None:
    try:
        now, most = (int((TABLE / f"nf_conntrack_{name}").read_text()) for name in ("count", "max"))
    except (OSError, ValueError):  # a kernel without it, or a sandbox that hides it
        return None
    return now, most


def assess(environment: Mapping[str, Any], moment: Moment) -> list[Check]:
    """Judge what was read; an item that could not be read is judged only if a run needs it."""
    return [
        *_cpu(environment),
        *_limits(environment),
        *_ports(environment, moment),
        *_tracking(moment),
        *_load(moment),
        *_memory(moment),
        *_tools(environment, moment),
        _fib(environment),
    ]


def _cpu(environment: Mapping[str, Any]) -> Iterator[Check]:
    cpu = environment.get("cpu", {})
    usable = len(cpu.get("affinity", ()))
    yield _judged(
        "cores",
        f"{usable} of {cpu.get('cores', '?')} usable",
        "ok" if usable >= 2 else "warn",
        "Server and generator share one core, so throughput is that of both; only CPU a request "
        "means something",
        "Use a machine with two cores or more, or let this process use them (taskset, cpuset).",
    )
    quota = environment.get("limits", {}).get("quota")
    if quota is not None:
        yield _judged(
            "CPU quota",
            f"{quota:g} cores",
            "warn" if quota < usable else "ok",
            "The control group is stopped for the rest of each period once its quota is used up, "
            "and such trials are repeated or marked",
            "Give the container whole cores (docker --cpuset-cpus) instead of a quota (--cpus).",
        )
    if governor := cpu.get("governor"):
        yield _judged(
            "governor",
            governor,
            "ok" if governor == "performance" else "warn",
            "The frequency follows the load, so a half idle server costs more CPU a request",
            "cpupower frequency-set -g performance",
        )
    if "turbo" in cpu:
        yield _judged(
            "turbo",
            "on" if cpu["turbo"] else "off",
            "warn" if cpu["turbo"] else "ok",
            "The frequency depends on the temperature and on the number of busy cores",
            "Turn it off for narrower intervals: echo 0 > /sys/devices/system/cpu/cpufreq/boost, "
            "or echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo.",
        )


def _limits(environment: Mapping[str, Any]) -> Iterator[Check]:
    somaxconn = environment.get("kernel", {}).get("parameters", {}).get("net.core.somaxconn")
    if somaxconn is not None:
        yield _judged(
            "somaxconn",
            somaxconn,
            "ok" if int(somaxconn) >= BACKLOG else "fail",
            f"Profiles with `listen = {BACKLOG}` do not start",
            f"sysctl -w net.core.somaxconn={4 * BACKLOG}",
        )
    if files := environment.get("limits", {}).get("nofile"):
        soft, hard = (float("inf") if limit < 0 else limit for limit in files)
        enough = hard >= FILES
        yield _judged(
            "open files",
            "unlimited" if soft == float("inf") else f"{soft:,.0f}",
            "ok" if soft >= FILES else "warn" if soft >= FILES_LEAST else "fail",
            "Loads of 1,024 connections may run out of descriptors, on either side",
            f"ulimit -n {FILES}" if enough else f"As root: ulimit -Hn {FILES}; ulimit -n {FILES}",
        )


def _ports(environment: Mapping[str, Any], moment: Moment) -> Iterator[Check]:
    text = environment.get("kernel", {}).get("parameters", {}).get("net.ipv4.ip_local_port_range")
    waiting = moment.readings.get("tcp.time_wait")
    if text is None or waiting is None:
        return
    first, last = map(int, text.split())
    ports = last - first + 1
    yield _judged(
        "local ports",
        f"{ports:,}, {waiting:,.0f} connections in TIME_WAIT",
        "ok" if waiting <= ports / 2 else "warn",
        "Above half of the range the kernel takes up to 100 times as long to find a free port",
        "Wait a minute, or: sysctl -w net.ipv4.ip_local_port_range='10240 65535'",
    )


def _tracking(moment: Moment) -> Iterator[Check]:
    """Judge the table that a container engine's rules make the kernel keep, for loopback, too."""
    now, most = moment.tracked or (0, 0)
    if not now:
        return
    yield _judged(
        "firewall",
        f"tracks {now:,} connections, {most:,} at most",
        "ok" if most >= TRACKED else "warn",
        f"From {most / 120:,.0f} new connections a second on its table is full after two minutes, "
        "and handshakes are dropped",
        f"sysctl -w net.netfilter.nf_conntrack_max={TRACKED}",
    )


def _load(moment: Moment) -> Iterator[Check]:
    readings = moment.readings
    foreign = readings.get("machine.foreign_cpu")
    if foreign is not None:
        yield _judged(
            "other load",
            f"{max(foreign, 0):.2f} cores",
            "ok" if foreign <= FOREIGN else "warn",
            f"Trials with more than {FOREIGN:.2f} cores of it are repeated, and intervals are "
            "wider",
            "Stop other work on this machine, or give the run more blocks.",
        )
    steal = readings.get("machine.steal")
    if steal is not None:
        yield _judged(
            "steal",
            f"{steal:.1%}",
            "ok" if steal <= STEAL else "warn",
            "The hypervisor gives the cores to others, and such trials are repeated",
            "Use a machine with dedicated cores.",
        )
    shares = {name: readings.get(f"pressure.{name}_some") for name in ("cpu", "io", "memory")}
    known = {name: share for name, share in shares.items() if share is not None}
    yield _judged(
        "pressure",
        ", ".join(f"{name} {share:.1%}" for name, share in known.items()) or "not told",
        "ok" if known and max(known.values()) <= PRESSURE else "warn",
        "Tasks wait for what is short here, the server among them"
        if known
        else "I/O and memory cannot be named as the cause that limits a server",
        "Stop what uses it." if known else "Boot with psi=1, on Linux 4.20 or later.",
    )


def _memory(moment: Moment) -> Iterator[Check]:
    if moment.memory is not None:
        yield _judged(
            "memory",
            f"{moment.memory / 1e6:,.0f} MB available",
            "ok" if moment.memory >= MEMORY else "warn",
            "Servers with many workers may be swapped out or killed",
            "Stop what uses it, or leave out the profiles with many processes.",
        )
    if moment.swapped is not None:
        yield _judged(
            "swap",
            f"{moment.swapped / 1e6:,.0f} MB used",
            "ok" if moment.swapped < MEMORY / 5 else "warn",
            "A page that comes back from the disk makes one request slow, and PSS leaves it out",
            "Stop what uses the memory, then: swapoff -a && swapon -a",
        )


def _tools(environment: Mapping[str, Any], moment: Moment) -> Iterator[Check]:
    versions = {
        **environment.get("tools", {}),
        **{
            name: version
            for name, version in environment.get("distributions", {}).items()
            if name in ("gunicorn", "locust")
        },
    }
    uwsgi = environment.get("uwsgi", {}).get("version")
    yield _judged(
        "uwsgi",
        uwsgi or "missing",
        "ok" if uwsgi else "fail",
        "No profile can run but those of other servers",
        "pip install uwsgi",
    )
    if moment.routing is not None:
        yield _judged(
            "uwsgi routing",
            "built in" if moment.routing else "missing",
            "ok" if moment.routing else "warn",
            "Profiles with route options, such as those that answer from the cache, do not start",
            "Install libpcre2-dev, then: pip install --no-cache-dir --force-reinstall uwsgi",
        )
    for name, (cost, advice) in TOOLS.items():
        found = versions.get(name)
        yield _judged(name, found or "missing", "ok" if found else "warn", cost, advice)


def _fib(environment: Mapping[str, Any]) -> Check:
    fib = environment.get("fib", {})
    found = fib.get("implementation")
    stale = fib.get("stale") is True
    return _judged(
        "fib",
        "missing" if found is None else f"{found}, older than its source" if stale else found,
        "fail" if found is None else "ok" if found == "cython" and not stale else "warn",
        "The application cannot be imported"
        if found is None
        else "What is measured is not what the source says"
        if stale
        else "The step from plain Python to the compiled module shows no difference",
        "FIB_BUILD=cython pip install --no-deps --editable .",
    )


def _judged(name: str, value: str, level: Level, cost: str, advice: str) -> Check:
    """Return a finding; where all is well there is nothing to say about it."""
    return Check(name, value, level) if level == "ok" else Check(name, value, level, cost, advice)
