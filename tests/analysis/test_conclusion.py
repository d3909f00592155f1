"""What a run comes to, as values: names, kinds and numbers."""

from dataclasses import replace

from lab.analysis.conclude import conclude
from lab.analysis.conclusion import Trust
from lab.analysis.load_limit import load_at_limit
from lab.analysis.summary import summarise
from lab.model.diagnosis import Cause, Diagnosis, Standing
from lab.model.notice import Means, Remedy
from tests.kit import builders as make

LADDER = {"a": (2000, 480e-6), "b": (2000, 480e-6), "c": (4000, 240e-6)}


def limited(processes):
    """Return a run, judged, in which so many generator processes are the limit of c."""
    run = make.ladder_run(LADDER)
    trials = tuple(
        replace(trial, windows=(replace(trial.windows[0], cpu=1.99, wait=0.0),) * processes)
        if trial.slot.arm.name == "c"
        else trial
        for trial in run.trials
    )
    return summarise(replace(run, trials=trials))


def test_who_needs_more_load_is_told_what_gives_it():
    """One process more than the run had; a script need not read a sentence for it."""
    limit = load_at_limit(limited(2))
    assert limit.remedy == Remedy(Means.GENERATORS, 3)
    assert list(limit.busy) == ["c"]
    assert load_at_limit(summarise(make.ladder_run(LADDER))) is None


def test_profiles_that_share_a_cause_share_its_limit():
    """In ladder order, those together that follow one another; another standing is another one."""

    def because(name, standing):
        return {name: (Diagnosis(name, Cause("router", "x"), 9, 10, standing),)}

    summary = replace(
        summarise(make.ladder_run({**LADDER, "d": (2000, 480e-6)})),
        diagnoses=because("a", Standing.CONFIRMED)
        | because("b", Standing.CONSISTENT)
        | because("d", Standing.CONSISTENT),
    )
    proved, fitting, unexplained = conclude(summary).limits
    assert (proved.profiles, proved.standing) == (("a",), Standing.CONFIRMED)
    assert fitting.stretches == (("b",), ("d",))
    assert (unexplained.profiles, unexplained.cause) == (("c",), None)
    assert conclude(summary).limit_of("d").cause.name == "router"
    assert conclude(summary).limit_of("c") is None


def test_a_clean_run_can_be_trusted():
    """No warning changes its reading."""
    assert conclude(summarise(make.ladder_run(LADDER))).trust is Trust.YES
