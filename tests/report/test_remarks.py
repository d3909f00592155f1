"""The footnotes under a report's tables."""

from dataclasses import replace

import pytest

from lab.analysis.conclude import conclude
from lab.analysis.summary import summarise
from lab.model.comparison import Verdict
from lab.model.plan import Load
from lab.model.request import Request
from lab.model.workload import Wire
from lab.report.legend import Term, terms
from lab.report.remarks import notes
from tests.kit import builders as make

LADDER = {"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)}


def strangers(shares):
    """Return a run's note on the machine: *shares* is profile -> others' cores in its trials."""
    run = make.ladder_run(LADDER)
    trials = []
    for trial in run.trials:
        cores = shares.get(trial.slot.arm.name, ()) if trial.slot.arm.role == "profile" else ()
        if trial.slot.block < len(cores):
            foreign = {"machine.foreign_cpu": cores[trial.slot.block]}
            trial = replace(trial, readings=trial.readings | foreign)  # noqa: PLW2901
        trials.append(trial)
    (note,) = (
        candidate
        for candidate in notes(conclude(summarise(replace(run, trials=tuple(trials)))))
        if "] machine (" in candidate
    )
    return note


def asking(path, body=b""):
    """Return the notes of a run that asks for *path*."""
    run = make.ladder_run(LADDER)
    workload = replace(run.plan.workload, requests=(Request(path, body=body),))
    arms = tuple(replace(arm, workload=workload) for arm in run.plan.arms)
    return notes(conclude(summarise(replace(run, plan=replace(run.plan, arms=arms)))))


def test_who_would_share_a_secret_is_warned():
    """It cannot be left out: a run that is repeated would ask for something else."""
    all_notes = asking("/a?api_key=3f9c&page=2&author=me", b'{"password": "x", "passed": 1}')
    (note,) = (
        candidate for candidate in all_notes if candidate.startswith("Before you share this run")
    )
    assert "the values of api_key, password are in its folder" in note
    assert not any("share it" in note for note in asking("/a?token=&page=2&author=me"))


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({"baseline": [0.3]}, "(baseline 1/10; the trials are valid)"),
        ({"tuned": [0.9, 0.9]}, "(tuned 2/10; these trials are invalid)"),
        ({"baseline": [0.9], "tuned": [0.9] * 10},
         "(baseline 1/10, tuned 10/10; these trials are invalid)"),
        ({"baseline": [0.3], "tuned": [0.9] * 5},
         "(baseline 1/10, tuned 5/10; at worst: a trial is invalid)"),
        ({"tuned": [0.3] * 4 + [0.9]}, "(tuned 5/10; at worst: a trial is invalid)"),
    ],
    ids=["remark", "severe", "severe in both", "severe in one profile", "severe in one trial"],
)  # fmt: skip
def test_a_gates_note_says_no_more_than_holds_for_all(shares, said):
    """Where its effect is not the same in all of the trials, the worst is called the worst."""
    note = strangers(shares)
    assert said in note
    worst = max(shares, key=lambda name: max(shares[name]))
    assert f"). {worst}: " in note


def test_what_the_blocks_find_is_what_would_get_a_verdict():
    """Told from 1 is not enough: a verdict needs the floor as well."""
    summary = summarise(make.ladder_run(LADDER))
    step = replace(summary.steps[0].step["cpu"], detectable=1.1, verdict=Verdict.INCONCLUSIVE)
    summary = replace(
        summary,
        steps=(replace(summary.steps[0], step={"cpu": step}),),
        floors=summary.floors | {"cpu": 0.2},
    )
    assert any(
        "This many blocks detect changes of 1.32x" in note for note in notes(conclude(summary))
    )


def test_two_protocols_are_named():
    """A ratio across them is of servers and protocols; where all are asked in one, nothing is."""
    run = make.ladder_run(LADDER)
    assert not any("protocols" in note for note in notes(conclude(summarise(run))))
    first, *others = run.plan.arms
    uwsgi_arm = replace(first, workload=replace(first.workload, wire=Wire.UWSGI))
    mixed = replace(run, plan=replace(run.plan, arms=(uwsgi_arm, *others)))
    (note,) = (
        candidate for candidate in notes(conclude(summarise(mixed))) if "protocols" in candidate
    )
    assert "one connection per request: baseline; HTTP: tuned" in note


@pytest.mark.parametrize(
    ("most", "workers", "noted"),
    [(0.7, 2, True), (0.6, 2, False), (0.4, 4, True), (1.0, 1, False)],
)
def test_a_worker_with_far_more_than_its_share_is_noted(most, workers, noted):
    """Of several workers, with its share; a trial without the reading does not count."""
    run = make.ladder_run(LADDER)
    spread = {"workers.most": most, "workers.number": workers}
    trials = tuple(
        replace(trial, readings=trial.readings | spread)
        if trial.slot.arm.name == "tuned" and trial.slot.block
        else trial
        for trial in run.trials
    )
    worker_notes = [note for note in notes(conclude(summarise(replace(run, trials=trials))))
             if note.startswith("One worker received")]  # fmt: skip
    assert bool(worker_notes) is noted
    assert all(f"tuned {most:.0%} ({workers} workers)" in note for note in worker_notes)


def test_a_report_explains_the_terms_that_it_uses():
    """Percentiles mean something else where each request was due on the clock."""
    assert Term.SATURATED in terms(make.ladder_run(LADDER).plan)
    rated = [*terms(make.ladder_run(LADDER, load=Load(connections=64, rate=1000.0)).plan)]
    assert Term.DUE in rated
    assert Term.SATURATED not in rated
