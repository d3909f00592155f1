"""The file of claims, and what the stored runs say to them."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from lab.bench.machine import project
from lab.bench.store.folder import read_run
from lab.model.backing import BackingRole, BackingService
from studies import articles
from studies.articles.claim import Article, Band, Claim, Decision
from tests.kit import builders as make
from tests.kit.lab_process import ROOT

RUNS = project.runs()

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

FACT = """
[[claim]]
id = "x"
source = "article"
kind = "fact"
text = "b is there"
test = "tests/studies/articles/test_facts.py::test_b"
holds = true
"""

NEAR = """
[band.near]
reading = "near"
low = 0.8
high = 1.25
"""

INACTION = """
[claim.inaction]
option = "lifetime"
metric = "drops"
witness = "c"
sentence = "none in {window:g} s of {limit}, {count} there"
"""


def test_every_article_of_the_walkthrough_has_its_claims():
    """81 statements of five articles."""
    claims = articles.load()
    assert len(claims) == 81
    assert {claim.source for claim in claims} == {
        "microsecond", "nonblocking", "gunicorn", "uvloop", "tornado",
    }  # fmt: skip
    cited = [claim.article.cited for claim in claims]
    assert cited[0] == '"Getting Every Microsecond Out of uWSGI" (Ben Cane, 2016)'
    assert all(claim.article.address for claim in claims)


@pytest.mark.parametrize(
    ("known", "cited"),
    [
        ({}, '"T"'),
        ({"year": 2016}, '"T" (2016)'),
        ({"author": "A. B.", "year": 2016}, '"T" (A. B., 2016)'),
        ({"author": "A. B."}, '"T" (A. B.)'),
    ],
)
def test_of_an_article_only_what_is_known_is_said(known, cited):
    """Neither a guess nor an empty bracket."""
    assert Article("T", **known).cited == cited


@pytest.mark.parametrize(
    ("claim", "stated"),
    [
        ({"ratio": 0.2}, "0.20x"),
        ({"ratio": 0.2, "metric": "p50"}, "0.20x, p50"),
        ({"band": "very close", "metric": "cpu"}, '"very close", cpu'),
        ({"band": "very close", "ratio": 0.97}, '"very close" (0.97x)'),
        ({"direction": "above"}, "above 1"),
        ({"kind": "fact"}, "a fact"),
    ],
)
def test_what_the_article_states_says_of_what(claim, stated):
    """Where it is not throughput, so that no ratio of times is read as one of rates."""
    assert Claim("x", "article", "so it is", **claim).stated == stated


def test_every_fact_has_its_test():
    """It is there, by that name, and compares what it finds with the claim's `holds`."""
    tested = [claim for claim in articles.load() if claim.test is not None]
    assert tested
    for claim in tested:
        path, name = claim.test.split("::")
        nodes = ast.parse((ROOT / path).read_text()).body
        (test,) = (node for node in nodes if getattr(node, "name", None) == name)
        compared = [
            ast.unparse(statement.test)
            for statement in test.body
            if isinstance(statement, ast.Assert)
        ]
        assert any(condition.endswith(" is holds") for condition in compared), claim.test


@pytest.mark.parametrize(
    ("holds", "decision"), [(True, Decision.REPRODUCED), (False, Decision.NOT_SEEN)]
)
def test_a_fact_is_decided_by_its_test(holds, decision):
    """Without any run; the sentence names the test, and says what to know of it."""
    claim = Claim("x", "article", "b is there", kind="fact", test="t.py::test_b", holds=holds)
    (verdict,) = articles.verdicts([], [replace(claim, note="It was.")])
    assert (verdict.decision, verdict.run, verdict.takes) == (decision, None, ())
    assert verdict.sentence == "a fact, decided by t.py::test_b. It was."


def test_a_direction_may_have_a_test_which_counts_where_no_run_decides():
    """Beside what a run that cannot decide says; a run that decides stands alone."""
    run = make.ladder_run({"a": (1000, 1e-3), "b": (2000, 5e-4)})
    plain = Claim("x", "article", "b is faster", "fib", "a", "b", direction="above")
    tested = replace(plain, test="t.py::test_b", holds=True, note="It is.")
    (by_run,) = articles.verdicts([run], [tested])
    assert (by_run.decision, by_run.run) == (Decision.REPRODUCED, run.name)
    (by_test,) = articles.verdicts([], [tested])
    assert (by_test.decision, by_test.run) == (Decision.REPRODUCED, None)
    assert by_test.sentence == "decided by t.py::test_b. It is."
    open_by_run, also = articles.verdicts([run], [replace(tested, cores=64)])
    assert (open_by_run.decision, also.decision) == (Decision.INCONCLUSIVE, Decision.REPRODUCED)
    (left,) = articles.verdicts([run], [replace(plain, cores=64)])
    assert left.decision is Decision.INCONCLUSIVE


def test_what_was_true_of_versions_that_are_gone_is_said_so():
    """With what has changed since; it is neither the author's error nor seen today."""
    claim = Claim("x", "article", "b is there", kind="fact", test="t.py::test_b", holds=False)
    (verdict,) = articles.verdicts([], [replace(claim, outdated="b 2 is without it")])
    assert (verdict.decision, verdict.decision.is_open) == (Decision.OUTDATED, False)
    assert verdict.sentence == "a fact, decided by t.py::test_b. b 2 is without it."


def test_a_fact_without_a_test_says_why():
    """Instead of a guess; it stays open."""
    claim = Claim("x", "article", "b is there", kind="fact", untestable="takes a Mac")
    (verdict,) = articles.verdicts([], [claim])
    assert (verdict.decision, verdict.takes) == (Decision.UNTESTABLE, ("takes a Mac",))
    assert (verdict.sentence, verdict.tested) == ("takes a Mac.", False)


@pytest.mark.parametrize(
    ("claim", "limits"),
    [
        ({"ratio": 3.0}, (2.5, 3.5)),
        ({"ratio": 0.5}, (1 / 2.25, 1 / 1.75)),
        ({"direction": "above"}, (1.0, float("inf"))),
        ({"direction": "below"}, (0.0, 1.0)),
        ({"ratio": 3.0, "band": "near", "meaning": Band("near", 0.8, 1.25)}, (0.8, 1.25)),
        ({"band": "twice", "meaning": Band("twice", 2.0)}, (2.0, float("inf"))),
        ({"band": "good", "meaning": Band("good", None, 2.0)}, (0.0, 2.0)),
    ],
)
def test_what_the_article_says_is_a_range(claim, limits):
    """Its word's; without one that of its figure, a quarter of the effect to each side."""
    assert Claim("x", "article", "so it is", **claim).limits == pytest.approx(limits)


def test_each_band_of_ours_is_said_with_its_ends_and_a_reason():
    """So that an author can object to it."""
    bands = articles.bands()
    assert (str(bands["very close"]), str(bands["at least twice"]), str(bands["excellent"])) == (
        "0.8 to 1.25 times", "at least 2 times", "at most 2 times",
    )  # fmt: skip
    assert all(band.reading for band in bands.values())


@pytest.mark.parametrize(
    ("theirs", "decision"), [(True, Decision.REPRODUCED), (False, Decision.UNTESTABLE)]
)
def test_what_stands_in_a_server_s_place_decides_nothing_of_it(theirs, decision):
    """A claim about a database is decided by a run that asked one, which a variable names."""
    run = make.ladder_run({"a": (1000, 1e-3), "b": (2000, 5e-4)})
    moon = BackingService(
        summary="A moon", role=BackingRole.BACKEND, run=(), ready=(), url="MOON_URL", theirs=theirs
    )
    claim = Claim("x", "article", "b is faster", "fib", "a", "b", direction="above")
    (verdict,) = articles.verdicts(
        [replace(run, plan=replace(run.plan, backing=(moon,)))],
        [replace(claim, variable="MOON_URL")],
    )
    assert verdict.decision is decision
    needs = "the claim needs a server of your own, named by MOON_URL, this run had one that stands"
    assert verdict.sentence.startswith(needs) is not theirs


def test_parallelism_is_not_decided_on_one_core():
    """What four processes give cannot show on one core, so the ladder's run reverses nothing."""
    stored = articles.verdicts([read_run(RUNS / "ladder")])
    verdicts = {verdict.claim.id: verdict for verdict in stored if verdict.run is not None}
    for name in ("ladder-processes-threads", "ladder-whole"):
        assert verdicts[name].decision is Decision.INCONCLUSIVE
        assert verdicts[name].sentence.startswith(
            "the claim needs at least 2 server cores, this run had 1."
        )
    assert verdicts["ladder-cython"].decision is Decision.NOT_SEEN


def test_parallelism_is_bounded_where_the_server_had_two_cores():
    """With the load on the same two the published three and five times are excluded."""
    stored = articles.verdicts([read_run(RUNS / "ladder-two-cores")])
    verdicts = {verdict.claim.id: verdict for verdict in stored if verdict.run is not None}
    for name in ("ladder-processes-threads", "ladder-whole"):
        verdict = verdicts[name]
        assert verdict.decision is Decision.NOT_SEEN
        assert verdict.comparison.ratio is None
        assert verdict.comparison.between.high < 1.5
        assert verdict.sentence.startswith("between 0.")
        assert verdict.load == "64 connections, 3 s, shared cores"


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
        (WHOLE + 'metric = "drops"', "claim x: there is no metric drops to compare"),
        (WHOLE.replace('changed = "b"', ""), "claim x: has no changed"),
        (WHOLE + 'rate = "high"', "claim x: Invalid enum value 'high'"),
        (WHOLE + 'rate = "equal"', "at an equal rate throughput is the same: name another"),
        (WHOLE + 'outdated = "b 2"', 'untestable and outdated are for kind = "fact"'),
        (WHOLE + 'untestable = "takes a Mac"', 'untestable and outdated are for kind = "fact"'),
        (WHOLE + 'needs = ["profile b"]', "claim x: has no field needs"),
        (WHOLE + 'band = "near"', "claim x: there is no band near; there are "),
        (WHOLE + NEAR, "no claim says near"),
        (WHOLE + 'band = "near"' + NEAR.replace("0.8", "1.3"), "band near: needs low, or high"),
        (WHOLE + 'band = "near"' + NEAR + "middle = 1", "band near: has no field middle"),
        (WHOLE.replace("1.5", "1.04"), "a ratio of 1.04 says that nothing changes: which band"),
        (WHOLE.replace("1.5", "-1.5"), "ratio = -1.5: above 0"),
        (WHOLE + "holds = true", "claim x: has test and holds, or neither"),
        (
            WHOLE + 'test = "a.py::test_b"\nholds = true',
            "claim x: has a ratio, of which a test says nothing",
        ),
        (WHOLE + 'kind = "fact"', "leave out changed, ratio, reference, workload"),
        (FACT + "cores = 2", "claim x: is a fact, which a test decides: leave out cores"),
        (FACT + 'untestable = "takes a Mac"', "has test and holds, or untestable: why there is"),
        (FACT.replace("holds = true", ""), "has test and holds, or untestable"),
        (FACT + 'outdated = "b 2"', "is outdated: holds = false"),
        (FACT.replace("::test_b", ""), "its name in pytest, as in"),
        (WHOLE.replace("ratio = 1.5", ""), "claim x: needs a ratio, a band, or a direction"),
        (WHOLE + 'direction = "above"', "has a direction, or a ratio or a band, not both"),
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
    with pytest.raises(articles.ClaimsError) as caught:
        articles.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


def test_a_claim_is_decided_under_each_load():
    """The article's own load drops connections, so it decides nothing; the sustained one does."""
    stored = articles.verdicts([read_run(RUNS / name) for name in ("ladder", "walkthrough")])
    steps = [verdict for verdict in stored if verdict.claim.id == "ladder-processes-threads"]
    assert [verdict.run for verdict in steps] == ["ladder", "walkthrough"]
    assert steps[0].comparison.ratio is not None
    assert steps[1].decision is Decision.INCONCLUSIVE
    assert steps[1].uncounted.startswith("not counted: 1.1")
    rungs = [verdict for verdict in stored if verdict.claim.id == "ladder-disable-logging"]
    assert "handshakes dropped" in rungs[1].sentence


@pytest.mark.parametrize(
    ("workload", "changed", "decision", "sentence"),
    [
        ("fib", "tuned", Decision.NO_RUN, "No run can decide it: lab run baseline tuned"),
        (
            "hello",
            "tuned",
            Decision.NO_RUN,
            "No run can decide it: lab run baseline tuned --workload hello",
        ),
        (
            "moon",
            "lunar",
            Decision.UNTESTABLE,
            "Needs workload moon, profile lunar, which this lab does not have.",
        ),
    ],
)
def test_a_claim_that_no_run_can_decide_says_what_it_takes(workload, changed, decision, sentence):
    """A run that nobody made, or parts that the lab lacks."""
    claim = Claim("x", "article", "b is faster", workload, "baseline", changed, ratio=2.0)
    (verdict,) = articles.verdicts([], [claim])
    assert (verdict.decision, verdict.run) == (decision, None)
    assert verdict.sentence == sentence


def test_what_an_option_did_not_do_decides_where_the_interval_cannot():
    """A worker's age, which nobody looks at without a master, counted in a stored run."""
    (verdict,) = (
        verdict
        for verdict in articles.verdicts([read_run(RUNS / "lifetime")])
        if verdict.claim.inaction is not None and verdict.run is not None
    )
    assert "no worker of max-worker-lifetime was replaced, where its limit is 30 s" in (
        verdict.sentence
    )


def test_a_run_of_another_number_decides_no_claim():
    """`--path /10` is named fib, too, and is other work."""
    stored = read_run(RUNS / "ladder")
    other = replace(stored.plan.workload, path="/10")
    run = replace(stored, plan=make.altered(stored.plan, workload=other))
    assert articles.decided(summarise(stored))
    assert articles.decided(summarise(run)) == ()
