"""
Whether this machine is fit to measure, and what each missing thing costs.

`read_moment` and `lab.bench.store.environment` read, `assess` judges and reads nothing. "fail" is
kept for what
stops a run or makes it say something untrue; "warn" for what makes it say less.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from lab.analysis.gates.machine import FOREIGN_CPU, FOREIGN_CPU_SEVERE
from lab.bench.machine import slowdown
from lab.bench.machine.programs import output_of
from lab.bench.probes.machine import read_meminfo
from lab.bench.probes.pressure import PressureProbe
from lab.bench.probes.tcp import TcpProbe
from lab.bench.store.environment import read_environment
from lab.errors import GeneratorError
from lab.model.protocols import Probe, Subject

Level = Literal["ok", "warn", "fail"]

BACKLOG = 1024
"""Longest accept queue of any shipped profile; uWSGI refuses to start above somaxconn."""

FILES = 4096
"""Descriptors: 1,024 connections, each with an end in the generator, and as much again for logs,
libraries and reconnecting."""

FILES_LEAST = 1100
"""Descriptors below which 1,024 connections cannot even be opened."""

STEAL = 0.02
"""Share; the same."""

PRESSURE = 0.05
"""Share of the time in which some task waited, with nothing of ours running."""

RESOURCES = {"cpu": "CPU", "io": "I/O", "memory": "memory"}
"""The kernel's name -> the name in a sentence."""

MEMORY = 500e6
"""Bytes: eight workers of a small application, the generator and the lab."""

TRACKED = 4_000_000
"""Connections that a firewall must be able to track: 30,000 a second, each for the two minutes that
it stays in the table."""

TABLE = Path("/proc/sys/net/netfilter")

SLOWED = 0.25
"""Share of the time for which a program is to have the CPUs, where that is tried."""

SAMPLE = 0.5
"""Seconds in which other load is looked at: 50 of the kernel's ticks."""

BUILD = "`FIB_BUILD=cython pip install --no-deps --editable .`"

TOOLS = dict.fromkeys(("ss", "wrk", "ab"), "tools") | dict.fromkeys(
    ("gunicorn", "locust"), "distributions"
)
"""What is useful without being necessary -> where the environment has its version."""

COSTS = {
    "cores": (
        (
            "Server and load generator share one core, so requests/s depend on both; only CPU "
            "per request can be compared"
        ),
        "Use a machine with at least two cores, or let this process use them (taskset, cpuset).",
    ),
    "CPU quota": (
        (
            "The kernel stops all processes of the control group while its quota is used up, "
            "and `lab` repeats or marks such trials"
        ),
        "Give the container whole cores (docker --cpuset-cpus) instead of a quota (--cpus).",
    ),
    "governor": (
        "The frequency follows the load, so a half-idle server uses more CPU per request",
        "`cpupower frequency-set -g performance`",
    ),
    "turbo": (
        "The frequency changes with the temperature and the number of busy cores",
        (
            "Turn it off for narrower intervals: "
            "`echo 0 > /sys/devices/system/cpu/cpufreq/boost`, "
            "or `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`."
        ),
    ),
    "somaxconn": (
        f"Profiles with `listen = {BACKLOG}` do not start",
        f"`sysctl -w net.core.somaxconn={4 * BACKLOG}`",
    ),
    "open files": (
        "With 1,024 connections the server or the load generator may run out of file descriptors",
        f"{{first}}`ulimit -n {FILES}`",
    ),
    "local ports": (
        "With more than half of the ports in use, the kernel finds one up to 100 times slower",
        "Wait a minute, or: `sysctl -w net.ipv4.ip_local_port_range='10240 65535'`",
    ),
    "firewall": (
        (
            "At {rate:,.0f} new connections per second the firewall's table is full after two "
            "minutes, and the kernel drops handshakes"
        ),
        f"`sysctl -w net.netfilter.nf_conntrack_max={TRACKED}`",
    ),
    "other load": (
        (
            f"Trials with more than {FOREIGN_CPU:.2f} cores of other programs, for each core of "
            f"the server, are repeated; with more than {FOREIGN_CPU_SEVERE:.2f} they do not count"
        ),
        f"Stop other programs; below {FOREIGN_CPU_SEVERE:.2f} you can also run more blocks.",
    ),
    "steal": (
        "The hypervisor gives CPU time to other machines, and `lab` repeats such trials",
        "Use a machine with dedicated cores.",
    ),
    "pressure": (
        "Tasks, including the server, are waiting for {short}",
        "Stop other programs.",
    ),
    "pressure unknown": (
        "`lab` cannot tell whether I/O or memory limits a server",
        "Boot with psi=1, on Linux 4.20 or later.",
    ),
    "memory": (
        "The kernel may swap out or kill servers with many workers",
        "Stop programs that use memory, or leave out the profiles with many processes.",
    ),
    "swap": (
        "A request that needs a swapped-out page is slow, and PSS does not count such pages",
        "Stop programs that use memory, then: `swapoff -a && swapon -a`",
    ),
    "slowed badly": (
        "With `--server-share` a server gets less than that share, and other programs the rest",
        "Stop other programs.",
    ),
    "slowed server": (
        "The server gets half of the cores, and no run can say what a second core gains",
        "Run as root or with CAP_SYS_NICE (docker run --cap-add sys_nice).",
    ),
    "uwsgi": ("Only profiles of other servers can run", "`pip install uwsgi`"),
    "uwsgi routing": (
        "Profiles with route options, such as those that reply from the cache, do not start",
        "Install libpcre2-dev, then: `pip install --no-cache-dir --force-reinstall uwsgi`",
    ),
    "ss": (
        "In a container that hides a server's sockets, `lab` does not see accept-queue drops",
        "`apt install iproute2`",
    ),
    "wrk": ("The load generator cannot be checked against wrk", "`apt install wrk`"),
    "ab": ("The commands of the article cannot be repeated", "`apt install apache2-utils`"),
    "gunicorn": ("The gunicorn profiles are skipped", "`pip install gunicorn`"),
    "locust": (
        "`locust -f loadtests/` does not run; `lab run` works without it",
        "`pip install locust`",
    ),
    "fib missing": ("The application cannot be imported", BUILD),
    "fib stale": ("The compiled module is older than its source", BUILD),
    "fib": ("The step from plain Python to the compiled module shows no difference", BUILD),
}
"""What it costs where an item is not as it should be, and what to do; {words} are filled in."""


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
    """What to do; a sentence, or a command. Commands stand between backticks."""
    not_ready: str = ""
    """Why a run would have no valid trial; empty if this finding does not prevent one."""


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
    slowed: float | str | None = None
    """Share of the CPUs that a program had where it should have had `SLOWED`; or why none can be
    slowed down; None: not tried."""


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
        slowed=_read_slowed(),
        tracked=_read_tracked(),
    )


def _read_slowed() -> float | str:
    if (why := slowdown.obstacle()) is not None:
        return why
    try:
        return slowdown.measured_share(SLOWED)
    except GeneratorError as error:
        return str(error)


def _read_tracked() -> tuple[int, int] | None:
    try:
        now, most = (int((TABLE / f"nf_conntrack_{name}").read_text()) for name in ("count", "max"))
    except (OSError, ValueError):  # a kernel without it, or a sandbox that hides it
        return None
    return now, most


def assess(environment: Mapping[str, Any], moment: Moment) -> list[Check]:
    """Judge what was read; an item that could not be read is judged only if a run needs it."""
    return [
        *_machine(environment),
        *_network(environment, moment),
        *_slowed(moment),
        *_others(moment, len(environment.get("cpu", {}).get("affinity", ()))),
        *_programs(environment, moment),
    ]


def _machine(environment: Mapping[str, Any]) -> Iterator[Check]:
    """Judge what stays as it is until somebody changes it."""
    cpu, limits = environment.get("cpu", {}), environment.get("limits", {})
    usable = len(cpu.get("affinity", ()))
    yield _judged("cores", f"{usable} of {cpu.get('cores', '?')} usable", fine=usable >= 2)
    if (quota := limits.get("quota")) is not None:
        yield _judged("CPU quota", f"{quota:g} cores", fine=quota >= usable)
    if governor := cpu.get("governor"):
        yield _judged("governor", governor, fine=governor == "performance")
    if "turbo" in cpu:
        yield _judged("turbo", "on" if cpu["turbo"] else "off", fine=not cpu["turbo"])
    if (somaxconn := _parameter(environment, "net.core.somaxconn")) is not None:
        yield _judged("somaxconn", somaxconn, "fail", fine=int(somaxconn) >= BACKLOG)
    if files := limits.get("nofile"):
        soft, hard = (math.inf if limit < 0 else limit for limit in files)
        yield _judged(
            "open files",
            "unlimited" if soft == math.inf else f"{soft:,.0f}",
            "warn" if soft >= FILES_LEAST else "fail",
            fine=soft >= FILES,
            first="" if hard >= FILES else f"As root: `ulimit -Hn {FILES}`; ",
        )


def _slowed(moment: Moment) -> Iterator[Check]:
    """Judge whether a server can be slowed down here: see `lab.bench.machine.slowdown`."""
    if isinstance(moment.slowed, str):
        yield _judged("slowed server", f"not possible: {moment.slowed}", fine=False)
    elif moment.slowed is not None:
        had = f"{moment.slowed:.0%} of the CPUs with --server-share {SLOWED:.0%}"
        fine = abs(moment.slowed - SLOWED) < SLOWED / 4
        yield _judged("slowed server", had, fine=fine, why="" if fine else "slowed badly")


def _network(environment: Mapping[str, Any], moment: Moment) -> Iterator[Check]:
    """Judge free ports, and the table that a container engine's rules make the kernel keep."""
    range_ = _parameter(environment, "net.ipv4.ip_local_port_range")
    waiting = moment.readings.get("tcp.time_wait")
    if range_ is not None and waiting is not None:
        first, last = map(int, range_.split())
        ports = last - first + 1
        shown = f"{ports:,}, {waiting:,.0f} connections in TIME_WAIT"
        yield _judged("local ports", shown, fine=waiting <= ports / 2)
    now, most = moment.tracked or (0, 0)
    if now:
        shown = f"tracks {now:,} connections, {most:,} at most"
        yield _judged("firewall", shown, fine=most >= TRACKED, rate=most / 120)


def _others(moment: Moment, usable: int) -> Iterator[Check]:
    """Judge what other programs leave of the *usable* cores, and of the memory."""
    readings = moment.readings
    if (foreign := readings.get("machine.foreign_cpu")) is not None:
        load = _judged("other load", f"{max(foreign, 0):.2f} cores", fine=foreign <= FOREIGN_CPU)
        if foreign > FOREIGN_CPU_SEVERE * max(1, usable // 2):  # the server gets half of them
            busy = f"CPU busy ({foreign:.2f} cores used by other programs)"
            load = replace(load, level="fail", not_ready=busy)
        yield load
    if (steal := readings.get("machine.steal")) is not None:
        yield _judged("steal", f"{steal:.1%}", fine=steal <= STEAL)
    keys = {name: f"pressure.{name}_some" for name in ("cpu", "io", "memory")}
    shares = {name: readings[key] for name, key in keys.items() if key in readings}
    if shares:
        shown = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        short = [RESOURCES[name] for name, share in shares.items() if share > PRESSURE]
        yield _judged("pressure", shown, fine=not short, short=" and ".join(short))
    else:
        yield _judged("pressure", "unknown", fine=False, why="pressure unknown")
    if moment.memory is not None:
        shown = f"{moment.memory / 1e6:,.0f} MB available"
        yield _judged("memory", shown, fine=moment.memory >= MEMORY)
    if moment.swapped is not None:
        shown = f"{moment.swapped / 1e6:,.0f} MB used"
        yield _judged("swap", shown, fine=moment.swapped < MEMORY / 5)


def _programs(environment: Mapping[str, Any], moment: Moment) -> Iterator[Check]:
    uwsgi = environment.get("uwsgi", {}).get("version")
    yield _judged("uwsgi", uwsgi or "missing", "fail", fine=bool(uwsgi))
    if moment.routing is not None:
        shown = "built in" if moment.routing else "missing"
        yield _judged("uwsgi routing", shown, fine=moment.routing)
    for name, place in TOOLS.items():
        version = environment.get(place, {}).get(name)
        yield _judged(name, version or "missing", fine=bool(version))
    fib = environment.get("fib", {})
    built = fib.get("implementation")
    if built is None:
        yield _judged("fib", "missing", "fail", fine=False, why="fib missing")
    elif fib.get("stale") is True:
        yield _judged("fib", f"{built}, older than its source", fine=False, why="fib stale")
    else:
        yield _judged("fib", built, fine=built == "cython")


def _parameter(environment: Mapping[str, Any], name: str) -> str | None:
    """Return a parameter of the kernel; None where it could not be read."""
    value: str | None = environment.get("kernel", {}).get("parameters", {}).get(name)
    return value


def _judged(
    name: str, value: str, level: Level = "warn", *, fine: bool, why: str = "", **words: Any
) -> Check:
    """Return a finding, with what `COSTS` says of *why* (else of *name*) unless all is fine."""
    if fine:
        return Check(name, value, "ok")
    cost, advice = (text.format(**words) for text in COSTS[why or name])
    not_ready = f"{name} {value}" if level == "fail" else ""
    return Check(name, value, level, cost, advice, not_ready)
