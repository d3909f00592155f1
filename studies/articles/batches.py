"""Runs that decide claims: what each asks, and which claims one run decides together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lab.bench import workloads
from studies.articles.claim import Claim

RATE = "50%"
"""What "equal" means in a claim: a rate that the slowest server keeps, and under which all work."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One run for all claims that ask for the same workload and the same load."""

    claims: tuple[Claim, ...]

    @property
    def profiles(self) -> tuple[str, ...]:
        """Names of all profiles that its claims compare, each once, in the claims' order."""
        sides = (name for claim in self.claims for name in (claim.reference, claim.changed))
        return tuple(dict.fromkeys(sides))

    @property
    def workload(self) -> str:
        """Name of what the servers are asked."""
        return self.claims[0].workload

    @property
    def connections(self) -> int | None:
        """Connections of the load; None for as many as the workload says."""
        return self.claims[0].connections

    @property
    def rate(self) -> str | None:
        """Rate of the open loop, as `--rate` takes it; None for a closed loop."""
        return None if self.claims[0].rate is None else RATE

    @property
    def words(self) -> tuple[str, ...]:
        """What a person types after `lab run`."""
        words = [*self.profiles]
        if self.workload != workloads.DEFAULT:
            words += ["--workload", self.workload]
        if self.connections is not None:
            words += ["--connections", str(self.connections)]
        if self.rate is not None:
            words += ["--rate", self.rate]
        return tuple(words)

    @property
    def command(self) -> str:
        """The whole command."""
        return " ".join(("lab", "run", *self.words))


def batches(claims: Iterable[Claim]) -> tuple[Batch, ...]:
    """Return the runs that *claims* ask for, in their order: one for each workload and load."""
    groups: dict[tuple[object, ...], list[Claim]] = {}
    for claim in claims:
        groups.setdefault((claim.workload, claim.connections, claim.rate), []).append(claim)
    return tuple(Batch(tuple(group)) for group in groups.values())
