"""What a cause is before it is found: when it is asked for, and how it is put to the test."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lab.analysis.causes.signs import Signs
from lab.config.moves import Move
from lab.model.diagnosis import Cause
from lab.model.measurement import Window
from lab.model.plan import Arm, Better


class When(enum.Enum):
    """In which trials a cause is looked for."""

    EVERY_LOAD = enum.auto()
    FULL_LOAD = enum.auto()
    """Not in an open loop that the server keeps up with: there nothing limits it but the plan."""
    LAST = enum.auto()
    """At full load, where nothing else is found."""
    BESIDE = enum.auto()
    """At full load, beside what is found: never what limits first, and worth a counter-run."""


Aim = tuple[str, Better]
"""A metric, and whether it should be higher or lower than the profile's own."""


def usual_aim(arm: Arm, windows: Sequence[Window]) -> Aim:  # noqa: ARG001 - one shape for all
    """Return what a counter-run is judged by: throughput, or p90 where throughput is planned."""
    if arm.load.rate is not None:
        return "p90", Better.LOWER
    return "throughput", Better.HIGHER


Evidence = Sequence[str] | None
"""What is seen of a cause, and what speaks against the others; None where it is not seen."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A cause that a trial may show; it decorates the function that looks for it."""

    name: str
    when: When = When.EVERY_LOAD

    move: Callable[[Arm], Move | None] | None = None
    """The one setting that a counter-run changes; None where the cause is not in the server's
    settings."""

    outside: Move | None = None
    """What a counter-run of a command changes outside its options."""

    aim: Callable[[Arm, Sequence[Window]], Aim] = usual_aim
    """What that should change; asked with the arm's windows so far."""

    look: Callable[[Signs], Evidence] = lambda _: None

    def __call__(self, look: Callable[[Signs], Evidence]) -> Callable[[Signs], Evidence]:
        """Add the hypothesis to `HYPOTHESES`, with the function that looks for it."""
        HYPOTHESES.append(replace(self, look=look))
        return look

    def shows(self, signs: Signs) -> Cause | None:
        """Return the cause with its evidence; None where it is not seen."""
        evidence = self.look(signs)
        if evidence is None:
            return None
        seen, *others = evidence
        return Cause(self.name, seen, "; ".join(filter(None, others)))


HYPOTHESES: list[Hypothesis] = []
"""In the order in which they are asked for: that of the functions in `hypotheses.py`."""
