"""Which changes may be tried: those that bring no grave fault, by the linter's word."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lab.cli.tune.climb import Values
from lab.cli.tune.moves import WORKERS, Facts, Ground, moves, per_cpu, without_idle_lock
from lab.config import servers
from lab.errors import ProfileError
from lab.lint.flaw import Severity
from lab.lint.judge import judged

GRAVE = {Severity.ERROR, Severity.DANGEROUS}
"""Faults that no change may bring."""


def new_fault(ground: Ground, values: Values) -> str:
    """
    Return the first grave fault that a change brings; empty where it brings none.

    Raises:
        ProfileError: The change cannot be written.
    """
    after = judged(servers.with_text(ground.config, ground.text(values)))
    grave = [flaw for flaw in after if flaw.severity in GRAVE]
    new = (flaw for flaw in grave if flaw.code not in ground.faults)
    return next((f"{flaw.code}: {flaw.message}" for flaw in new), "")


def tries(ground: Ground, facts: Facts, fixed: Collection[str] = ()) -> Iterator[str]:
    """Yield what is tried at first, a group a line; see `lab.cli.tune.moves.moves`."""
    by_group: dict[str, list[str]] = {}
    allowed = (
        move
        for move in moves(ground, facts, fixed, {}, first=True)
        if ground.steps(move.values) and _is_allowed(ground, move.values)
    )
    for move in without_idle_lock(ground, {}, allowed):
        change = ", ".join(map(str, ground.steps(move.values)))
        by_group.setdefault(move.group, []).append(change)
    for group, every in by_group.items():
        description = _in_words(ground, facts) if group == WORKERS else "; or ".join(every)
        yield f"{group}: {description}"


def _in_words(ground: Ground, facts: Facts) -> str:
    """Return which numbers of workers are tried, whatever the machine."""
    *fewer, most = map(str, per_cpu(ground))
    processes = f"{', '.join(fewer)} and {most} worker processes for each CPU of the server"
    with_threads = facts.threads and ground.service.is_wsgi
    return f"{processes}, with 1, 4 and 16 threads" if with_threads else processes


def _is_allowed(ground: Ground, values: Values) -> bool:
    try:
        return not new_fault(ground, values)
    except ProfileError:
        return False
