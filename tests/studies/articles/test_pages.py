"""The articles' claims and systems in the documentation."""

from __future__ import annotations

import re

import pytest

from lab.errors import UsageError
from studies import articles
from studies.pages import systems
from tools.pages import directives


def test_all_claims_bring_no_heading():
    """The page has its own; what is counted is there, and of each article how much is decided."""
    text = directives.fill("<!-- claims -->\n<!-- end -->\n")
    assert "#" not in text
    assert re.search(r"^\d+ claims: \d+ reproduced; ", text, re.MULTILINE)
    assert re.search(r'^\*\*".*" \(.*2016\): \d+ of \d+ decided\*\*$', text, re.MULTILINE)


def test_the_ledger_has_all_that_is_known_of_each_claim():
    """Figures, load and machine of what settles it; of an open one also what it takes."""
    text = directives.fill("<!-- claims -->\n<!-- end -->\n")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    titles = ["claim", "article", "here", "outcome", "load", "machine", "what it takes"]
    assert rows[0] == titles
    by_claim = {row[0]: dict(zip(titles, row, strict=False)) for row in rows}
    assert {claim.id for claim in articles.load()} <= by_claim.keys()
    decided, tested = by_claim["ladder-disable-logging"], by_claim["ladder-affinity"]
    assert (decided["article"], decided["load"]) == ("1.39x", "64 connections, 3 s")
    assert (decided["outcome"], decided["machine"]) == ("not seen", "AMD EPYC, 2 cores")
    assert "what it takes" not in decided
    assert (tested["outcome"], tested["load"]) == ("not seen", "a test")
    for row in by_claim.values():
        if row["outcome"] in ("inconclusive", "cannot be tested here", "no run yet"):
            assert row["what it takes"].startswith(("`lab run ", "takes a ")), row


def test_the_claims_of_an_article_in_its_words():
    """Each has a row: decided with its evidence, or open with the command that would decide it."""
    text = directives.fill("<!-- statements gunicorn -->\n<!-- end -->\n")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    asked = [claim for claim in articles.load() if claim.source == "gunicorn"]
    said = [row[0].removeprefix("| ") for row in rows if row[0] != "| "]
    assert [each.partition(". *The author: ")[0] for each in said] == [c.text for c in asked]
    assert any(each.endswith(". *The author: not tried.*") for each in said)
    fact = next(row for row in rows if "tcp_tw_recycle" in row[0])
    assert (fact[1], fact[2][:10]) == ("", "**true the")
    assert "(../../tests/studies/articles/test_facts.py)" in fact[3]
    for first, figure, here, by in rows:  # another run's row repeats nothing of its claim
        assert figure or first == "| " or "studies/articles/test_" in by
        assert here.startswith("**")
        assert by.startswith(("[", "`lab run ", "takes a "))


def test_an_article_is_named_with_what_is_known_of_it():
    """Its title, which is a link, its author and its year; one that is not there is refused."""
    text = directives.fill("<!-- article uvloop --><!-- -->")
    assert "-->[uvloop: Blazing fast Python networking](https://magic.io/" in text
    assert text.endswith("), Yury Selivanov, 2016<!-- -->")
    with pytest.raises(UsageError, match="there is no article moon; there are microsecond, "):
        directives.fill("<!-- article moon --><!-- -->")


def test_what_came_of_an_article_in_short():
    """Its own claims alone."""
    text = directives.fill("<!-- claims in short: nonblocking --><!-- -->")
    assert re.search(r"-->5 claims: \d reproduced; ", text)


def test_the_page_of_systems_is_current():
    """docs/reference/systems.md is what `python -m tools.pages` writes now."""
    assert systems.PAGE.read_text() == systems.render()
