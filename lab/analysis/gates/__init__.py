"""
Gates: when a trial does not count, why, and what to do.

Each has caught a published benchmark: results averaged over runs in which every connection failed,
a "fastest" server that answered one connection of 64, a client at its limit. A gate looks at
causes and at broken promises, never at whether a figure is pleasing: trials dropped for their
outcome take the coverage of a 95 % interval down to 89 %.

To add a gate, write it in the file of its subject - replies, the network, hosts of the load, the
effort of server and generator - or in a file of its own; both are found by themselves.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from lab.analysis.gates.common import BUSY, LATE, TIME_BASED
from lab.analysis.gates.replies import NOT_MEASURED
from lab.model.finding import Beside, Finding, Gate
from lab.model.measurement import Trial

__all__ = ["BUSY", "GATES", "LATE", "TIME_BASED", "judge"]

_SUBJECTS = [
    importlib.import_module(f"{__name__}.{module.name}")
    for module in pkgutil.iter_modules(__path__)
]

GATES: tuple[Gate, ...] = tuple(
    sorted(
        {var for file in _SUBJECTS for var in vars(file).values() if isinstance(var, Gate)},
        key=lambda gate: gate.place,
    )
)
"""In the order in which each is asked, once."""


def judge(
    trial: Trial,
    swept: Mapping[str, Mapping[str, float]] | None = None,
    prices: Mapping[str, float] | None = None,
) -> tuple[Finding, ...]:
    """
    Return what is wrong with *trial*, most fundamental first; nothing for a sound one.

    A gate whose readings are absent does not fire. A finding that withholds the empty set is a
    remark: the trial counts, but it should be repeated if it may be.

    Args:
        trial: What was measured.
        swept: See `Beside.swept`; None where the trial is judged by itself.
        prices: See `Beside.prices`; the same.
    """
    fired: dict[Gate, Finding] = {}
    for gate in GATES if trial.windows else NOT_MEASURED:
        finding = gate.check(trial, Beside(fired, swept or {}, prices or {}))
        if finding is not None:
            fired[gate] = finding
    return tuple(fired.values())
