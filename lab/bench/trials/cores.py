"""Which CPUs the server has, and which the load."""

from __future__ import annotations

import os
import re

from lab.bench.machine.cpus import written
from lab.bench.probes.machine import parse_cpu_list
from lab.bench.store.environment import Cores, split_cores, usual_generators
from lab.errors import UsageError

_LIST = re.compile(r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*")


def share_cores(named: Cores | None = None) -> Cores | None:
    """Return *named*, else half of the CPUs for each; and let every server count its own only."""
    cores = named or split_cores()
    if cores:
        # Profiles that run a process for each CPU would count those of the generator, too. The
        # servers and the resolver inherit it. Two at the least, as `tuned` has it.
        os.environ.setdefault("PROCESSES", str(max(2, len(cores[0]))))
    return cores


def arrange(server: str | None, generator: str | None, *, pin: bool) -> Cores | None:
    """
    Return the CPUs that were named for server and load, a side without a name getting the rest.

    None where neither was named. Only where both are may they have CPUs in common.

    Raises:
        UsageError: A text is no list of CPUs, names one that is not there, or contradicts *pin*.
    """
    options = {"--server-cores": server, "--generator-cores": generator}
    named = {name: _cpus(name, text) for name, text in options.items() if text is not None}
    if not named:
        return None
    said = " ".join(f"{name} {options[name]}" for name in named)
    if not pin:
        raise UsageError(f"{said} --no-pin: say one of them")
    rest = os.sched_getaffinity(0).difference(*named.values())
    if len(named) == 1 and not rest:
        raise UsageError(f"{said}: no CPU is left; name both sides, and they may share")
    first, second = (tuple(sorted(named.get(name, rest))) for name in options)
    return first, second


def _cpus(name: str, text: str) -> set[int]:
    usable = os.sched_getaffinity(0)
    found = parse_cpu_list(text) if _LIST.fullmatch(text) else None
    if not found:
        raise UsageError(f"{name} {text}: no list of CPUs; write 0,2-3")
    if missing := written(found - usable):
        raise UsageError(f"{name} {text}: no CPU {missing} here; there are {written(usable)}")
    return found


def count_generators(wanted: int | None, connections: int, cores: Cores | None) -> int:
    """
    Return how many processes of the engine share a load of at least so many connections.

    Raises:
        UsageError: So many as were asked for have not a CPU and a connection each.
    """
    if wanted is None:
        return usual_generators(cores, connections)
    own = len(cores[1]) if cores else len(os.sched_getaffinity(0))
    if 1 <= wanted <= min(own, connections) or wanted == 1:
        return wanted
    if wanted < 1:
        problem = "at least one process makes the load"
    elif wanted > connections:
        problem = f"each process needs a connection of the load's {connections}"
    else:
        problem = f"each process needs a CPU, and the generator has {own} here"
        problem += "; --no-pin lets server and generators use all" if cores else ""
    raise UsageError(f"--generators {wanted}: {problem}")
