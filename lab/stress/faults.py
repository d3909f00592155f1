"""The faults: what each is, what it needs, and in which profile it can be planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.model import Profile
from lab.stress import overlay, planting
from lab.stress.planting import (
    BUSY,
    KILLS,
    LIFETIME,
    QUEUE,
    SLOW,
    SLOW_EVERY,
    SLOW_SECONDS,
    TOUCHED,
    Seen,
)
from lab.stress.result import CONTROL
from lab.stress.target import Target


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, or is done, while the server is in use."""

    name: str
    summary: str
    """In plain words, for under the table."""
    plant: Callable[[Target], Seen]
    """Do it once, and return when the server has dealt with it, or has had the time to."""
    burst: int = 0
    """Requests sent at once on top of the steady load, each time that it is planted."""
    quick: bool = False
    """Whether those ask for something that takes no time."""
    options: tuple[tuple[str, str], ...] = ()
    """Options added to uWSGI for the trial, after the profile's own."""
    stops: bool = False
    """Whether the server is gone afterwards, so that who is refused then is not lost."""

    def problem(self, profile: Profile) -> str | None:
        """Return why *profile* has nothing to plant it in, or None."""
        return overlay.problem(profile) if self.options else None


RECYCLING = (("max-worker-lifetime", str(LIFETIME)), ("min-worker-lifetime", "1"))

FAULTS = (
    Fault(
        CONTROL, "the control: nothing is done; anything but 0 is the machine's", planting.nothing
    ),
    Fault(
        "reload",
        "SIGHUP to every command that the profile starts, one after the other",
        planting.reload,
        burst=BUSY,
    ),
    Fault(
        "chain-reload",
        "a touched file makes uWSGI replace its workers one at a time (lazy-apps, "
        "touch-chain-reload, which bring a master)",
        planting.chain_reload,
        burst=BUSY,
        options=(("lazy-apps", "true"), ("touch-chain-reload", f"{{folder}}/{TOUCHED}")),
    ),
    Fault(
        "recycle",
        f"max-worker-lifetime = {LIFETIME}: all workers reach it at once",
        planting.recycle,
        options=(*RECYCLING, ("max-worker-lifetime-delta", "0")),
    ),
    Fault(
        "recycle-delta",
        "the same with max-worker-lifetime-delta = 1",
        planting.recycle,
        options=(*RECYCLING, ("max-worker-lifetime-delta", "1")),
    ),
    Fault(
        "kill",
        f"SIGKILL to a worker, {KILLS} times, each in the middle of {BUSY} requests at once",
        planting.kill,
        burst=BUSY,
    ),
    Fault(
        "drain",
        "every command is asked to stop, the front first; who is refused after that is turned "
        "away and not lost",
        planting.drain,
        burst=BUSY,
        stops=True,
    ),
    Fault(
        "slow-clients",
        f"{SLOW} connections that send a byte of their headers every {SLOW_EVERY:g} s for "
        f"{SLOW_SECONDS:g} s",
        planting.slow_clients,
    ),
    Fault(
        "accept-queue",
        f"{QUEUE:,} clients that connect at once, for an answer that takes no time",
        planting.accept_queue,
        burst=QUEUE,
        quick=True,
    ),
)
"""In the order of the table."""
