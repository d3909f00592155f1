"""Comparisons of two runs, and thresholds, as a person and a script read them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lab.analysis.across import across
from lab.analysis.comparable import DifferingKey
from lab.analysis.judging import judge_across
from lab.analysis.summary import summarise
from lab.analysis.thresholds import parse
from lab.report import across as across_report
from lab.report import markdown, terminal, thresholds
from tests.kit import builders as make


@pytest.fixture
def found():
    """Return a comparison of two runs in which b's CPU doubles, and its judged threshold."""
    before, after = (
        summarise(
            replace(make.ladder_run({"a": (2000, 2e-4), "b": (2000, cost)}, seed=seed), name=name)
        )
        for seed, (name, cost) in enumerate([("main", 2e-4), ("branch", 4e-4)])
    )
    result = across(before, after)
    return result, [judge_across(parse("cpu(b/a) > 1.05"), result)]


DIFFERING = (DifferingKey("git.commit", "aaaa", "bbbb"),)


def test_a_comparison_of_two_runs_puts_the_thresholds_first(found):
    """Then each metric: both ratios, the change with its interval, the floor, n."""
    result, judged = found
    text = terminal.render_document(across_report.document(result, DIFFERING, judged))
    assert text.startswith("main -> branch\n")
    assert text.index("Thresholds") < text.index("requests/s\n")
    row = text.split("CPU per request\n")[1].splitlines()[2].split()
    assert (row[:3], row[-2:]) == (["b", "0.997x", "2.01x"], ["10,", "10"])
    assert "worse" in row
    assert "Differs: git.commit: aaaa / bbbb." in text


def test_a_comparison_as_markdown_is_whole(found):
    """As a CI job's summary takes it: every row has its header's cells."""
    result, judged = found
    page = markdown.render_document(across_report.document(result, DIFFERING, judged))
    rows = [line.count("|") for line in page.splitlines() if line.startswith("| ")]
    assert set(rows) == {4, 7}
    assert "| cpu(b/a) > 1.05 | failed |" in page


def test_a_comparison_as_json(found):
    """With the command's status, what differs, and every metric."""
    result, judged = found
    stored = json.loads(across_report.render_json(result, DIFFERING, judged, 99))
    assert (stored["before"], stored["after"], stored["exit_code"]) == ("main", "branch", 99)
    assert stored["differences"] == {"git.commit": {"before": "aaaa", "after": "bbbb"}}
    (cpu,) = (change for change in stored["changes"] if change["metric"] == "cpu")
    assert cpu["verdict"] == "worse"
    assert cpu["change"]["low"] > 1.9


def test_a_threshold_is_a_line(found):
    """For the end of a report."""
    line = thresholds.judgement_line(*found[1])
    assert line.startswith("failed: --fail-if 'cpu(b/a) > 1.05': 2.0")
    assert line.endswith("over 10 blocks: the whole interval is beyond 1.05.")
