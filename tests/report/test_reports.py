"""
Whole reports against golden files: what a person reads, word for word.

After a change that is meant: GOLDEN='sustained*' pytest tests/report writes the files with such a
name, which may be one or `*`; then read the difference.
"""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lab.analysis.conclude import conclude
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.model.wording import shown
from lab.report import html_page, markdown, summary_json, terminal
from lab.report.tables import document
from tests.kit import builders as make
from tests.kit.golden import check_golden

GOLDEN = Path(__file__).parent / "golden"


def check(name, text):
    """Compare *text* with the golden file *name*."""
    check_golden(GOLDEN / name, text)


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "never kept"])
def test_requests_sent_again_stand_beside_the_errors(kept):
    """Where connections are kept; where none is, they lost no answer and only cost connections."""
    run = make.ladder_run({"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)}, blocks=2)
    trials = []
    for trial in run.trials:
        (window,) = trial.windows
        again = replace(window, retried=3, connections=3 if kept else window.ok)
        trials.append(replace(trial, windows=(again,)))
    summary = summarise(replace(run, trials=tuple(trials)))
    for text in (terminal.render(conclude(summary), 160), markdown.render(conclude_run([summary]))):
        assert ("sent again" in text) == kept
    if kept:
        assert "| errors | sent again | valid trials |" in text
        assert "| 0 | 3 | 2/2 |" in text
    values = json.loads(summary_json.render(conclude_run([summary])))["profiles"][0]["values"]
    assert (values["errors"]["median"], values["retried"]["median"]) == (0, 3)


def test_a_wrong_reply_is_quoted_and_does_nothing():
    """Whatever a server said, it is words in every form of the report: no markup, no escape."""
    reply = shown(b"<script>alert(1)</script> | [red]\x1b[31m\r\n\xff[/red] ")
    run = make.ladder_run({"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)}, blocks=2)
    wrong = {"errors": {"status": 7}, "sample": f"status: 500 {reply}"}
    trials = [replace(trial, windows=(replace(trial.windows[0], **wrong),)) for trial in run.trials]
    summary = summarise(replace(run, trials=tuple(trials)))
    flat = " ".join(terminal.render(conclude(summary), 400).split())
    assert f"(7 status: 500 {' '.join(reply.split())})" in flat
    assert r"(7 status: 500 '\<script>alert(1)\</script> \| [red]\\x1b[31m" in markdown.render(
        conclude_run([summary])
    )
    page = html_page.render(conclude(summary))
    assert "<script>alert" not in page
    assert "7 status: 500 &#39;&lt;script&gt;alert(1)" in page
    findings = json.loads(summary_json.render(conclude_run([summary])))["profiles"][0]["findings"]
    assert reply in json.dumps(findings, ensure_ascii=False).replace("\\\\", "\\")
    for text in (
        flat,
        page,
        markdown.render(conclude_run([summary])),
        summary_json.render(conclude_run([summary])),
    ):
        assert "\x1b" not in text


@pytest.mark.parametrize("width", [100, 160])
def test_the_terminals_report(sustained, width):
    """At 100 and at 160 columns no line is longer, and the words are these."""
    text = terminal.render(conclude(summarise(sustained)), width)
    assert max(map(len, text.splitlines())) <= width
    check(f"sustained-{width}.txt", text)


def test_the_walkthroughs_report(walkthrough):
    """A counted load shows the time for all requests where its throughput is withheld."""
    check("walkthrough.txt", terminal.render(conclude(summarise(walkthrough))))


def test_a_noisy_runs_report_opens_with_the_banner():
    """A reader meets the doubt before any number."""
    run = make.ladder_run(
        {"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)}, noise=0.2, blocks=5
    )
    text = terminal.render(conclude(summarise(run)))
    assert text.index("Noisy machine") < text.index("Measured")
    check("noisy.txt", text)


def test_the_markdown_report(sustained):
    """The same words as the terminal's, in GitHub's tables."""
    check("sustained.md", markdown.render(conclude_run([summarise(sustained)])))


def test_the_json_report(walkthrough):
    """Raw numbers for scripts; what is not known is absent."""
    text = summary_json.render(conclude_run([summarise(walkthrough)]))
    check("walkthrough.json", text)
    baseline = json.loads(text)["profiles"][0]
    assert "throughput" not in baseline["values"]
    assert baseline["wall"] == 3.22


def test_the_same_run_gives_the_same_bytes(sustained):
    """Neither the clock nor the order of a set is in a report."""
    first, again = (conclude_run([summarise(run)]) for run in (sustained, replace(sustained)))
    assert terminal.render(*first.points) == terminal.render(*again.points)
    for render in (markdown.render, summary_json.render):
        assert render(first) == render(again)


def test_a_pipe_gets_plain_text_of_100_columns(monkeypatch, sustained):
    """No colours and no padding where the reader is a file."""
    monkeypatch.delenv("COLUMNS", raising=False)
    stream = io.StringIO()
    terminal.show_document(document(conclude(summarise(sustained))), Console(file=stream, width=80))
    assert stream.getvalue() == terminal.render(conclude(summarise(sustained)), 100)


def test_a_terminal_gets_colour_and_the_same_words(sustained):
    """Colour repeats a word and never replaces one; a log's own colours do not leak."""
    stream = io.StringIO()
    console = Console(file=stream, width=100, force_terminal=True, color_system="standard")
    terminal.show_document(document(conclude(summarise(sustained))), console)
    assert "\x1b[32m" in stream.getvalue()
    assert "\x1b[31mno app" not in stream.getvalue()


def test_every_table_of_the_markdown_is_whole(sustained):
    """Each row of a table has as many cells as its header."""
    rows = [
        line
        for line in markdown.render(conclude_run([summarise(sustained)])).splitlines()
        if "|" in line
    ]
    assert {line.count("|") for line in rows if line.startswith("|")} == {10, 6, 5}


def test_causes_are_grouped_and_a_withdrawn_one_limits_nothing(diagnosed):
    """One line for profiles with the same cause; what its counter-run left standing comes first."""
    report = terminal.render(conclude(diagnosed))
    assert max(map(len, report.splitlines())) <= 100
    check("diagnosed.txt", report)


def test_the_json_holds_causes_and_idle_options(diagnosed):
    """With the counter-run's ratio, and under the profile's name."""
    content = json.loads(summary_json.render(conclude_run([diagnosed])))
    (router, logging) = content["diagnoses"]["baseline"]
    assert (router["cause"], router["standing"], router["trials"], router["of"]) == (
        "router", "cause", 9, 10,
    )  # fmt: skip
    assert router["counter"]["toggle"] == "http-socket instead of http"
    assert router["effect"]["verdict"] == "better"
    assert logging["standing"] == "withdrawn"
    assert list(content["inert"]) == ["max-worker-lifetime-delta"]


def test_an_open_loops_report(open_loop):
    """It says the rate, what a user waits, and how late the generator was; no throughput ratio."""
    report = terminal.render(conclude(summarise(open_loop)))
    assert max(map(len, report.splitlines())) <= 100
    check("open-loop.txt", report)
