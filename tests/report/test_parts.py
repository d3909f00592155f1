"""The table of several requests: what came of each, by profile."""

import json
from dataclasses import replace

from lab.analysis.conclude import conclude
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.model.document import Topic
from lab.model.measurement import Answers
from lab.model.request import Expectation, Request
from lab.report import html_page, markdown, summary_json
from lab.report.columns import MOST_PARTS
from lab.report.tables import document
from tests.kit import builders as make

CART = Request("/cart", "POST", weight=1, expect=Expectation(302))


def mixed(*requests, failed=0):
    """Return a run of two profiles asked for *requests*; b fails the last one *failed* times."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (4000, 2e-4)}, blocks=3)
    workload = replace(run.plan.workload, requests=requests)
    trials = []
    for trial in run.trials:
        (window,) = trial.windows
        rest = window.ok - 10 * (len(requests) - 1)
        errors = {"status": failed} if failed and trial.slot.arm.name == "b" else {}
        answers = [Answers({10_000: rest}), *(Answers({5_000: 10}) for _ in requests[1:])]
        answers[-1] = replace(answers[-1], errors=errors)
        windows = (replace(window, requests=tuple(answers)),)
        arm = replace(trial.slot.arm, workload=workload)
        trials.append(replace(trial, windows=windows, slot=replace(trial.slot, arm=arm)))
    return replace(run, plan=make.altered(run.plan, workload=workload), trials=tuple(trials))


def rows(run):
    """Return the texts of the table."""
    tables = document(conclude(summarise(run))).tables
    (table,) = [candidate for candidate in tables if candidate.topic is Topic.PARTS]
    return table.title, [[cell.text for cell in row] for row in table.rows]


def test_each_request_has_a_row():
    """Its share of the mix, its p50 and its errors by profile; those that failed come first."""
    title, table_rows = rows(mixed(Request("/items/3", weight=9), CART, failed=7))
    assert title == "p50 of each request, and its errors"
    assert table_rows == [
        ["POST /cart", "10%", "5.00", "5.00, 21 errors"],
        ["/items/3", "90%", "10.0", "10.0"],
    ]


def test_every_form_of_the_report_has_it():
    """And the summary has the figures."""
    summary = summarise(mixed(Request("/items/3", weight=9), CART, failed=7))
    assert "| POST /cart | 10% | 5.00 | 5.00, 21 errors |" in markdown.render(
        conclude_run([summary])
    )
    assert "p50 of each request, and its errors" in html_page.render(conclude(summary))
    parts = json.loads(summary_json.render(conclude_run([summary])))["profiles"][1]["parts"]
    assert parts[1] == {"request": "POST /cart", "p50": 0.005, "replies": 30, "errors": 21}


def test_one_request_has_no_table():
    """The table of measurements says it all."""
    summary = summarise(make.ladder_run({"a": (2000, 4e-4), "b": (4000, 2e-4)}, blocks=3))
    assert all(table.topic is not Topic.PARTS for table in document(conclude(summary)).tables)
    assert "parts" not in json.loads(summary_json.render(conclude_run([summary])))["profiles"][0]


def test_a_thousand_requests_have_no_thousand_rows():
    """The most usual do; the title says how many there are."""
    requests = [Request(f"/{number}", weight=1 + (number == 99)) for number in range(100)]
    title, table_rows = rows(mixed(*requests))
    assert title.endswith(f"({MOST_PARTS} of 100)")
    assert [row[0] for row in table_rows[:2]] == ["/99", "/0"]
