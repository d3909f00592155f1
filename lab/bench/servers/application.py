"""Which application a server is to serve, and why it did not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab.bench.servers.last_words import reason
from lab.errors import ServerStartError


@dataclass(frozen=True, slots=True)
class ApplicationTarget:
    """An application, as a server is told of it."""

    module: str
    """Full name of a module, or the path of a file."""
    callable: str
    """Its name there, or `name()` of a function that makes it."""
    folder: Path
    """Where it is imported."""
    how: str
    """What to write for another folder, such as "--chdir names another"."""
    named: str = ""
    """Where the user has named it: "--app shop:app", or the path of an ini."""
    python: str | None = None
    """What imports it; None where that is not known."""
    path: tuple[str, ...] = ()
    """Where its modules are looked for, before all that Python itself knows."""
    variables: tuple[tuple[str, str], ...] = ()
    """What its configuration adds to the environment."""

    def __str__(self) -> str:
        return f"{self.module}:{self.callable}"


def explained(error: ServerStartError, log: str) -> ServerStartError:
    """
    Return *error* with the reason first, and the whole log instead of its end.

    Args:
        error: How the failure looked from outside.
        log: All that the server printed.
    """
    if error.told:
        return type(error)(error.profile, error.problem, log, told=True)
    why = reason(log)
    if why is None:
        return ServerStartError(error.profile, error.problem, log)
    frame = f"  in {why.frame}" if why.frame else ""
    code = f": {why.code}" if why.frame and why.code else ""
    lines = [why.text, frame + code, why.advice, error.problem]
    return ServerStartError(error.profile, "\n".join(filter(None, lines)), log, told=True)
