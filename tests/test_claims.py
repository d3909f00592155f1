"""The file of claims, and what the stored runs say to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab import claims
from lab.analysis.summary import summarise
from lab.model import Article, Claim, Decision
from lab.runs.folder import read_run
from tests.kit import builders as make

ARTICLE = """
[article.article]
title = "An article"
"""

WHOLE = """
[[claim]]
id = "x"
source = "article"
text = "b is faster"
workload = "fib"
reference = "a"
changed = "b"
ratio = 1.5
"""

INACTION = """
[claim.inaction]
option = "lifetime"
metric = "drops"
witness = "c"
sentence = "none in {window:g} s of {limit}, {count} there"
"""


def test_every_article_of_the_walkthrough_has_its_claims():
    """21 claims of five articles, each with a figure or a direction."""
    found = claims.load()
    assert len(found) == 21
    assert {claim.source for claim in found} == {
        "microsecond", "nonblocking", "gunicorn", "uvloop", "tornado",
    }  # fmt: skip
    cited = [claim.article.cited for claim in found]
    assert cited[0] == '"Getting Every Microsecond Out of uWSGI" (2016)'


@pytest.mark.parametrize(
    ("known", "cited"),
    [
        ({}, '"T"'),
        ({"year": 2016}, '"T" (2016)'),
        ({"author": "A. B.", "year": 2016}, '"T" (A. B., 2016)'),
        ({"address": "https://example.org/t"}, '"T", https://example.org/t'),
    ],
)
def test_of_an_article_only_what_is_known_is_said(known, cited):
    """Neither a guess nor an empty bracket."""
    assert Article("T", **known).cited == cited


def test_parallelism_is_not_decided_on_one_core():
    """What four processes give cannot show on one core, so the ladder's run reverses nothing."""
    stored = claims.verdicts([read_run(claims.RUNS / "ladder")])
    found = {each.claim.id: each for each in stored if each.run is not None}
    for name in ("ladder-processes-threads", "ladder-whole"):
        assert found[name].decision is Decision.UNTESTABLE
        assert found[name].sentence.startswith(
            "the claim needs at least 2 server cores, this run had 1."
        )
    assert found["ladder-cython"].decision is Decision.NONE


def test_parallelism_is_bounded_where_the_server_had_two_cores():
    """With the load on the same two the published three and five times are excluded."""
    stored = claims.verdicts([read_run(claims.RUNS / "ladder-two-cores")])
    found = {each.claim.id: each for each in stored if each.run is not None}
    for name in ("ladder-processes-threads", "ladder-whole"):
        verdict = found[name]
        assert verdict.decision is Decision.NONE
        assert verdict.comparison.ratio is None
        assert verdict.comparison.between.high < 1.5
        assert verdict.sentence.startswith("between 0.")
        assert verdict.load == "64 connections, 3 s, cores shared"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[claim", "is not TOML"),
        ("a = 1", "must hold tables [[claim]]"),
        (ARTICLE + "name = 1" + WHOLE, "article article: has no field name"),
        (ARTICLE.replace("title", "author") + WHOLE, "article article: Object missing"),
        (WHOLE.replace('"article"', '"other"'), "there is no article other; there are article"),
        (WHOLE + '[claim.article]\ntitle = "T"', "claim x: has no field article"),
        (WHOLE + "cores = 0", "claim x: cores = 0: at least 1"),
        (WHOLE + 'cores = "two"', "claim x: Expected `int | null`, got `str`"),
        (WHOLE + 'version = "uwsgi"', "a name and the least version, as in"),
        (WHOLE.replace('text = "b is faster"', ""), "claim x: Object missing required field"),
        (WHOLE.replace("1.5", '"much"'), "claim x: Expected `float | null`, got `str`"),
        (WHOLE + "ration = 1", "claim x: has no field ration"),
        (WHOLE + 'metric = "speed"', "claim x: there is no metric speed"),
        (WHOLE.replace("ratio = 1.5", ""), "claim x: needs a ratio, or a direction"),
        (WHOLE + 'direction = "above"', "a ratio above 0, or a direction, not both"),
        (WHOLE + "published = [100, 200]", "claim x: 200 / 100 is 2, not 1.5"),
        (WHOLE + "published = [0, 200]", "claim x: 0 and 200: published figures are above 0"),
        (WHOLE + WHOLE, "two claims are named x"),
        (WHOLE + INACTION.replace("witness", "winner"), "missing required field `witness`"),
        (WHOLE + INACTION + 'winner = "c"', "claim x: has no field winner"),
        (WHOLE + INACTION.replace("drops", "cpu"), "inaction counts no cpu; there are"),
        (WHOLE + INACTION.replace("{count}", "{many}"), "a sentence that cannot be filled in"),
        (WHOLE + INACTION.replace("{count}", "{"), "a sentence that cannot be filled in"),
    ],
)
def test_an_error_names_the_file_and_the_claim(tmp_path, text, problem):
    """A slip in a claim is found when it is read."""
    path = tmp_path / "claims.toml"
    path.write_text(text if "[article." in text else ARTICLE + text)
    with pytest.raises(claims.ClaimsError) as caught:
        claims.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


def test_a_claim_is_decided_under_each_load():
    """The article's own load drops connections, so it decides nothing; the sustained one does."""
    stored = claims.verdicts([read_run(claims.RUNS / name) for name in ("ladder", "walkthrough")])
    steps = [each for each in stored if each.claim.id == "ladder-processes-threads"]
    assert [each.run for each in steps] == ["ladder", "walkthrough"]
    assert steps[0].comparison.ratio is not None
    assert steps[1].decision is Decision.UNTESTABLE
    rungs = [each for each in stored if each.claim.id == "ladder-disable-logging"]
    assert "handshakes dropped" in rungs[1].sentence


@pytest.mark.parametrize(
    ("workload", "changed", "sentence"),
    [
        ("fib", "tuned", "No run can decide it: lab run baseline tuned"),
        ("hello", "tuned", "No run can decide it: lab run baseline tuned --workload hello"),
        (
            "moon",
            "lunar",
            "Needs workload moon, profile lunar, which this lab does not have yet.",
        ),
    ],
)
def test_a_claim_that_no_run_can_decide_says_what_it_takes(workload, changed, sentence):
    """A run that nobody made, or parts that the lab lacks."""
    claim = Claim("x", "article", "b is faster", workload, "baseline", changed, ratio=2.0)
    (verdict,) = claims.verdicts([], [claim])
    assert (verdict.decision, verdict.run) == (Decision.UNTESTABLE, None)
    assert verdict.sentence == sentence


def test_what_an_option_did_not_do_decides_where_the_interval_cannot():
    """A worker's age, which nobody looks at without a master, counted in a stored run."""
    (verdict,) = (
        each
        for each in claims.verdicts([read_run(claims.RUNS / "lifetime")])
        if each.claim.inaction is not None and each.run is not None
    )
    assert "no worker of max-worker-lifetime was replaced, where its limit is 30 s" in (
        verdict.sentence
    )


def test_a_run_of_another_number_decides_no_claim():
    """`--path /10` is named fib, too, and is other work."""
    stored = read_run(claims.RUNS / "ladder")
    other = replace(stored.plan.workload, path="/10")
    run = replace(stored, plan=make.altered(stored.plan, workload=other))
    assert claims.decided(summarise(stored))
    assert claims.decided(summarise(run)) == ()
