"""The articles' claims and systems in the documentation."""

from __future__ import annotations

import re

import pytest

from lab.errors import UsageError
from studies import articles
from tools.pages import directives


def test_all_claims_in_short():
    """Those of the articles together are all."""
    text = directives.fill("<!-- claims in short --><!-- -->")
    assert re.search(rf"-->{len(articles.load())} claims: \d+ reproduced; ", text)


def test_the_claims_of_an_article_in_its_words():
    """Each has a row: decided with its evidence, or open with the command that would decide it."""
    text = directives.fill("<!-- statements gunicorn -->\n<!-- end -->\n")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    claims = [claim for claim in articles.load() if claim.source == "gunicorn"]
    statements = [row[0].removeprefix("| ") for row in rows if row[0] != "| "]
    assert [statement.partition(". *The author: ")[0] for statement in statements] == [
        c.text for c in claims
    ]
    assert any(statement.endswith(". *The author: not tried.*") for statement in statements)
    fact = next(row for row in rows if "tcp_tw_recycle" in row[0])
    assert (fact[1], fact[2][:10]) == ("", "**true the")
    assert "(../../tests/studies/articles/test_facts.py)" in fact[3]
    for _, _, here, by in rows:
        assert here.startswith("**")
        assert by.startswith(("[", "`lab run ", "takes a "))


def test_runs_that_come_to_the_same_have_one_row():
    """With the figures and the links of all."""
    text = directives.fill("<!-- statements uvloop -->\n<!-- end -->\n")
    row = next(line for line in text.splitlines() if "plain asyncio is faster than Twisted" in line)
    assert row.count("**reproduced**") == 1
    assert row.count("at least ") == 2
    assert row.count("](../runs/") == 3


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


def test_a_system_has_its_version_and_its_successor():
    """A link to its profile, and of one that has ended when and what stands in its place."""
    rows = directives.fill("<!-- systems -->\n<!-- end -->\n").splitlines()[3:-1]
    address = "../reference/profiles.md#"
    assert any(f"| uvloop | [aiohttp]({address}http-aiohttp) |" in row for row in rows)
    curio = next(row for row in rows if row.startswith("| curio "))
    assert "(ended 2022-10: " in curio
    assert f"; today [echo-trio]({address}echo-trio))" in curio
