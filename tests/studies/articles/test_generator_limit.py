"""What a run says to a claim where the load generator was at its limit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from studies import articles
from studies.articles.claim import Band, Claim, Decision
from studies.articles.decide import decide
from tests.analysis.test_generator_limit import echoing, ladder


@pytest.mark.parametrize(
    ("busy", "decision"),
    [
        (set(), Decision.REPRODUCED),
        ({"b"}, Decision.REPRODUCED),
        ({"a"}, Decision.INCONCLUSIVE),
        ({"a", "b"}, Decision.INCONCLUSIVE),
    ],
)
def test_a_claim_is_not_decided_by_a_bound_that_points_elsewhere(busy, decision):
    """Of "at most 2x" nobody knows that it is faster; what it takes is more cores for the load."""
    faster = Claim("x", "a", "faster", "fib", "a", "b", direction="above")
    verdict = decide(faster, summarise(ladder(busy)))
    assert verdict.decision is decision
    assert ("more cores for the load" in verdict.takes) is (decision is Decision.INCONCLUSIVE)


def test_sameness_at_an_equal_rate_needs_that_rate():
    """The claims on the fast echo servers: a closed loop says nothing, whatever was measured."""
    near = [claim for claim in articles.load() if claim.id.startswith("uvloop-near-go")]
    assert len(near) == 3
    for claim in near:
        verdict = decide(replace(claim, connections=None), summarise(echoing(0.5, 0.95)))
        assert verdict.decision is Decision.NO_RUN
        assert (
            "the claim needs an open loop (--rate), this run has a closed one" in verdict.sentence
        )


@pytest.mark.parametrize(
    ("generator", "server", "reproduced"),
    [(0.5, 0.95, True), (0.95, 0.5, False), (0.95, 0.95, False)],
    ids=["server", "generator", "both"],
)
def test_a_full_generator_reproduces_no_claim_that_servers_are_alike(generator, server, reproduced):
    """A claim that they are as fast needs a server at its limit and a generator that is not."""
    sides = {"reference": "echo-go", "changed": "echo-uvloop"}
    near = Band("near", 0.8, 1.25)
    claim = Claim("x", "a", "as fast", "fib", **sides, band="near", meaning=near)
    decision = decide(claim, summarise(echoing(generator, server))).decision
    assert (decision is Decision.REPRODUCED) is reproduced
