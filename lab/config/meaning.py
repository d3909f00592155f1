"""What the lab wants to know of a profile's options. The defaults say: not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


class ComputedValue(str):
    """
    What stands in a file in place of a value that only its server knows.

    It is empty where nothing is known, not even whether there is such a value.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one profile, and what they mean."""

    options: Mapping[str, object] = field(default_factory=dict)
    """Option -> value; of a repeated option the last."""

    off: frozenset[str] = frozenset()
    """Values, in lower case, with which an option counts as not written."""

    application: str | None = None
    """What is served, as "package.module:callable", however the options spell it."""

    processes: int | None = None
    """Worker processes that the profile asks for."""

    at_once: int | None = None
    """Requests that each worker process serves at a time."""

    routed: bool = False
    """Whether a router of the server's own stands before the workers."""

    logs: bool = False
    """Whether a line is written for each request."""

    accept_lock: bool = False
    """Whether the workers take turns in waiting for connections."""

    implied_keepalive: bool = False
    """Whether the options alone say that connections are kept, so that no profile declares it."""

    movable: bool = False
    """Whether a copy with one setting changed can be written and run: see `lab.config.moves`."""

    @property
    def places(self) -> int | None:
        """Requests that all workers together serve at a time."""
        if self.processes is None or self.at_once is None:
            return None
        return self.processes * self.at_once

    def sets(self, option: str) -> bool:
        """Return whether *option* is written, and not with a word for no."""
        return is_written(self.options, option, self.off)


def is_written(options: Mapping[str, object], name: str, off: frozenset[str]) -> bool:
    """
    Return whether an option is written, and not with a word for no.

    Args:
        options: Option -> value.
        name: The option's.
        off: The words for no, in lower case.
    """
    return name in options and str(options[name]).lower() not in off
