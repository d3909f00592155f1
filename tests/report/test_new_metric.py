"""A metric is its entry: what is added to the registry is measured, compared, printed and drawn."""

import json
from dataclasses import replace

import pytest

from lab.analysis.conclude import conclude
from lab.analysis.summary import summarise
from lab.model.metric import METRICS, Form, Metric, Of, made_of
from lab.model.plan import Better
from lab.report import summary_json
from lab.report.figures import of_changes
from lab.report.svg import inline
from lab.report.tables import document
from tests.kit import builders as make

FAULTS = Metric(
    "faults",
    "page faults per second",
    "1/s",
    1.0,
    Better.LOWER,
    reading="server.faults",
    of=Of.COST,
    heading=("faults", "1/s"),
    table=Form.TIMED,
    drawn=Form.ANY,
)


@pytest.fixture
def found(monkeypatch):
    """Return what is found of two profiles, of which the second has half the faults."""
    monkeypatch.setitem(METRICS, FAULTS.name, FAULTS)
    run = make.ladder_run({"slow": (2000.0, 0.0004), "fast": (3000.0, 0.0003)})
    trials = (
        replace(trial, readings={**trial.readings, "server.faults": faults})
        for trial in run.trials
        for faults in [100.0 if trial.slot.arm.profile.name == "fast" else 200.0]
    )
    return conclude(summarise(replace(run, trials=tuple(trials))))


def test_it_has_a_column_in_the_table_of_measurements(found):
    """With the heading of its entry, in the loads that it names."""
    table = next(candidate for candidate in document(found).tables if candidate.title == "Measured")
    at = [column.title for column in table.columns].index("faults")
    assert table.columns[at].unit == "1/s"
    assert [row[at].text for row in table.rows] == ["200", "100"]


def test_it_is_in_the_json(found):
    """Its entry, its values, and how the profiles compare."""
    summary = json.loads(summary_json.document(found))
    assert summary["metrics"]["faults"]["title"] == "page faults per second"
    assert [profile["values"]["faults"]["median"] for profile in summary["profiles"]] == [
        200.0,
        100.0,
    ]
    assert summary["steps"][0]["step"]["faults"]["verdict"] == "better"


def test_it_has_a_figure(found):
    """One of its own, with its title."""
    assert "page faults per second" in inline("ladder", of_changes(found)["faults"])


def test_what_it_is_made_of_says_who_withholds_it(monkeypatch):
    """So no gate needs to know of it."""
    monkeypatch.setitem(METRICS, FAULTS.name, FAULTS)
    assert {"cpu", "switches", "faults"} <= made_of(Of.COST)
