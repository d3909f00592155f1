"""Why a server does not serve its application."""

from __future__ import annotations

from lab.bench.servers.last_words import reason
from lab.errors import ServerStartError


def explained(error: ServerStartError, log: str) -> ServerStartError:
    """
    Return *error* with the reason first, and the whole log instead of its end.

    Args:
        error: How the failure looked from outside.
        log: All that the server printed.
    """
    if error.explained:
        return type(error)(error.profile, error.problem, log, explained=True)
    why = reason(log)
    if why is None:
        return ServerStartError(error.profile, error.problem, log)
    frame = f"  in {why.frame}" if why.frame else ""
    code = f": {why.code}" if why.frame and why.code else ""
    lines = [why.text, frame + code, why.advice, error.problem]
    return ServerStartError(error.profile, "\n".join(filter(None, lines)), log, explained=True)
