"""The process's limit on open files, which bounds its connections."""

from __future__ import annotations

import resource
import sys

from lab.errors import GeneratorError

_OWN = 64
# Descriptors that a generator has open besides its connections: pipes, epolls, logs, Locust's own.


def most_connections() -> int:
    """Return how many connections a generator may have here at the most."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard - _OWN


def allow_descriptors(connections: int) -> None:
    """
    Raise the soft limit on open files, where needed, so that *connections* fit.

    Raises:
        GeneratorError: The hard limit is below that.
    """
    needed = connections + _OWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise GeneratorError(
            f"{connections} connections need {needed} open files, but this process may have at "
            f"most {hard}: load fewer connections, or raise the limit with `ulimit -Hn`"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
