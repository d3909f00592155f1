"""What a run comes to, as values: names, kinds and numbers."""

from dataclasses import replace

from lab.analysis.conclude import conclude
from lab.analysis.conclusion import Term, Trust
from lab.analysis.footnotes import More
from lab.analysis.summary import summarise
from lab.model.diagnosis import Cause, Diagnosis, Standing
from lab.model.plan import Load
from tests.kit import builders as make

LADDER = {"a": (2000, 480e-6), "b": (2000, 480e-6), "c": (4000, 240e-6)}


def limited(processes):
    """Return what a run comes to in which so many generator processes are the limit of c."""
    run = make.ladder_run(LADDER)
    trials = tuple(
        replace(each, windows=(replace(each.windows[0], cpu=1.99, wait=0.0),) * processes)
        if each.slot.arm.name == "c"
        else each
        for each in run.trials
    )
    return conclude(summarise(replace(run, trials=trials)))


def test_who_needs_more_load_is_told_what_gives_it():
    """One process more than the run had; a script need not read a sentence for it."""
    found = limited(2).generator_limit
    assert (found.more, found.number) == (More.GENERATORS, 3)
    assert list(found.busy) == ["c"]
    assert conclude(summarise(make.ladder_run(LADDER))).generator_limit is None


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


def test_a_report_explains_the_terms_that_it_uses():
    """Percentiles mean something else where each request was due on the clock."""
    closed = conclude(summarise(make.ladder_run(LADDER)))
    assert Term.SATURATED in closed.terms
    rated = conclude(summarise(make.ladder_run(LADDER, load=Load(connections=64, rate=1000.0))))
    assert Term.DUE in rated.terms
    assert Term.SATURATED not in rated.terms
    assert closed.trust is Trust.YES
