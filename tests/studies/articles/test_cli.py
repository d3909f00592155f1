"""`lab claims` on stored runs; it starts no server."""

from __future__ import annotations

import json

from studies import articles
from tests.kit.lab_process import ROOT, run

LIFETIME = str(ROOT / "docs" / "runs" / "lifetime")


def test_claims_says_what_each_article_s_claim_came_to(tmp_path):
    """`lab claims` lists all that there are, and the ladder's with their figures and a decision."""
    done = run("lab", "claims", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    assert {verdict["claim"] for verdict in verdicts} == {claim.id for claim in articles.load()}
    whole = [
        verdict for verdict in verdicts if verdict["claim"] == "ladder-whole" and verdict["run"]
    ]
    assert {verdict["run"] for verdict in whole} >= {"ladder", "walkthrough"}
    assert all(verdict["decision"] != "reproduced" for verdict in whole)


def test_the_lifetime_claim_is_decided_by_counting(tmp_path):
    """Without a master no worker was replaced in 35 s, with one they were."""
    done = run("lab", "claims", LIFETIME, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no worker of max-worker-lifetime was replaced" in " ".join(done.stdout.split())
