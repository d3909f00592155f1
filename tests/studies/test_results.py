"""What studies/results holds, and how a page quotes a figure of it."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

from lab.analysis.compare import verdict_of
from lab.bench.store.folder import read_json
from lab.errors import UsageError
from lab.model.comparison import Verdict
from lab.model.metric import METRICS
from lab.model.sizes import DEFAULT
from studies.pages import results
from studies.selftest.cases import CASES
from studies.selftest.effects import EFFECTS
from studies.selftest.result import SelfTestResult
from tests.kit.lab_process import ROOT
from tools import framework
from tools.pages import directives
from tools.pages.files import RUNS


@pytest.fixture
def made_up(monkeypatch, tmp_path):
    """Store a result of our own."""
    content = {
        "requests": 200000,
        "floors": {"cpu": 0.05729},
        "tools": {"ours": [7e-6, 9e-6, 8e-6], "theirs": [5e-6]},
        "rounds": {"ours": [6e-6, 2e-6, 9e-6], "theirs": [3e-6, 1e-6, 4e-6]},
        "pairs": {"cpu": [{"verdict": "no difference"}, {"verdict": "inconclusive"}], "p99": []},
        "command": "made up",
    }
    (tmp_path / "made-up.json").write_text(json.dumps(content))
    monkeypatch.setattr(results, "RESULTS", tmp_path)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("requests", "200,000"),
        ("floors / cpu in %", "5.73 %"),
        ("how many are inconclusive of pairs / * / * / verdict", "1"),
        ("tools / ours in µs", "8.00 µs"),
        ("tools / ours above theirs", "60%"),
        ("rounds / ours over theirs, paired", "2.08x [1.76, 2.46]"),
    ],
)
def test_a_figure_of_a_stored_result(made_up, asked, text):
    """As it is stored, in a unit, or beside another one: the median where there are several."""
    page = f"<!-- result made-up: {asked} -->"
    assert directives.fill(f"{page}<!-- -->") == f"{page}{text}<!-- -->"


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("made-up: floors / speed", "made-up.json has no 'speed' of 'floors / speed'"),
        ("made-up: floors / cpu in inches", "inches: a result is in %, "),
        ("made-up: command", "made-up.json: what stands at command is no number"),
        ("nothing: requests", "nothing.json: there is no such result"),
    ],
)
def test_what_a_stored_result_does_not_have_is_named(made_up, asked, problem):
    """Instead of a figure from elsewhere."""
    with pytest.raises(UsageError, match=problem):
        directives.fill(f"<!-- result {asked} --><!-- -->")


RESULTS = ROOT / "studies" / "results"


def stored(name):
    """Return a stored result."""
    return json.loads((RESULTS / f"{name}.json").read_text())


@pytest.mark.parametrize("metric", ["cpu", "throughput"])
def test_servers_that_are_alike_are_not_told_apart(metric):
    """Of eight pairs at most one, and each could be compared."""
    verdicts = [Verdict(pair["verdict"]) for pair in stored("aa")["comparisons"]["alike"][metric]]
    assert len(verdicts) == 8
    assert Verdict.INVALID not in verdicts
    assert sum(verdict.differs for verdict in verdicts) <= 1


@pytest.mark.parametrize("metric", ["cpu", "throughput"])
def test_what_takes_a_tenth_more_is_found(metric):
    """In most of six pairs, at the sizes that a run has by default."""
    result = stored("aa")
    assert (result["sizes"]["blocks"], result["sizes"]["window"]) == (
        DEFAULT.blocks,
        DEFAULT.window,
    )
    verdicts = [pair["verdict"] for pair in result["comparisons"]["10% more"][metric]]
    assert len(verdicts) == 6
    assert verdicts.count(Verdict.WORSE) >= 4


@pytest.mark.parametrize("metric", ["cpu", "throughput"])
@pytest.mark.parametrize("planted", ["alike", "5% more", "10% more"])
def test_the_verdicts_of_planted_differences_follow_from_their_ratios(metric, planted):
    """Each is what the rule makes of the stored interval and floor, and not only a word."""
    result = stored("aa")
    for pair in result["comparisons"][planted][metric]:
        _, low, high = pair["ratio"]
        verdict = verdict_of(low, high, result["floors"][metric], METRICS[metric].better)
        assert pair["verdict"] == verdict, pair


def test_the_self_test_found_what_was_planted():
    """All of it was made, and every planted difference was told as what it is."""
    result = read_json(RUNS / "selftest.json", SelfTestResult)
    assert (result.status, result.quick) == (0, False)
    assert [case.name for case in result.cases] == [case.name for case in CASES]
    effects = result.effects[: len(EFFECTS)]
    assert [effect.name for effect in effects] == [effect.name for effect in EFFECTS]
    for planted, effect in zip(EFFECTS, effects, strict=True):
        assert effect.found in planted.allowed
        assert effect.right


def test_the_production_stack_stays_right_and_small():
    """200,000 requests: each had the one right answer, no worker died, and memory stayed."""
    result = stored("endurance")
    assert result["requests"] == sum(result["right"].values()) == 200_000
    assert result["wrong"] == {}
    assert result["respawned"] == 0
    grown = result["after"]["own"] - result["before"]["own"]
    assert result["growth"]["own"] == grown < 2_000_000
    assert result["after"]["descriptors"] == result["before"]["descriptors"]


@pytest.mark.parametrize("door", ["behind nginx", "http-socket"])
def test_no_damaged_request_ends_a_worker(door):
    """200,000 of them at each door, each with its outcome, and none a failure of the server."""
    mutations = stored("malformed")["mutations"]
    assert mutations["count"] == 200_000
    assert mutations["doors"][door]["deaths"] == 0
    outcomes = mutations["doors"][door]["outcomes"]
    assert outcomes["500, 502, 503 or 504"] == 0
    assert sum(outcomes.values()) == mutations["count"]


def test_behind_nginx_every_reply_is_http():
    """Nor is a connection closed without a word, however a request is damaged."""
    outcomes = stored("malformed")["mutations"]["doors"]["behind nginx"]["outcomes"]
    assert not outcomes.keys() & {"malformed", "closed", "timeout", "reset"}


SUITES = ROOT / "studies" / "results" / "framework_suites.json"


def test_their_own_tests_pass_as_without_it():
    """Of the versions that are pinned, no test of Flask and Werkzeug fails that passes plain."""
    stored = json.loads(SUITES.read_text())
    for package in framework.PACKAGES:
        suite = stored["packages"][package]
        assert suite["version"] == version(package)
        assert suite["regressions"] == []
        assert suite["plain"]["passed"] > 400


def test_the_default_window_is_the_one_that_tells_most_per_second():
    """The noise of a trial squared, times its seconds, is the cost of a precision."""
    windows = stored("windows")["windows"]
    cost = {float(key): row["cpu"] ** 2 * row["seconds"] for key, row in windows.items()}
    assert min(cost, key=cost.get) == DEFAULT.window
    assert all(row["rounds"] >= 7 for row in windows.values())
