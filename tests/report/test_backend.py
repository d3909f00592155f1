"""What a report says where a database is measured along."""

from dataclasses import replace

from lab.analysis.conclude import conclude
from lab.analysis.summary import summarise
from lab.report.tables import document
from tests.kit import builders as make


def titles(run):
    """Return the columns of the tables of figures and of changes."""
    measured, *_, changes = document(conclude(summarise(run))).tables
    return [[column.title for column in table.columns] for table in (measured, changes)]


def test_the_cpu_of_both_has_a_column_of_its_own():
    """Beside the server's, and in the changes: what one saves, the other may pay."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (4000, 2e-4)}, blocks=5)
    with_one = tuple(
        replace(trial, readings=trial.readings | {"backend.cpu": 0.5}) for trial in run.trials
    )
    measured, changes = titles(replace(run, trials=with_one))
    assert measured[1:4] == ["requests/s", "CPU", "with backend"]
    assert changes[1:4] == ["requests/s", "CPU per request", "CPU per request, with backend"]
    assert "with backend" not in titles(run)[0]
