"""What an interval says to a published claim."""

from dataclasses import replace

import pytest

from lab.analysis.compare import verdict_of
from lab.analysis.summary import summarise
from lab.bench.workloads import workload
from lab.model.comparison import Comparison, Estimate
from lab.model.diagnosis import Cause, Diagnosis, Standing
from lab.model.plan import Better, Load
from lab.model.profile import PrivateCopy
from studies import articles
from studies.articles.claim import Band, Claim, Decision, Inaction
from studies.articles.decide import cause_of, decide, decision_of, is_about
from tests.kit import builders as make

CLAIM = Claim("x", "article", "b is faster", "fib", "a", "b", ratio=1.5)


def interval(low, high, floor=0.05):
    """Return a comparison by throughput with that interval."""
    middle = (low * high) ** 0.5
    verdict = verdict_of(low, high, floor, Better.HIGHER)
    return Comparison("throughput", "a", "b", verdict, Estimate(middle, low, high, 10))


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (1.40, 1.60, "reproduced"),
        (1.06, 1.38, "reproduced"),
        (1.62, 1.80, "reproduced"),
        (1.63, 1.80, "larger"),
        (1.06, 1.37, "smaller"),
        (1.04, 1.37, "not seen"),
        (0.99, 1.01, "not seen"),
        (0.90, 1.10, "not seen"),
        (0.90, 1.38, "inconclusive"),
        (1.04, 1.60, "inconclusive"),
        (0.80, 0.95, "opposite"),
        (0.80, 0.96, "not seen"),
    ],
)
def test_a_published_gain_of_half_is_decided_by_the_whole_interval(low, high, decision):
    """With a floor of 5 % and 1.50x published, which stands for 1.375 to 1.625 times."""
    assert CLAIM.limits == (1.375, 1.625)
    assert decision_of(CLAIM, interval(low, high), 0.05) == decision


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (0.60, 0.70, "reproduced"),
        (0.50, 0.61, "larger"),
        (0.74, 0.90, "smaller"),
        (0.74, 0.96, "not seen"),
        (0.60, 1.02, "inconclusive"),
        (1.06, 1.20, "opposite"),
    ],
)
def test_a_published_loss_is_its_mirror_image(low, high, decision):
    """With 0.667x published, a third less."""
    claim = replace(CLAIM, ratio=1 / 1.5)
    assert decision_of(claim, interval(low, high), 0.05) == decision


CLOSE = replace(CLAIM, ratio=None, band="very close", meaning=Band("near", 0.8, 1.25))


@pytest.mark.parametrize("ratio", [None, 0.97, 1.2])
@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (0.98, 1.02, "reproduced"),
        (0.81, 0.95, "reproduced"),
        (1.10, 1.25, "reproduced"),
        (0.75, 1.10, "inconclusive"),
        (1.26, 1.40, "larger"),
        (0.70, 0.79, "larger"),
    ],
)
def test_two_that_are_called_alike_are_so_within_the_words_band(ratio, low, high, decision):
    """Whatever the noise, and whatever figures stand beside it; further apart is not opposite."""
    assert decision_of(replace(CLOSE, ratio=ratio), interval(low, high), 0.05) == decision


@pytest.mark.parametrize(
    ("band", "low", "high", "decision"),
    [
        (Band("twice", 2.0), 1.90, 2.10, "reproduced"),
        (Band("twice", 2.0), 8.00, 9.00, "reproduced"),
        (Band("twice", 2.0), 1.20, 1.90, "smaller"),
        (Band("almost", 1.6, 2.2), 1.50, 1.70, "reproduced"),
        (Band("almost", 1.6, 2.2), 3.98, 4.34, "larger"),
        (Band("almost", 1.6, 2.2), 1.10, 1.50, "smaller"),
        (Band("almost", 1.6, 2.2), 0.99, 1.01, "not seen"),
        (Band("almost", 1.6, 2.2), 0.70, 0.80, "opposite"),
        (Band("at most", None, 2.0), 0.12, 0.30, "reproduced"),
        (Band("at most", None, 2.0), 1.50, 2.50, "inconclusive"),
        (Band("at most", None, 2.0), 2.10, 2.50, "larger"),
    ],
)
def test_a_word_with_one_end_or_two_is_decided_by_them(band, low, high, decision):
    """At least twice has no upper end, and at most twice as slow no lower one."""
    claim = replace(CLAIM, ratio=None, band="word", meaning=band)
    assert decision_of(claim, interval(low, high), 0.05) == decision


def test_what_a_word_stands_for_is_said_with_the_outcome():
    """So that nobody has to look it up."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (2060, 4e-4)})
    sentence = decided(run, CLOSE).sentence
    assert 'says "very close", which stands for 0.8 to 1.25 times: they are as near' in sentence


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (1.06, 1.2, "reproduced"),
        (0.99, 1.02, "not seen"),
        (0.94, 1.02, "not seen"),
        (0.9, 1.2, "inconclusive"),
        (0.7, 0.9, "opposite"),
    ],
)
def test_a_chart_has_a_direction_and_no_size(low, high, decision):
    """Any effect in its direction reproduces it; none beyond the noise excludes it."""
    above = replace(CLAIM, ratio=None, direction="above")
    below = replace(CLAIM, ratio=None, direction="below")
    assert decision_of(above, interval(low, high), 0.05) == decision
    assert decision_of(below, interval(1 / high, 1 / low), 0.05) == decision


def test_noise_excludes_no_gain_that_makes_a_difference():
    """A run that cannot see a gain of 15 % does not say that there is none."""
    above = replace(CLAIM, ratio=None, direction="above")
    assert decision_of(above, interval(0.9, 1.15), 0.3) == "inconclusive"


def test_a_report_that_shows_no_difference_excludes_a_gain():
    """An interval within a grade of 5 % or less, in a run of less noise than that."""
    above = replace(CLAIM, ratio=None, direction="above")
    alike = replace(interval(0.998, 1.027), below=0.03)
    assert decision_of(above, alike, 0.021) == "not seen"
    assert decision_of(above, replace(alike, below=0.1), 0.021) == "inconclusive"


def decided(run, claim=CLAIM, **changes):
    """Return what *run*, with changes to its summary, says to *claim*."""
    return decide(claim, replace(summarise(run), **changes))


def test_the_sentence_has_the_figures_of_both():
    """The ratio with its interval, and the article's."""
    verdict = decided(make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}))
    assert verdict.decision is Decision.REPRODUCED
    assert verdict.sentence.startswith("1.5x [1.4")
    assert "where the article says 1.50x" in verdict.sentence
    assert (verdict.run, verdict.load) == ("20260101-120000-fib", "64 connections, 2 s")


@pytest.mark.parametrize(
    ("claim", "about"),
    [
        ({}, True),
        ({"workload": "hello"}, False),
        ({"reference": "z"}, False),
        ({"changed": "z"}, False),
    ],
)
def test_a_run_without_its_parts_cannot_decide(claim, about):
    """Another workload, or a profile that did not run."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}, blocks=3)
    assert is_about(replace(CLAIM, **claim), run.plan) is about


def test_in_an_open_loop_throughput_is_the_plans():
    """Both profiles answer what is asked; CPU per request still decides."""
    load = Load(connections=64, rate=500.0)
    run = make.ladder_run({"a": (500, 4e-4), "b": (500, 3e-4)}, load=load)
    claim = CLOSE
    assert not is_about(claim, run.plan)
    assert is_about(replace(claim, metric="cpu"), run.plan)


def test_another_request_of_the_same_workload_decides_nothing():
    """fib of another number is other work."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}, blocks=3)
    other = replace(run.plan.workload, path="/10")
    assert is_about(CLAIM, run.plan)
    assert not is_about(CLAIM, make.altered(run.plan, workload=other))


def test_a_withheld_throughput_is_no_answer_with_the_gates_numbers():
    """Dropped handshakes: the gate, the time for all requests, and the CPU that is left to see."""
    load = Load(connections=500, keepalive=False, requests=5000)
    run = make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}, load=load)
    dropped = {"listener.drops": 400.0, "tcp.TCPSynRetrans": 300.0}
    trials = tuple(replace(trial, readings=trial.readings | dropped) for trial in run.trials)
    verdict = decided(replace(run, trials=trials))
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "accept queue (a 10/10, b 10/10 trials)" in verdict.sentence
    assert "400 handshakes dropped" in verdict.sentence
    assert "All requests together took 2 s with a and 2 s with b." in verdict.sentence
    assert "CPU per request: 0.7" in verdict.sentence
    assert verdict.load == "5,000 requests, 500 at once"
    assert verdict.uncounted == "not counted: 1.00x by the time for all requests"


def lifetime_run(respawns, window=35.0):
    """Return a run of the two profiles of the claim, and of master, with these respawns."""
    run = make.ladder_run(
        {
            "disable-logging": (2000, 4e-4),
            "max-worker-lifetime": (2100, 4e-4),
            "master": (2000, 4e-4),
        },
        noise=0.04,
    )
    options = (("max-worker-lifetime", "30"),)
    listed = tuple(
        replace(profile, options=options) if profile.name != "disable-logging" else profile
        for profile in run.plan.profiles
    )
    summary = summarise(
        replace(run, plan=replace(make.altered(run.plan, profiles=listed), window=window))
    )
    rows = tuple(
        replace(row, values={**row.values, "respawns": respawns[row.profile.name]})
        for row in summary.rows
    )
    inaction = Inaction(
        "max-worker-lifetime", "respawns", "master", "{window:g} s, limit {limit}, {count:g} seen."
    )
    sides = {"reference": "disable-logging", "changed": "max-worker-lifetime"}
    claim = replace(CLAIM, ratio=1.08, inaction=inaction, **sides)
    return decide(claim, replace(summary, rows=rows))


def test_an_option_that_replaced_no_worker_has_no_effect_whatever_the_noise():
    """In windows longer than the limit none was replaced, and with a master they were."""
    counts = {"disable-logging": 0.0, "max-worker-lifetime": 0.0, "master": 4.0}
    verdict = lifetime_run(counts)
    assert verdict.decision is Decision.NOT_SEEN
    assert " 35 s, limit 30, 4 seen. The count decides where the interval cannot." in (
        verdict.sentence
    )


@pytest.mark.parametrize(
    ("changed", "master", "window"), [(0.0, 0.0, 35.0), (4.0, 4.0, 35.0), (0.0, 4.0, 3.0)]
)
def test_a_count_proves_nothing_where_it_could_not_have_counted(changed, master, window):
    """With no respawn anywhere, with respawns everywhere, or in windows shorter than the limit."""
    counts = {"disable-logging": 0.0, "max-worker-lifetime": changed, "master": master}
    verdict = lifetime_run(counts, window)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "seen" not in verdict.sentence


def test_an_inert_option_of_the_changed_profile_is_named():
    """What has no effect on either side is not what the claim is about."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (2000, 4e-4)}, blocks=3)
    verdict = decided(run, inert={"a": ("old: why.",), "b": ("old: why.", "new: because.")})
    assert "Without effect in b: new: because." in verdict.sentence


def diagnosis(profile, name, standing):
    """Return a diagnosis of ten trials."""
    return Diagnosis(profile, Cause(name, "evidence"), 10, 10, standing)


def test_only_a_cause_that_a_counter_run_has_shown_is_said():
    """Once where both sides have it; a withdrawn one gives way to the next."""
    summary = summarise(make.ladder_run({"a": (2000, 4e-4), "b": (2000, 4e-4)}, blocks=3))
    router = {
        "a": (diagnosis("a", "router", Standing.CONFIRMED),),
        "b": (
            diagnosis("b", "logging", Standing.WITHDRAWN),
            diagnosis("b", "router", Standing.CONFIRMED),
        ),
    }
    assert cause_of(CLAIM, replace(summary, diagnoses=router)) == "router in both"
    fits = router | {"b": (diagnosis("b", "router", Standing.CONSISTENT),)}
    assert cause_of(CLAIM, replace(summary, diagnoses=fits)) == "a: router"
    assert cause_of(CLAIM, replace(summary, diagnoses={"b": fits["b"]})) == ""


SPEEDS = {"a": (2000, 4e-4), "b": (3000, 3e-4)}
UWSGI = {"here": {"uwsgi": {"version": "2.0.31"}, "distributions": {"gunicorn": "23.0.0"}}}


@pytest.mark.parametrize(
    ("condition", "needs", "had"),
    [
        ({"cores": 2}, "at least 2 server cores", "had 1"),
        ({"connections": 500}, "at least 500 connections", "had 64"),
        ({"version": "uwsgi 2.1"}, "at least uwsgi 2.1", "had 2.0.31"),
        ({"version": "gunicorn 23.0.1"}, "at least gunicorn 23.0.1", "had 23.0.0"),
        ({"version": "granian 2"}, "at least granian 2", "does not say what it had"),
    ],
)
def test_a_run_that_lacks_what_a_claim_needs_decides_nothing(condition, needs, had):
    """Neither for the claim nor against it, however large the effect; the ratio is still shown."""
    run = make.ladder_run(SPEEDS, environments=UWSGI)
    assert decided(run).decision is Decision.REPRODUCED
    verdict = decided(run, replace(CLAIM, **condition))
    another_load = "connections" in condition
    assert verdict.decision is (Decision.NO_RUN if another_load else Decision.INCONCLUSIVE)
    assert verdict.sentence.startswith(f"the claim needs {needs}, this run {had}. Measured all")
    assert verdict.comparison.ratio is not None
    if "connections" in condition:
        assert verdict.takes == ("lab run a b --connections 500",)
    else:
        assert verdict.takes == ("lab run a b", needs)


@pytest.mark.parametrize(
    "condition",
    [
        {"cores": 1},
        {"connections": 64},
        {"version": "uwsgi 2.0.9"},
        {"version": "gunicorn 23.0.0"},
    ],
)
def test_a_run_that_has_what_a_claim_needs_decides_it(condition):
    """A condition is a least: as much, or more."""
    run = make.ladder_run(SPEEDS, environments=UWSGI)
    assert decided(run, replace(CLAIM, **condition)).decision is Decision.REPRODUCED


@pytest.mark.parametrize(
    ("load", "decision", "said"),
    [
        (Load(connections=64), Decision.NO_RUN, "open loop (--rate), this run has a closed"),
        (Load(connections=64, rate=500.0), Decision.REPRODUCED, "they are as near as that"),
    ],
)
def test_sameness_at_an_equal_rate_is_decided_in_an_open_loop_only(load, decision, said):
    """Where both wait for their replies, the faster one is asked more, and is not alike."""
    run = make.ladder_run({"a": (500, 4e-4), "b": (500, 4e-4)}, load=load)
    same = replace(CLOSE, metric="cpu", rate="equal")
    verdict = decided(run, same)
    assert verdict.decision is decision
    assert said in verdict.sentence


def test_cores_that_were_not_read_are_no_cores():
    """A run that does not say how many its server had decides nothing about parallelism."""
    run = make.ladder_run(SPEEDS)
    trials = tuple(
        replace(trial, readings={k: v for k, v in trial.readings.items() if k != "server.cores"})
        for trial in run.trials
    )
    verdict = decided(replace(run, trials=trials), replace(CLAIM, cores=1))
    assert verdict.sentence.startswith(
        "the claim needs at least 1 server core, this run does not say what it had."
    )


NOISY = make.ladder_run(SPEEDS, noise=0.2)
WHOLE = make.ladder_run(SPEEDS)
CHECKED = "a run that passed its noise check"


@pytest.mark.parametrize(
    ("run", "needs", "had"),
    [
        (NOISY, CHECKED, "did not"),
        (make.ladder_run(SPEEDS, blocks=1), CHECKED, "did not"),
        (replace(WHOLE, trials=WHOLE.trials[:-1]), "a run with all of its trials", "ended early"),
    ],
    ids=["noise", "one block", "stopped"],
)
def test_a_run_that_the_lab_refuses_decides_nothing(run, needs, had):
    """With a noise check that failed, or was not made, or an end before the last trial."""
    verdict = decided(run)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert f"the claim needs {needs}, this run {had}." in verdict.sentence
    assert verdict.takes == ("lab run a b", needs)


def test_an_exit_status_of_3_decides_nothing():
    """However large the difference is."""
    noisy = summarise(NOISY)
    assert noisy.exit_code == 3
    assert noisy.compare("throughput", "b", "a").ratio.value > 1.2
    assert decide(CLAIM, noisy).decision is Decision.INCONCLUSIVE


def test_a_broken_server_does_not_hide_a_failed_noise_check():
    """The exit status is 1 then, and the noise is the same."""
    run = make.ladder_run({**SPEEDS, "c": (2000, 4e-4)}, noise=0.2)
    trials = tuple(
        replace(trial, windows=(), failure="it did not start") if trial.measures("c") else trial
        for trial in run.trials
    )
    summary = summarise(replace(run, trials=trials))
    assert summary.exit_code == 1
    assert decide(CLAIM, summary).decision is Decision.INCONCLUSIVE


def test_trials_that_count_for_nothing_decide_nothing():
    """Those of a server whose replies were wrong."""

    def wrong(trial):
        windows = (replace(window, errors={"wrong body": 3000}) for window in trial.windows)
        return replace(trial, windows=tuple(windows)) if trial.measures("b") else trial

    verdict = decided(replace(WHOLE, trials=tuple(map(wrong, WHOLE.trials))))
    assert (verdict.decision, verdict.comparison.ratio) == (Decision.INCONCLUSIVE, None)


def test_a_claim_is_not_decided_by_a_profile_with_another_number():
    """The claim names a profile, and that has its own number of workers."""
    claim = next(claim for claim in articles.load() if claim.kind == "ratio")
    changed, reference = (
        replace(make.profile(name), private_copy=PrivateCopy()) for name in sides(claim)
    )
    plan = make.altered(make.plan(reference, changed), workload=workload(claim.workload))
    assert not is_about(claim, plan)
    ours = make.altered(
        plan, profiles=[replace(profile, private_copy=None) for profile in plan.profiles]
    )
    assert is_about(claim, ours)


def sides(claim):
    """Return the names of a claim's profiles."""
    return claim.changed, claim.reference
