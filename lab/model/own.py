"""What a user says of an application of their own: where it runs, and what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a server of the user's application is started with. Empty: this project's own."""

    python: Path | None = None
    """A virtual environment's folder, or None for the one that the lab runs in."""

    uwsgi: Path | None = None
    """The uwsgi that serves it; None for the environment's, and where that has none, for ours."""

    cwd: Path | None = None
    """Folder that servers are started in; None for the configuration's own folder."""

    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables. Their values are secrets: they are printed and stored nowhere."""

    keep: frozenset[str] = frozenset()
    """Options that stay in the private copy of a configuration although they reach beyond it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One kind of request among those that a workload makes."""

    path: str
    """Request target, beginning with a slash."""

    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    """Beside Host, Connection and Content-Length, which the lab writes."""

    body: bytes = b""
    weight: int = 1
    """How often it is made, relative to the others."""

    status: int = 200
    pattern: str | None = None
    """Regular expression that is searched in the body of a reply that varies."""
