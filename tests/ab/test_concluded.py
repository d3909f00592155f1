"""What two runs of the same versions come to."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from lab.analysis.judging import FAILED, Judgement, RatioReading, Reach, ThresholdOutcome
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.analysis.thresholds import parse
from lab.cli.ab.conclusion import PairConclusion, PairRun, verdict_line
from lab.model.comparison import Comparison, Estimate, MayBe, Verdict
from lab.report import opening, terminal
from lab.report.versions import as_markdown, no_result
from tests.kit import builders as make


def ran(*crossed, status=None, counted=0):
    """Return a run that crosses these limits."""
    status = (FAILED if crossed or counted else 0) if status is None else status
    return PairRun(None, (), (), frozenset(crossed), counted, status)


@pytest.mark.parametrize(
    ("first", "second", "status", "agreed"),
    [
        (ran(), None, 0, None),
        (ran("cpu > 1.05"), None, 3, False),
        (ran("cpu > 1.05"), ran("cpu > 1.05"), FAILED, True),
        (ran("cpu > 1.05"), ran(), 3, False),
        (ran("cpu > 1.05"), ran("p99 > 1.1"), 3, False),
        (ran("cpu > 1.05"), ran(status=1), 1, False),
        (ran(counted=FAILED), None, FAILED, None),
        (ran("cpu > 1.05", counted=FAILED), None, FAILED, None),
    ],
    ids=["green", "ended", "both", "first alone", "another", "broken", "a count", "both kinds"],
)
def test_red_is_what_both_runs_cross(first, second, status, agreed):
    """The same limit; a count has no noise, and a version that does not run is no noise."""
    conclusion = PairConclusion(first, wanted=True, second=second)
    assert (conclusion.status, conclusion.agreed) == (status, agreed)
    assert conclusion.end.startswith(f"exit {status}: ")


def test_where_nobody_wants_it_confirmed_one_run_is_enough():
    """As at a desk."""
    assert PairConclusion(ran("cpu > 1.05"), wanted=False).status == FAILED


def test_the_first_sentence_says_that_nothing_could_be_told():
    """Of which limit; and that a second run did not agree."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, 1.04e-4)}, blocks=9)
    plan = replace(run.plan, against_both=True, deciding="cpu")
    outcome = SimpleNamespace(conclusion=conclude_run([summarise(replace(run, plan=plan))]))
    pair_run = PairRun(outcome, (), (), frozenset(), 0, 0)
    limit = "cpu(new/old) > 1.05"
    assert pair_run.answer("cpu").startswith("new needs 1.0")
    untold = replace(pair_run, status=3, untold=[limit])
    could_not = f"inconclusive: this run could not decide whether {limit}"
    assert untold.answer("cpu") == f"{could_not}: {pair_run.answer('cpu')}"
    noisy = replace(pair_run, status=3)
    assert noisy.answer("cpu") == f"inconclusive: this run was too noisy: {pair_run.answer('cpu')}"
    broken = replace(pair_run, status=1)
    assert broken.answer("cpu").startswith("a version failed in half of its trials or more: new ")
    crossed = replace(pair_run, status=FAILED, crossed=frozenset([limit]))
    answer = PairConclusion(crossed, wanted=True, second=pair_run).answer("cpu")
    assert answer.startswith(
        "inconclusive: a limit is crossed, but the second run did not confirm it: new needs"
    )


@pytest.fixture
def sometimes_wrong():
    """Return what a run comes to in which the new version answers wrongly in two of its trials."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, 1e-4)}, blocks=9)
    trials = [
        replace(trial, windows=(replace(trial.windows[0], ok=4000, errors={"body": 7}),))
        if trial.slot.arm.name == "new" and trial.slot.block < 2
        else trial
        for trial in run.trials
    ]
    plan = replace(run.plan, against_both=True, deciding="cpu")
    return conclude_run([summarise(replace(run, plan=plan, trials=tuple(trials)))])


def test_who_wrote_the_branch_is_told_that_it_fails_at_times(sometimes_wrong):
    """In how many trials and how, though the others count."""
    text = as_markdown(sometimes_wrong, "answer", (), (), "end")
    assert "\n\n```text\nFailed in 2 of 9 trials: new. " in text
    assert "\nnew: errors, 2 of 9 trials: 7 of 4,007 replies were wrong (7 body" in text


def test_the_first_screen_says_it_too(sometimes_wrong):
    """The reason that its warning says is below is below."""
    (shown,) = opening.documents(sometimes_wrong, opening.NextSteps("lab", "latest"))
    text = terminal.render_document(shown)
    assert text.index("Failed in 2 of 9 trials: new") < text.index("7 of 4,007 replies were wrong")


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(10, "About --minutes 17 would decide it"), (None, "About --blocks 17 would")],
)
def test_a_limit_that_is_open_says_what_would_tell(minutes, said):
    """In what it was asked for: time, or blocks; nothing more of a ratio that is a bound."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, 1e-4)}, blocks=10)
    trials = (replace(trial, started_at=20.0 * at) for at, trial in enumerate(run.trials))
    plan = replace(run.plan, minutes=minutes, blocks=80, deciding="cpu")
    run = replace(run, plan=plan, trials=tuple(trials))
    # It shrinks with the root of the number, to 1.05 after a few more than 16.
    seen = RatioReading(Estimate(1.02, 1.02 / 1.0374, 1.02 * 1.0374, 10), Reach.HOLDS, 0.02)
    judgement = Judgement(parse("cpu(new/old) > 1.05"), ThresholdOutcome.OPEN, seen)
    assert f". {said}" in verdict_line(judgement, run)
    bound = Comparison("cpu", "old", "new", Verdict.NO_DIFFERENCE, seen.ratio, may_be=MayBe.EITHER)
    assert "would decide it" not in verdict_line(replace(judgement, bound=bound), run)
    at_it = replace(judgement, threshold=parse("cpu(new/old) > 1.02"))
    assert ". Use a wider limit or a quieter machine." in verdict_line(at_it, run)


def test_nothing_in_the_reason_of_a_missing_result_ends_its_block():
    """It may be the log of a stranger's branch."""
    text = no_result(["a version fails:", "```", "````", "@somebody"])
    *_, opened, first, _, _, _, closed = text.rstrip().splitlines()
    assert (opened, closed) == ("`````text", "`````")
    assert first == "a version fails:"


def test_it_says_that_the_second_run_does_not_agree():
    """And not that the machine was noisy."""
    assert "not confirmed" in PairConclusion(ran("a"), wanted=True, second=ran()).end
