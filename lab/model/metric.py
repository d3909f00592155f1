"""The metrics of a trial: what each is, how it is printed, and where it is shown."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from lab.model.plan import Better, Load


class Form(enum.Flag):
    """What kinds of load there are."""

    TIMED = enum.auto()
    COUNTED = enum.auto()
    """Nearly all of what it shows is in its last replies: it has the time for all requests and the
    slowest reply in place of percentiles."""
    OPEN = enum.auto()
    """Every profile that keeps up has the same throughput: the plan's."""
    CLOSED = TIMED | COUNTED
    LASTING = TIMED | OPEN
    ANY = CLOSED | OPEN

    @classmethod
    def of(cls, load: Load) -> Form:
        """Return which kind *load* is."""
        if load.rate is not None:
            return cls.OPEN
        return cls.TIMED if load.requests is None else cls.COUNTED


class Only(enum.Enum):
    """Where a metric is shown, of the places that may have it."""

    ALWAYS = enum.auto()
    KNOWN = enum.auto()
    """Where any profile has it."""
    SEEN = enum.auto()
    """Where it is not 0 for all profiles."""
    SCALED = enum.auto()
    """In a sweep over workers or threads."""


class Of(enum.Flag):
    """What a metric is made of: who withholds one such metric withholds all."""

    RATE = enum.auto()
    PERCENTILE = enum.auto()
    COST = enum.auto()
    """What a server spends on a reply."""
    GENERATOR = enum.auto()
    """What the generator spends on it, too."""


NOWHERE, NOTHING = Form(0), Of(0)


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured quantity; the registry of these drives every table."""

    name: str
    title: str
    unit: str
    """Unit as printed, after multiplying by *scale*."""
    scale: float
    better: Better
    exact: bool = False
    """True for quantities without noise, such as a count of drops."""
    reading: str | None = None
    """The reading that it is, as it is; else `lab.analysis.metrics` derives it."""
    of: Of = NOTHING
    follows: str | None = None
    """A metric that it is never without: it is withheld where that one is."""
    alias: str | None = None
    """Another name for it in `--fail-if`."""
    unkept: bool = True
    """Whether it is a fault of a server that keeps no connection, too."""

    heading: tuple[str, str] | None = None
    """Title and unit of its column in the table of measurements, where what is known from the unit
    is left out of the title: 100 columns are few."""
    table: Form = NOWHERE
    """Loads in whose table of measurements it stands."""
    changes: Form = NOWHERE
    """Loads in whose tables of changes, and among whose trials, it stands."""
    only: Only = Only.ALWAYS
    """Where these two have it. A metric that is always there decides when a comparison ends."""
    drawn: Form = NOWHERE
    """Loads whose figure of the ladder has a panel for it."""
    swept: Only | None = None
    """Where a sweep is told by it; None for nowhere."""
    live: str | None = None
    """Title of its column in Locust's tab; None for none."""

    @property
    def column(self) -> tuple[str, str]:
        """Title and unit of a column that has little room."""
        return self.heading or (self.title, self.unit)

    @property
    def beside(self) -> str:
        """The unit as it stands beside its title, where that does not say it."""
        return "" if self.unit == "1/s" else self.unit


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "throughput",
            "requests/s",
            "1/s",
            1.0,
            Better.HIGHER,
            of=Of.RATE,
            alias="rps",
            heading=("requests/s", ""),
            table=Form.ANY,
            changes=Form.CLOSED,
            drawn=Form.CLOSED,
            swept=Only.ALWAYS,
            live="Requests/s (median)",
        ),
        Metric(
            "cpu",
            "CPU per request",
            "µs",
            1e6,
            Better.LOWER,
            of=Of.COST,
            heading=("CPU", "µs/request"),
            table=Form.ANY,
            changes=Form.ANY,
            drawn=Form.ANY,
            swept=Only.ALWAYS,
            live="CPU per request (µs)",
        ),
        Metric(
            "system",
            "CPU per request, with backend",
            "µs",
            1e6,
            Better.LOWER,
            follows="cpu",
            heading=("with backend", "µs/request"),
            table=Form.ANY,
            changes=Form.ANY,
            only=Only.KNOWN,
            swept=Only.KNOWN,
        ),
        Metric("served", "requests/s, at least", "1/s", 1.0, Better.HIGHER),
        Metric("capacity", "requests/s by CPU", "1/s", 1.0, Better.HIGHER, follows="cpu"),
        Metric(
            "cpu_vs_generator",
            "server CPU / generator CPU",
            "",
            1.0,
            Better.LOWER,
            of=Of.COST | Of.GENERATOR,
        ),
        Metric(
            "p50",
            "p50",
            "ms",
            1e3,
            Better.LOWER,
            of=Of.PERCENTILE,
            table=Form.LASTING,
            drawn=Form.OPEN,
        ),
        Metric("p90", "p90", "ms", 1e3, Better.LOWER, of=Of.PERCENTILE, table=Form.OPEN),
        Metric(
            "p99",
            "p99",
            "ms",
            1e3,
            Better.LOWER,
            of=Of.PERCENTILE,
            table=Form.LASTING,
            changes=Form.OPEN,
            drawn=Form.LASTING,
            swept=Only.ALWAYS,
            live="p99 (ms)",
        ),
        Metric(
            "service_p99",
            "service time p99",
            "ms",
            1e3,
            Better.LOWER,
            of=Of.PERCENTILE,
            heading=("service p99", "ms"),
            table=Form.OPEN,
        ),
        Metric(
            "memory",
            "memory (PSS)",
            "MB",
            1e-6,
            Better.LOWER,
            reading="server.pss",
            heading=("memory", "MB"),
            table=Form.LASTING,
            drawn=Form.ANY,
            swept=Only.SCALED,  # what more workers cost whether they are of use or not
        ),
        Metric("switches", "voluntary switches per request", "", 1.0, Better.LOWER, of=Of.COST),
        Metric(
            "drops",
            "accept-queue drops",
            "",
            1.0,
            Better.LOWER,
            exact=True,
            reading="listener.drops",
            heading=("drops", ""),
            table=Form.ANY,
        ),
        Metric(
            "errors",
            "errors",
            "",
            1.0,
            Better.LOWER,
            exact=True,
            table=Form.ANY,
            swept=Only.SEEN,
        ),
        Metric(
            "retried",
            "requests sent again",
            "",
            1.0,
            Better.LOWER,
            exact=True,
            unkept=False,
            heading=("sent again", ""),
            table=Form.ANY,
            only=Only.SEEN,
        ),
        Metric(
            "respawns",
            "workers replaced",
            "",
            1.0,
            Better.LOWER,
            exact=True,
            reading="server.respawned",
        ),
    )
}
"""Metrics of a trial by name, in the order of every table."""


def with_ratio() -> tuple[str, ...]:
    """Return the names of those that have one: a count is mostly 0, and 0 has no ratio."""
    return tuple(name for name, metric in METRICS.items() if not metric.exact)


def made_of(what: Of) -> frozenset[str]:
    """Return the names of those that are made of any of *what*."""
    return frozenset(name for name, metric in METRICS.items() if metric.of & what)


def followers(names: Iterable[str]) -> frozenset[str]:
    """Return the names of those that are never without one of *names*."""
    known = {*names}
    return frozenset(name for name, metric in METRICS.items() if metric.follows in known)


def shown(load: Load) -> tuple[str, ...]:
    """Return the names of those in the tables of changes, which decide when a comparison ends."""
    return _in_changes(load, Only.ALWAYS)


def also_shown(load: Load) -> tuple[str, ...]:
    """Return the names of those that stand there, too, where they are known."""
    return _in_changes(load, Only.KNOWN)


def _in_changes(load: Load, only: Only) -> tuple[str, ...]:
    form = Form.of(load)
    return tuple(
        name for name, metric in METRICS.items() if form in metric.changes and metric.only is only
    )
