"""What a report says of profiles that reply without the application."""

import json
from dataclasses import replace
from html import unescape

import jsonschema
import pytest

from lab.analysis.conclude import conclude
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.report import html_page, markdown, summary_json, terminal
from tests.kit import builders as make
from tools.pages import schema

SPEEDS = {"baseline": (2000, 480e-6), "tuned": (8000, 118e-6), "granian": (9000, 100e-6),
          "bare": (16_000, 60e-6), "constant": (20_000, 45e-6)}  # fmt: skip
REPLIES = {"bare": b"Pong!", "constant": b"done"}


@pytest.fixture(scope="module")
def lined():
    """Return a summary with two reference lines, and a profile of another server."""
    run = make.ladder_run(SPEEDS)
    profiles = tuple(
        replace(
            profile,
            reply=REPLIES[profile.name].decode() if profile.name in REPLIES else None,
            server="command" if profile.name == "granian" else "uwsgi",
        )
        for profile in run.plan.profiles
    )
    return summarise(replace(run, plan=make.altered(run.plan, profiles=profiles)))


def test_a_share_is_of_a_profile_of_the_same_server(lined):
    """What uWSGI needs for a reply is no part of another server's work."""
    content = json.loads(summary_json.render(conclude_run([lined])))
    assert list(content["shares"]) == ["baseline", "tuned"]
    share = content["shares"]["tuned"]["bare"]
    assert (share["changed"], share["reference"]) == ("bare", "tuned")
    assert 0.45 < share["low"] < share["ratio"] < share["high"] < 0.57
    stored = json.loads((schema.FOLDER / "summary.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, stored)


def test_a_run_without_reference_lines_has_no_shares():
    """What does not apply is absent."""
    summary = summarise(make.ladder_run({"baseline": (2000, 480e-6), "tuned": (8000, 118e-6)}))
    assert "shares" not in json.loads(summary_json.render(conclude_run([summary])))


def test_every_report_shows_the_shares_and_says_what_a_reference_line_is(lined):
    """On a terminal, in Markdown and on the page."""
    text = terminal.render(conclude(lined))
    assert max(map(len, text.splitlines())) <= 100
    legend = "bare, constant: reference lines: the same reply to every request"
    page = unescape(html_page.render(conclude(lined)))
    for report in (text, markdown.render(conclude_run([lined])), page):
        assert "What the server itself needs, as a share of each profile's CPU" in report
        assert legend in report
    rows = text.split("as a share of")[1].split("\n\n")[0].splitlines()
    assert rows[1].split() == ["profile", "bare", "constant"]
    assert [row.split()[0] for row in rows[3:]] == ["baseline", "tuned"]


def test_a_reference_line_is_not_unexplained(lined, diagnosed):
    """Nobody looked for what limits it."""
    causes = {"baseline": diagnosed.diagnoses["baseline"]}
    summary = replace(lined, diagnoses=causes)
    limits = terminal.render(conclude(summary)).split("Limited by\n")[1].split("\n\n")[0]
    assert "unexplained" in limits
    assert "bare" not in limits
    section = (
        html_page.render(conclude(summary)).split('<section id="limits">')[1].split("</section>")[0]
    )
    assert "unexplained" in section
    assert "bare" not in section
