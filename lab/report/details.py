"""The tables under a page's figures: every number that is drawn, as text."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.summary import Summary
from lab.model.document import Cell, Column, Meaning, Table
from lab.model.metric import METRICS, Metric
from lab.model.metric import shown as changes_of
from lab.model.numbers import quantity, share
from lab.model.plan import Role
from lab.model.wording import UNKNOWN
from lab.report.plots.cores import PARTS, spent
from lab.report.plots.percentiles import Curve
from lab.report.plots.trials import DrawnTrial, shown
from lab.report.tables import number

SHARES = {"50%": 0.5, "90%": 0.9, "99%": 0.99, "99.9%": 0.999, "99.99%": 0.9999}


def spent_table(summary: Summary) -> Table:
    """Return the cores in use by profile and part."""
    rows = spent(summary)
    names = [name for name in PARTS if any(name in row.parts for row in rows)]
    return Table(
        "Cores in use",
        (Column("profile", number=False), *(Column(PARTS[name]) for name in names)),
        tuple(
            (Cell(row.profile), *(number(row.parts.get(name)) for name in names)) for row in rows
        ),
    )


def curves_table(curves: Sequence[Curve]) -> Table:
    """Return the merged quantiles of every profile."""
    rows = []
    for curve in curves:
        values = curve.quantiles(list(SHARES.values()))
        cells = (number(None if value is None else value * 1e3) for value in values)
        name = curve.profile if curve.counts else f"{curve.profile} (no valid trial)"
        rows.append((Cell(name), *cells))
    columns = (Column(title, "ms") for title in SHARES)
    return Table("Latency", (Column("profile", number=False), *columns), tuple(rows))


def trials_table(summary: Summary) -> Table:
    """Return every trial in run order, with what the gates say."""
    names = changes_of(summary.run.plan.load)
    return Table(
        "Every trial",
        (
            Column("#"),
            Column("block"),
            Column("profile", number=False),
            *(Column(_title(METRICS[name])) for name in names),
            Column("others, cores"),
            Column("steal"),
            Column("remark", number=False),
        ),
        tuple(_trial(drawn_trial, names) for drawn_trial in shown(summary)),
    )


def _title(metric: Metric) -> str:
    return ", ".join(filter(None, (metric.column[0], metric.beside)))


def _trial(drawn_trial: DrawnTrial, names: Sequence[str]) -> tuple[Cell, ...]:
    trial, readings = drawn_trial.trial, drawn_trial.trial.readings
    steal = readings.get("machine.steal")
    return (
        Cell(str(drawn_trial.number)),
        Cell(str(trial.slot.block + 1)),
        Cell(trial.slot.arm.name),
        *(Cell(quantity(name, drawn_trial.metrics.get(name))) for name in names),
        number(readings.get("machine.foreign_cpu")),
        Cell(UNKNOWN if steal is None else share(steal)),
        _remark(drawn_trial),
    )


def _remark(drawn_trial: DrawnTrial) -> Cell:
    """Say which arm it is, whether it counts, and which gates fired."""
    trial, parts, meaning = drawn_trial.trial, [], Meaning.PLAIN
    if trial.slot.arm.role is not Role.PROFILE:
        parts.append("noise check" if trial.slot.arm.role is Role.AA else "counter-run")
    if drawn_trial.observation is None:
        parts.append("repeated")
        meaning = Meaning.MUTED
    elif drawn_trial.observation.findings:
        gates = ", ".join(finding.gate.name for finding in drawn_trial.observation.findings)
        parts.append(gates if drawn_trial.observation.valid else f"invalid: {gates}")
        meaning = Meaning.WARNING if drawn_trial.observation.valid else Meaning.BAD
    if trial.attempt:
        parts.append(f"attempt {trial.attempt + 1}")
    return Cell("; ".join(parts), meaning)
