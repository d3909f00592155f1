"""The CPUs of the server and of the load generator, and the number of load generators."""

from __future__ import annotations

import os
import re

from lab.bench.machine.cpus import cpu_list
from lab.bench.probes.machine import parse_cpu_list
from lab.bench.store.environment import Cores, default_generators, split_cores
from lab.errors import UsageError

_CPU_LIST = re.compile(r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*")


def assign_cores(chosen: Cores | None = None) -> Cores | None:
    """
    Return *chosen*, or half of the CPUs for each side; None with a single CPU.

    Also set PROCESSES to the number of the server's CPUs, and at least 2, unless it is set:
    profiles that start a process per CPU must not count the CPUs of the load generator.
    """
    cores = chosen or split_cores()
    if cores:
        # The servers inherit it, and so does the uWSGI that resolves the profiles.
        os.environ.setdefault("PROCESSES", str(max(2, len(cores[0]))))
    return cores


def has_one_core() -> bool:
    """Return whether half of the CPUs is one."""
    cores = split_cores()
    return cores is not None and len(cores[0]) == 1


def every_core() -> Cores:
    """Return all usable CPUs, for the server and for the load: they take turns."""
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    return cpus, cpus


def parse_cores(server: str | None, generator: str | None, *, pin: bool) -> Cores | None:
    """
    Parse the CPUs of --server-cores and --generator-cores.

    If one of the options is None, its side gets the remaining CPUs. Return None if both are. The
    sides may share CPUs only if both options are given.

    Raises:
        UsageError: A text is no list of CPUs, a CPU does not exist, no CPU remains, or *pin* is
            False.
    """
    options = {"--server-cores": server, "--generator-cores": generator}
    given = {name: text for name, text in options.items() if text is not None}
    if not given:
        return None
    cpus = {name: _parse_cpus(name, text) for name, text in given.items()}
    typed = " ".join(f"{name} {text}" for name, text in given.items())
    if not pin:
        raise UsageError(f"{typed} --no-pin: say one of them")
    rest = os.sched_getaffinity(0).difference(*cpus.values())
    if len(cpus) == 1 and not rest:
        raise UsageError(f"{typed}: no CPU is left; name both sides, and they may share")
    server_cpus, generator_cpus = (tuple(sorted(cpus.get(name, rest))) for name in options)
    return server_cpus, generator_cpus


def _parse_cpus(option: str, text: str) -> set[int]:
    usable = os.sched_getaffinity(0)
    cpus = parse_cpu_list(text) if _CPU_LIST.fullmatch(text) else None
    if not cpus:
        raise UsageError(f"{option} {text}: no list of CPUs; write 0,2-3")
    if missing := cpu_list(cpus - usable):
        raise UsageError(f"{option} {text}: no CPU {missing} here; there are {cpu_list(usable)}")
    return cpus


def count_generators(requested: int | None, connections: int, cores: Cores | None) -> int:
    """
    Return how many generator processes share a load of at least *connections*.

    Args:
        requested: The value of --generators; None: not given.
        connections: The connections of the smallest load of the run.
        cores: The CPUs of both sides; None: not pinned.

    Raises:
        UsageError: There are fewer CPUs or connections than *requested*.
    """
    if requested is None:
        return default_generators(cores, connections)
    cpus = len(cores[1]) if cores else len(os.sched_getaffinity(0))
    if 1 <= requested <= min(cpus, connections) or requested == 1:
        return requested
    if requested < 1:
        problem = "at least one process makes the load"
    elif requested > connections:
        problem = f"each process needs a connection of the load's {connections}"
    else:
        problem = f"each process needs a CPU, and the generator has {cpus} here"
        problem += "; --no-pin lets server and generators use all" if cores else ""
    raise UsageError(f"--generators {requested}: {problem}")
