"""What a run's summary says, its banners and its exit status."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lab.analysis.summary import summarise
from lab.model.measurement import Failure
from lab.model.plan import Load, Role
from tests.kit import builders as make
from tests.kit.said import warned

CALM = {"baseline": (2000, 500e-6), "http-socket": (8000, 120e-6)}


def altered(run, change, *, name, blocks=range(1000)):
    """Return *run* with *change* made to the trials of profile *name*, both arms of it."""
    return replace(
        run,
        trials=tuple(
            change(trial) if trial.slot.arm.name == name and trial.slot.block in blocks else trial
            for trial in run.trials
        ),
    )


def unstarted(trial):
    """Return *trial* as one whose server never answered."""
    return replace(trial, windows=(), readings={}, failure="it ended with status 1")


def starved(trial):
    """Return *trial* with one connection that got everything."""
    window = trial.windows[0]
    return replace(trial, windows=(replace(window, replies=(window.ok,) + (0,) * 63),))


def test_a_row_holds_medians_of_the_profiles_own_trials():
    """The A/A trials are the machine's, not the profile's: 1, 2 and 9 thousand have median 2."""
    trials = [
        make.paced(speed, 1e-4, block=block, position=position, role=role)
        for block, first in enumerate([1000, 2000, 9000])
        for position, (speed, role) in enumerate([(first, Role.PROFILE), (50, Role.AA)])
    ]
    (row,) = summarise(make.run(make.plan(blocks=3), trials)).rows
    assert row.values["throughput"] == 2000
    assert (row.counts["throughput"], row.valid, row.total) == (3, 3, 3)


def test_an_invalid_trial_is_counted_and_never_averaged():
    """Four of ten starved: the median is of the six others, and the finding says four."""
    run = altered(make.ladder_run(CALM), starved, name="http-socket", blocks=range(4))
    row = summarise(run).rows[1]
    assert (row.valid, row.total, row.counts["cpu"]) == (6, 10, 6)
    assert [(tally.gate.name, tally.trials) for tally in row.tallies] == [("starvation", 4)]


def test_a_step_is_from_the_profile_it_is_against():
    """c is written against a, so it is compared with a, though b stands between them."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (4000, 2e-4), "c": (2000, 4e-4)})
    a, b, c = run.plan.profiles
    plan = make.altered(run.plan, profiles=(a, b, replace(c, against="a")))
    step = summarise(replace(run, plan=plan)).steps[1]
    assert (step.profile, step.before, step.instead_of) == ("c", "a", None)
    assert step.step["cpu"].reference == "a"


def test_a_step_whose_start_is_not_in_the_run_names_what_stands_for_it():
    """tuned is against safety; in a run of baseline and tuned the step is from baseline."""
    run = make.ladder_run({"baseline": (2000, 4e-4), "tuned": (4000, 2e-4)})
    first, last = run.plan.profiles
    plan = make.altered(run.plan, profiles=(first, replace(last, against="safety")))
    (step,) = summarise(replace(run, plan=plan)).steps
    assert (step.before, step.instead_of) == ("baseline", "safety")


def test_a_step_is_within_a_server_where_it_can_be():
    """Of tuned, granian and listen, listen is a step from tuned, and granian has nothing else."""
    run = make.ladder_run(dict.fromkeys(("tuned", "granian", "listen"), (2000, 4e-4)), blocks=3)
    first, peer, last = run.plan.profiles
    peer = replace(peer, server="command", against="safety")
    profiles = (first, peer, replace(last, against="cython"))
    steps = summarise(replace(run, plan=make.altered(run.plan, profiles=profiles))).steps
    assert [step.before for step in steps] == ["tuned", "tuned"]


@st.composite
def without_circles(draw):
    """Draw what each of a to e is against: nothing, one that is absent, or one before it."""
    order, of = draw(st.permutations("abcde")), {}
    for number, name in enumerate(order):
        of[name] = draw(st.sampled_from([None, "absent", *order[:number]]))
    return [of[name] for name in "abcde"]


@settings(max_examples=30, deadline=None)
@given(without_circles())
@example(["c", "c", "absent", "c", None])
def test_no_profile_comes_back_to_itself_by_steps(against):
    """In whatever order a run names its profiles: b is against c, and named before it."""
    of = dict(zip("abcde", against, strict=True))
    assert not any(in_circle(name, of) for name in of)
    run = make.ladder_run(dict.fromkeys(of, (2000, 4e-4)), blocks=2)
    profiles = tuple(replace(profile, against=of[profile.name]) for profile in run.plan.profiles)
    steps = summarise(replace(run, plan=make.altered(run.plan, profiles=profiles))).steps
    before = {step.profile: step.before for step in steps}
    assert not any(in_circle(name, before) for name in before)


def in_circle(name, before):
    """Return whether a profile is reached again from itself; the catalogue refuses such files."""
    seen, at = set(), before.get(name)
    while at is not None and at not in seen:
        seen.add(at)
        at = before.get(at)
    return name in seen


def test_no_step_stands_on_a_reference_line():
    """Of baseline, bare and tuned, tuned is a step from baseline, or else as it is written."""
    run = make.ladder_run(dict.fromkeys(("baseline", "bare", "tuned"), (2000, 4e-4)), blocks=3)
    first, line, last = run.plan.profiles
    line = replace(line, reply="x")

    def before(against):
        profiles = (first, line, replace(last, against=against))
        (step,) = summarise(replace(run, plan=make.altered(run.plan, profiles=profiles))).steps
        return step.before

    assert before("safety") == "baseline"
    assert before("bare") == "bare"


def test_a_calm_run_ends_well():
    """Two profiles, a narrow A/A arm: no banner, status 0."""
    summary = summarise(make.ladder_run(CALM))
    assert (summary.warnings, summary.exit_code) == ((), 0)


def test_a_noisy_machine_says_so_in_plain_words():
    """An A/A interval wider than 5 % is a banner with the blocks that it would take, status 3."""
    summary = summarise(make.ladder_run(CALM, noise=0.2))
    assert summary.exit_code == 3
    assert "cannot be detected in this run" in warned(summary)[0]
    assert "--blocks " in warned(summary)[0]


def test_a_machine_that_no_number_of_blocks_would_help_says_so():
    """Above --blocks 1000, which is the most there is, only a quieter machine is advised."""
    banner = warned(summarise(make.ladder_run(CALM, noise=2.0)))[0]
    assert "Use a quieter machine." in banner
    assert "--blocks" not in banner


def test_two_runs_of_one_server_that_differ_are_status_3():
    """A narrow A/A interval beyond 2 % is a difference where there is none."""
    slower = {Role.PROFILE: 500e-6, Role.AA: 530e-6}
    trials = [
        replace(
            make.paced(2000, slower[trial.slot.arm.role], of=trial.slot.arm.profile),
            slot=trial.slot,
        )
        for trial in make.ladder_run(CALM, noise=0.0).trials
    ]
    run = make.ladder_run(CALM, noise=0.0)
    summary = summarise(replace(run, trials=tuple(trials)))
    assert summary.exit_code == 3
    assert "more than 2%" in warned(summary)[0]
    assert "CPU per request 1.06x" in warned(summary)[0]


def test_noisy_throughput_alone_is_a_banner_and_status_0():
    """CPU per request decides: throughput of a shared machine is its neighbours'."""
    noisy = make.ladder_run(CALM, noise=0.2)
    trials = [
        replace(
            trial,
            readings=trial.readings
            | {
                "server.cpu_user": CALM[trial.slot.arm.name][1] * trial.windows[0].ok / 2 * 2.1,
                "server.cpu_system": 0.0,
            },
        )
        for trial in noisy.trials
    ]
    summary = summarise(replace(noisy, trials=tuple(trials)))
    assert summary.exit_code == 0
    (banner,) = warned(summary)
    assert "requests/s" in banner
    assert "Exit status" not in banner


def test_a_server_that_never_started_is_status_1():
    """It is named first, whatever else is wrong."""
    summary = summarise(altered(make.ladder_run(CALM), unstarted, name="http-socket"))
    assert summary.exit_code == 1
    assert warned(summary)[0].startswith("Did not start: http-socket.")


def failing(trial):
    """Return *trial* with replies of which 2 % failed."""
    window = trial.windows[0]
    return replace(trial, windows=(replace(window, errors={"status": window.ok // 50}),))


def crashed(trial):
    """Return *trial* as one in which the server ended."""
    return replace(trial, failure="the server ended before the window's end")


@pytest.mark.parametrize("failed", [unstarted, crashed, failing])
@pytest.mark.parametrize(
    ("blocks", "share", "status"),
    [(1, "in 1 of 10 trials", 0), (4, "in 4 of 10 trials", 0), (5, "in 5 of 10 trials", 1)],
)
def test_a_server_that_fails_now_and_then_is_told(failed, blocks, share, status):
    """In how many trials; from half of them on the figures of the others are no success."""
    run = altered(make.ladder_run(CALM), failed, name="http-socket", blocks=range(blocks))
    summary = summarise(run)
    assert summary.exit_code == status
    assert warned(summary)[0].startswith(f"Failed {share}: http-socket. ")


def test_servers_that_fail_alike_are_told_together():
    """One banner for all, those of the same share in one list."""
    run = make.ladder_run(CALM | {"a": (2000, 5e-4), "b": (2000, 5e-4), "c": (2000, 5e-4)})
    run = altered(run, failing, name="http-socket")
    for name in ("a", "b"):
        run = altered(run, crashed, name=name, blocks=range(2))
    (banner,) = warned(summarise(run))
    assert banner.startswith("Failed in every trial: http-socket; in 2 of 10 trials: a, b. ")


def test_a_server_whose_load_was_given_up_did_start():
    """A generator that ends at a reset says nothing of the start; its trials count for nothing."""

    def given_up(trial):
        return replace(unstarted(trial), failure="ab ended with status 104", failed=Failure.LOAD)

    summary = summarise(altered(make.ladder_run(CALM), given_up, name="http-socket"))
    assert summary.exit_code == 3
    assert not any("Never started" in banner for banner in warned(summary))
    assert [tally.gate.name for tally in summary.rows[1].tallies] == ["no load"]


def test_one_profile_with_valid_trials_is_nothing_to_compare():
    """With all trials of the other invalid the machine could not answer: status 3."""
    summary = summarise(altered(make.ladder_run(CALM), starved, name="http-socket"))
    assert summary.exit_code == 3
    assert warned(summary)[0].startswith("Nothing can be compared")


def test_an_interrupted_run_says_how_far_it_came():
    """What was measured is reported, under a banner."""
    run = make.ladder_run(CALM)
    summary = summarise(replace(run, trials=run.trials[:12]))
    assert warned(summary) == ("Ended early: 12 of 30 planned trials were measured.",)


def test_a_counted_load_tells_its_whole_time_though_its_throughput_is_withheld():
    """Dropped handshakes void requests/s; how long the users waited is what is to be seen."""
    load = Load(connections=500, keepalive=False, requests=5000)
    burst = make.window(
        ok=5000, wall=3.2, replies=(10,) * 500, latency={30_000: 4000, 3_040_000: 1000},
        latency_sum=3160.0,
    )  # fmt: skip
    dropped = make.READINGS | {"listener.drops": 400.0, "tcp.TCPSynRetrans": 400.0}
    trials = [
        make.trial(burst, block=block, position=position, role=role, load=load, readings=dropped)
        for block in range(2)
        for position, role in enumerate([Role.PROFILE, Role.AA])
    ]
    (row,) = summarise(make.run(make.plan(blocks=2, load=load), trials)).rows
    assert "throughput" not in row.values
    assert row.values["cpu"] == pytest.approx(1.89 / 5000)
    assert (row.wall, row.slowest) == (3.2, 3.04)
