"""Which runs the open claims ask for, and which claims no run here would decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from lab.model.plan import Load
from studies import articles
from studies.articles.batches import Batch, batches
from studies.articles.claim import Band, Claim
from studies.articles.due import due
from tests.kit import builders as make

CLAIM = Claim("x", "article", "it is faster", "fib", "baseline", "tuned", direction="above")
FASTER = {"baseline": (2000, 4e-4), "tuned": (3000, 3e-4)}
NEARLY = {"baseline": (2000, 4e-4), "tuned": (2080, 4e-4)}
"""With noise of 5 %, it may be more or not."""


def asked(runs=(), claim=CLAIM, *, blocks=10, cores=1):
    """Return whether a run is made for a claim after these runs, and why if none is."""
    summaries = [summarise(run) for run in runs]
    open_claims, why = due(
        articles.by_summaries(summaries, [claim]), summaries, blocks=blocks, cores=cores
    )
    assert not {open_claim.id for open_claim in open_claims} & why.keys()
    return bool(open_claims), why.get(claim.id)


def test_one_run_is_made_for_all_claims_of_a_load():
    """It holds each profile once, in the claims' order."""
    other = replace(CLAIM, id="y", reference="tuned", changed="granian")
    (batch,) = batches([CLAIM, other])
    assert batch.claims == (CLAIM, other)
    assert batch.command == "lab run baseline tuned granian"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workload": "hello"}, "--workload hello"),
        ({"connections": 100}, "--connections 100"),
        ({"metric": "cpu", "rate": "equal"}, "--rate 50%"),
    ],
)
def test_another_load_is_another_run(changes, words):
    """Whose command says which."""
    other = replace(CLAIM, **changes)
    assert batches([CLAIM, other]) == (Batch((CLAIM,)), Batch((other,)))
    assert Batch((other,)).command == f"lab run baseline tuned {words}"


def test_what_no_run_has_asked_is_asked():
    """And what a run has decided is not."""
    assert asked() == (True, None)
    assert asked([make.ladder_run(FASTER)]) == (False, None)


def test_what_a_test_has_decided_is_not_asked():
    """A direction that a test decides needs no run."""
    tested = replace(CLAIM, test="t.py::test_x", holds=True)
    assert asked(claim=tested) == (False, None)


def test_what_a_run_left_open_is_asked_again_with_more_blocks_only():
    """A run that is repeated until it decides decides by chance."""
    run = make.ladder_run(NEARLY, noise=0.05)
    reason = "inconclusive after 10 blocks (20260101-120000-fib): takes more blocks"
    assert asked([run]) == (False, reason)
    assert asked([run], blocks=11) == (True, None)


def test_a_run_whose_figures_do_not_count_is_not_repeated():
    """The gate would withhold them again."""
    run = make.ladder_run(FASTER)
    dropped = {"listener.drops": 400.0, "tcp.TCPSynRetrans": 300.0}
    trials = tuple(replace(trial, readings=trial.readings | dropped) for trial in run.trials)
    made, why = asked([replace(run, trials=trials)])
    assert not made
    assert why.startswith("inconclusive after 10 blocks (")
    assert why.endswith("takes a run in which requests/s count")


def test_a_run_under_another_load_answers_nothing():
    """One with fewer connections, or in a closed loop, is not what the claim asks for."""
    run = make.ladder_run(NEARLY, noise=0.05)
    assert asked([run], replace(CLAIM, connections=100)) == (True, None)
    alike = replace(CLAIM, metric="cpu", band="near", meaning=Band("near", 0.8, 1.25), rate="equal")
    assert asked([run], alike) == (True, None)
    open_loop = make.ladder_run(NEARLY, load=Load(connections=64, rate=500.0))
    assert asked([open_loop], alike)[0] is False


@pytest.mark.parametrize(
    ("changes", "cores", "why"),
    [
        (
            {"cores": 2},
            1,
            "takes at least 2 server cores, and there would be 1; --server-cores names more",
        ),
        ({"cores": 2}, 2, None),
        ({"changed": "lunar"}, 1, "takes profile lunar"),
        ({"workload": "moon"}, 1, "takes workload moon"),
        ({"variable": "MOON_URL"}, 1, "takes a server of your own, named by MOON_URL"),
        ({"variable": "SUN_URL"}, 1, None),
    ],
)
def test_what_no_run_here_can_decide_says_what_it_takes(changes, cores, why, monkeypatch):
    """Cores that this machine does not have, parts that the lab lacks, a server of the user's."""
    monkeypatch.setenv("SUN_URL", "sun://127.0.0.1")
    assert asked(claim=replace(CLAIM, **changes), cores=cores) == (why is None, why)


def test_a_fact_without_a_test_asks_for_no_run():
    """Why not is said."""
    fact = Claim("x", "article", "it is there", kind="fact", untestable="takes a Mac")
    assert asked(claim=fact) == (False, "takes a Mac")


NOISY = make.ladder_run(FASTER, noise=0.2)
WHOLE = make.ladder_run(FASTER)


@pytest.mark.parametrize("run", [NOISY, replace(WHOLE, trials=WHOLE.trials[:-1])])
def test_a_run_that_decides_nothing_is_made_again(run):
    """One whose noise check failed, or that was ended early."""
    assert asked([run]) == (True, None)


def test_what_was_asked_least_often_comes_first():
    """A run that decides nothing, each time, does not keep the others waiting."""
    other = replace(CLAIM, id="y", workload="hello")
    summaries = [summarise(NOISY)]
    claims, _ = due(articles.by_summaries(summaries, [CLAIM, other]), summaries, blocks=10, cores=1)
    assert claims == (other, CLAIM)
