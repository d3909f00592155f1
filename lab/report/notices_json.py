"""
The fields of `summary.json` that are written from notices.

Their names are a part of its format. A notice that has no field here stands among its `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from lab.analysis.conclusion import Conclusion
from lab.analysis.footnotes import (
    Fragile,
    Protocols,
    SentAgain,
    SentLate,
    SeveralSettings,
    TellingValues,
)
from lab.analysis.limits import NoEffect
from lab.analysis.load_limit import Bounded, BoundedRatios, LoadAtLimit
from lab.analysis.undecided import LeftEarly, OpenMetric, Outlook
from lab.model.notice import Means, Notice
from lab.model.workload import Wire

N = TypeVar("N", bound=Notice)

More = Literal["the lab's engine", "--generators", "--processes", "cores"]

MORE: Mapping[Means, More] = {
    Means.ENGINE: "the lab's engine",
    Means.GENERATORS: "--generators",
    Means.PROCESSES: "--processes",
    Means.CORES: "cores",
}


@dataclass(frozen=True, slots=True)
class GeneratorLimit:
    """Throughputs that are the least that they can be."""

    busy: Mapping[str, float]
    """Profile -> share of the time for which the busiest generator process was busy."""

    more: More | None
    """What would help; None where nobody was kept."""

    number: int | None
    """Of generators or processes, for the load to have one more; None where they do not help."""

    bounded: Sequence[Bounded]


def no_effect(conclusion: Conclusion) -> Sequence[NoEffect]:
    """Options that do nothing where they stand."""
    return _all(conclusion, NoEffect)


def undecided(conclusion: Conclusion) -> Sequence[OpenMetric]:
    """By metric, of those that leave anything open."""
    return _all(conclusion, OpenMetric)


def outlook(conclusion: Conclusion) -> Outlook | None:
    """How far a run of minutes came; None of another one, and where there is nothing to tell."""
    return _one(conclusion, Outlook)


def left_early(conclusion: Conclusion) -> Sequence[int]:
    """Blocks after which rows of the tables ended at a look."""
    return [blocks for notice in _all(conclusion, LeftEarly) for blocks in notice.blocks]


def fragile(conclusion: Conclusion) -> bool:
    """Whether one or two blocks decide any change of the tables."""
    return _one(conclusion, Fragile) is not None


def generator_limit(conclusion: Conclusion) -> GeneratorLimit | None:
    """Figures that the generator's limit bounds; None where it bounds none."""
    limit, ratios = _one(conclusion, LoadAtLimit), _one(conclusion, BoundedRatios)
    bounded = () if ratios is None else ratios.bounded
    if limit is None:
        return GeneratorLimit({}, None, None, bounded) if bounded else None
    return GeneratorLimit(limit.busy, MORE[limit.more.means], limit.more.number, bounded)


def sent_again(conclusion: Conclusion) -> Mapping[str, float]:
    """Profile -> share of its requests; of those where it is worth a note."""
    notice = _one(conclusion, SentAgain)
    return {} if notice is None else notice.shares


def sent_late(conclusion: Conclusion) -> SentLate | None:
    """Of an open loop; None of another load."""
    return _one(conclusion, SentLate)


def several_settings(conclusion: Conclusion) -> Sequence[SeveralSettings]:
    """Steps that are more than one setting."""
    return _all(conclusion, SeveralSettings)


def protocols(conclusion: Conclusion) -> Mapping[Wire, Sequence[str]]:
    """Who is asked in which, where not all are asked in one."""
    notice = _one(conclusion, Protocols)
    return {} if notice is None else notice.profiles


def telling(conclusion: Conclusion) -> Sequence[str]:
    """Names of values in the run's folder that may be secrets."""
    return [name for notice in _all(conclusion, TellingValues) for name in notice.names]


def _all(conclusion: Conclusion, kind: type[N]) -> tuple[N, ...]:
    return tuple(notice for notice in conclusion.notices if isinstance(notice, kind))


def _one(conclusion: Conclusion, kind: type[N]) -> N | None:
    return next(iter(_all(conclusion, kind)), None)
