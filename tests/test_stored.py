"""The stored evidence says what the documentation claims of it: whoever makes it anew is judged."""

from __future__ import annotations

import json

import pytest

from lab.analysis.compare import verdict_of
from lab.model import METRICS, Verdict
from lab.runs.folder import read_json
from lab.selftest.cases import CASES
from lab.selftest.effects import EFFECTS
from lab.selftest.result import SelfTestResult
from tests.kit.lab_process import ROOT
from tools.pages.files import RUNS

RESULTS = ROOT / "benchmarks" / "results"


def stored(name):
    """Return a stored result."""
    return json.loads((RESULTS / f"{name}.json").read_text())


@pytest.mark.parametrize("metric", ["cpu", "throughput"])
def test_identical_servers_hardly_ever_differ(metric):
    """Twenty comparisons of a server with itself: at most one of them finds a difference."""
    verdicts = [Verdict(pair["verdict"]) for pair in stored("aa")["comparisons"][metric]]
    assert len(verdicts) == 20
    assert Verdict.INVALID not in verdicts
    assert sum(verdict in {Verdict.FASTER, Verdict.SLOWER} for verdict in verdicts) <= 1


@pytest.mark.parametrize("metric", ["cpu", "throughput"])
def test_the_verdicts_on_identical_servers_follow_from_their_ratios(metric):
    """Each is what the rule makes of the stored interval and floor, and not only a word."""
    found = stored("aa")
    for pair in found["comparisons"][metric]:
        _, low, high = pair["ratio"]
        verdict = verdict_of(low, high, found["floors"][metric], METRICS[metric].better)
        assert pair["verdict"] == verdict, pair


def test_the_self_test_found_what_was_planted():
    """All of it was made, and every planted difference was told as what it is."""
    found = read_json(RUNS / "selftest.json", SelfTestResult)
    assert (found.status, found.quick) == (0, False)
    assert [case.name for case in found.cases] == [case.name for case in CASES]
    assert [effect.name for effect in found.effects] == [effect.name for effect in EFFECTS]
    for planted, effect in zip(EFFECTS, found.effects, strict=True):
        assert effect.found in planted.allowed
        assert effect.right


def test_the_production_stack_stays_right_and_small():
    """200,000 requests: each had the one right answer, no worker died, and memory stayed."""
    found = stored("endurance")
    assert found["requests"] == sum(found["right"].values()) == 200_000
    assert found["wrong"] == {}
    assert found["respawned"] == 0
    grown = found["after"]["own"] - found["before"]["own"]
    assert found["growth"]["own"] == grown < 2_000_000
    assert found["after"]["descriptors"] == found["before"]["descriptors"]


@pytest.mark.parametrize("door", ["behind nginx", "http-socket"])
def test_no_damaged_request_ends_a_worker(door):
    """200,000 of them at each door, each with its outcome, and none a failure of the server."""
    found = stored("malformed")["mutations"]
    assert found["count"] == 200_000
    assert found["doors"][door]["deaths"] == 0
    outcomes = found["doors"][door]["outcomes"]
    assert outcomes["500, 502, 503 or 504"] == 0
    assert sum(outcomes.values()) == found["count"]


def test_behind_nginx_every_reply_is_http():
    """Nor is a connection closed without a word, however a request is damaged."""
    outcomes = stored("malformed")["mutations"]["doors"]["behind nginx"]["outcomes"]
    assert not outcomes.keys() & {"malformed", "closed", "timeout", "reset"}
