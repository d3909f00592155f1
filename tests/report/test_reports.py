"""
Whole reports against golden files: what a person reads, word for word.

After a change that is meant: GOLDEN=write pytest tests/report, and read the difference.
"""

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lab.analysis.summary import summarise
from lab.model import Load
from lab.report import json as json_report
from lab.report import markdown, terminal

GOLDEN = Path(__file__).parent / "golden"

MACHINE = {
    "cpu": {"model": "AMD EPYC", "cores": 2},
    "kernel": {"release": "6.8.0"},
    "python": {"version": "3.11.9"},
    "uwsgi": {"version": "2.0.31"},
}


def check(name, text):
    """Compare *text* with the golden file *name*."""
    path = GOLDEN / name
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.fixture
def sustained(make):
    """Return a run with everything in it that a report can say."""
    run = make.ladder_run(
        {
            "baseline": (2000, 480e-6),
            "processes-threads": (2010, 485e-6),
            "max-worker-lifetime-delta": (2210, 430e-6),
            "http-socket": (8000, 118e-6),
            "http11-socket": (12_000, 80e-6),
            "broken": (2000, 480e-6),
        },
        noise=0.012,
        environments={"here": MACHINE},
    )
    trials = []
    for trial in run.trials:
        window, block = trial.windows[0], trial.slot.block
        if trial.slot.profile == "http11-socket":
            starved = replace(window, replies=(window.ok,) + (0,) * 63)
            trials.append(replace(trial, windows=(starved,)))
        elif trial.slot.profile == "http-socket":
            trials.append(replace(trial, windows=(replace(window, retried=window.ok),)))
        elif trial.slot.profile == "processes-threads" and block < 4:
            readings = trial.readings | {"machine.foreign_cpu": 0.43}
            trials.append(replace(trial, readings=readings))
        elif trial.slot.profile == "max-worker-lifetime-delta" and block == 2:
            dropped = trial.readings | {"listener.drops": 935.0, "tcp.TCPSynRetrans": 298.0}
            trials.append(replace(trial, readings=dropped))
        elif trial.slot.profile == "broken":
            failure = "profile broken: it ended with status 1\nIts last log lines:\n\x1b[31mno app"
            trials.append(replace(trial, windows=(), readings={}, failure=failure))
        else:
            trials.append(trial)
    skipped = {"gunicorn-sync": "gunicorn is not installed (pip install gunicorn)"}
    return replace(run, trials=tuple(trials), skipped=skipped)


@pytest.fixture
def walkthrough(make):
    """Return the article's burst: it overflows the first profile's accept queue."""
    load = Load(connections=500, keepalive=False, requests=5000, timeout=90.0)
    run = make.ladder_run(
        {"baseline": (1600, 480e-6), "listen": (2100, 470e-6)}, blocks=5, load=load
    )
    trials = []
    for trial in run.trials:
        listens = trial.slot.profile == "listen"
        window = make.window(
            wall=2.4 if listens else 3.2 + trial.slot.block / 100,
            ok=5000,
            replies=(10,) * 500,
            connections=5000,
            latency={210_000: 5000} if listens else {30_000: 4600, 3_040_000: 400},
            latency_sum=1050.0,
        )
        cpu = {"server.cpu_user": 2.2 + trial.slot.block / 50, "server.cpu_system": 0.2}
        drops = {} if listens else {"listener.drops": 412.0, "tcp.TCPSynRetrans": 398.0}
        trials.append(replace(trial, windows=(window,), readings=trial.readings | cpu | drops))
    return replace(run, trials=tuple(trials))


@pytest.mark.parametrize("width", [100, 160])
def test_the_terminals_report(sustained, width):
    """At 100 and at 160 columns no line is longer, and the words are these."""
    text = terminal.render(summarise(sustained), width)
    assert max(map(len, text.splitlines())) <= width
    check(f"sustained-{width}.txt", text)


def test_the_walkthroughs_report(walkthrough):
    """A counted load shows the time for all requests where its throughput is withheld."""
    check("walkthrough.txt", terminal.render(summarise(walkthrough)))


def test_a_noisy_runs_report_opens_with_the_banner(make):
    """A reader meets the doubt before any number."""
    run = make.ladder_run(
        {"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)}, noise=0.2, blocks=5
    )
    text = terminal.render(summarise(run))
    assert text.index("Noisy machine") < text.index("Measured")
    check("noisy.txt", text)


def test_the_markdown_report(sustained):
    """The same words as the terminal's, in GitHub's tables."""
    check("sustained.md", markdown.render(summarise(sustained)))


def test_the_json_report(walkthrough):
    """Raw numbers for scripts; what is not known is absent."""
    text = json_report.render(summarise(walkthrough))
    check("walkthrough.json", text)
    baseline = json.loads(text)["profiles"][0]
    assert "throughput" not in baseline["values"]
    assert baseline["wall"] == 3.22


def test_the_same_run_gives_the_same_bytes(sustained):
    """Neither the clock nor the order of a set is in a report."""
    first, again = summarise(sustained), summarise(replace(sustained))
    for render in (terminal.render, markdown.render, json_report.render):
        assert render(first) == render(again)


def test_a_pipe_gets_plain_text_of_100_columns(sustained):
    """No colours and no padding where the reader is a file."""
    stream = io.StringIO()
    terminal.show(summarise(sustained), Console(file=stream, width=80))
    assert stream.getvalue() == terminal.render(summarise(sustained), 100)


def test_a_terminal_gets_colour_and_the_same_words(sustained):
    """Colour repeats a word and never replaces one; a log's own colours do not leak."""
    stream = io.StringIO()
    console = Console(file=stream, width=100, force_terminal=True, color_system="standard")
    terminal.show(summarise(sustained), console)
    assert "\x1b[32m" in stream.getvalue()
    assert "\x1b[31mno app" not in stream.getvalue()


def test_every_table_of_the_markdown_is_whole(sustained):
    """Each row of a table has as many cells as its header."""
    rows = [line for line in markdown.render(summarise(sustained)).splitlines() if "|" in line]
    assert {line.count("|") for line in rows if line.startswith("|")} == {10, 5}
