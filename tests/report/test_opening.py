"""What a terminal shows of a run unless all is asked for."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lab.analysis.conclude import conclude
from lab.analysis.load_limit import load_at_limit
from lab.analysis.points import summaries
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.analysis.thresholds import parse
from lab.bench.machine import project
from lab.bench.store.folder import read_run
from lab.model.comparison import MayBe
from lab.model.measurement import Failure
from lab.model.numbers import figure
from lab.model.plan import Role
from lab.model.profile import PrivateCopy
from lab.model.runtime import Alteration
from lab.report import opening, terminal
from lab.report.caveats import ONE_CORE, of_cores
from tests.kit import builders as make
from tests.kit.golden import check_golden

GOLDEN = Path(__file__).parent / "golden"
NEXT_STEPS = opening.NextSteps(".venv/bin/lab", "results/x", "results/x/report.html")


def shown(*run_summaries, width=80):
    """Return what is shown of summaries, in lines of *width* columns."""
    documents = opening.documents(conclude_run(run_summaries), NEXT_STEPS)
    return "\n".join(terminal.render_document(document, width) for document in documents)


def stored(name, width=80):
    """Return what is shown of a stored run."""
    return shown(*summaries(read_run(project.runs() / name)), width=width)


def test_the_ladders_first_screen():
    """What changes the reading, what changed, what did not, what limits, what to do next."""
    check_golden(GOLDEN / "first-ladder.txt", stored("ladder"))


def test_the_first_screen_of_a_run_with_faults(sustained):
    """Profiles that do not count stand there with their reason, and what is open with its ends."""
    check_golden(GOLDEN / "first-sustained.txt", shown(summarise(sustained)))


def test_the_first_screen_of_an_open_loop(open_loop):
    """CPU per request is told instead of the rate, which is the plan's."""
    check_golden(GOLDEN / "first-open-loop.txt", shown(summarise(open_loop)))


def test_a_sweep_shows_its_sentence_and_what_was_measured():
    """At each value requests/s or CPU, and p99; the one core stands above them."""
    text = stored("open-loop")
    assert text.index("one core") < text.index("CPU per request\n") < text.index("p99\n")
    assert "--at 50%" in text


@pytest.mark.parametrize("name", ["ladder-two-cores", "echo-unix-1k", "open-loop"])
def test_no_first_screen_hides_what_weakens_it(name):
    """One core, shared cores, a load at its limit and noise stand before the first figure."""
    conclusion = conclude_run(summaries(read_run(project.runs() / name)))
    text = " ".join(shown(*conclusion.summaries).split())
    for point in conclusion.points:
        assert not point.on_one_core or "one core" in text
        assert not point.summary.run.shares_cores or "shared their cores" in text
        assert (
            load_at_limit(point.summary) is None
            or conclusion.sweep
            or "a lower bound there" in text
            or not (
                {*load_at_limit(point.summary).busy}
                & {step.profile for step in point.summary.steps}
            )
        )
        assert conclusion.sweep or point.noise is None or "Noise check" in text or "Noisy" in text
    assert "undecided" not in text
    assert "consistent with" not in text


def test_of_a_bound_without_an_answer_the_end_that_is_known_is_told():
    """The load's limit leaves the other end open, so no second figure stands beside it."""
    (summary,) = summaries(read_run(project.runs() / "tuned-granian"))
    open_ = summary.compare("throughput", "granian", "tuned")
    assert open_.may_be is MayBe.SMALLER
    text = stored("tuned-granian", width=200)
    assert f"inconclusive: at most {figure(open_.ratio.high)}x " in text


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("tornado-hello", "no gain, loss possible: 1.12 to 1.35x"),
        # Judged after some of its blocks, by the noise of those.
        ("keep-alive", "inconclusive: 0.634 to 0.959x, may be noise (< 9.0%)"),
        ("ladder-two-cores", "inconclusive: between 0.499x and 1.37x"),
    ],
)
def test_an_inconclusive_range_on_one_side_of_1_names_the_noise(name, ends):
    """A range that holds 1 needs no reason, nor one that surely is no gain."""
    lines = stored(name, width=200)
    assert re.search(rf"{re.escape(ends)}(  |$)", lines, re.MULTILINE)


def test_a_step_that_may_be_worse_but_gains_nothing_is_not_inconclusive():
    """A separate table lists it, without the advice of more time."""
    run = make.ladder_run({"a": (2000, 480e-6), "b": (1880, 512e-6)}, noise=0.06, blocks=10)
    text = shown(summarise(run))
    assert "NO GAIN IN REQUESTS/S\nb / a  gain < 2%, loss possible: 0.877 to 1.01x\n" in text
    assert "INCONCLUSIVE" not in text


def test_a_profile_that_ran_alone_is_told_so(walkthrough):
    """There is nothing that changed."""
    plan = walkthrough.plan
    trials = [trial for trial in walkthrough.trials if trial.slot.arm.name == "baseline"]
    alone = replace(walkthrough, plan=replace(plan, arms=plan.arms[:1]), trials=tuple(trials))
    text = shown(summarise(alone))
    assert "baseline ran alone" in text
    assert "WHAT CHANGED" not in text


@pytest.mark.parametrize(("minutes", "first"), [(None, 0), (None, 1), (None, 2), (15.0, 1)])
def test_of_a_run_that_ended_after_one_trial_only_what_is_true_is_printed(minutes, first):
    """A profile whose server never ran failed in nothing, and more blocks would help."""
    run = make.ladder_run({"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)})
    only = (run.trials[first],)
    ended = replace(run, plan=replace(run.plan, minutes=minutes), trials=only, ended=False)
    text = " ".join(shown(summarise(ended)).split())
    missing = "tuned" if first != 1 else "baseline"
    assert f"! Not measured: the run ended before the first trial of {missing}. " in text
    assert "do not count" not in text
    assert "will not help" not in text


def test_what_limits_each_profile_has_its_standing(diagnosed):
    """Proved by a counter-run, or likely; a refuted cause limits nothing."""
    text = " ".join(shown(diagnosed).split())
    assert "router (verified by a counter-run): the http router" in text
    assert "router (likely)" in text
    assert "logging" not in text.split("WHAT LIMITS IT")[1].split("TRY")[0]


def test_a_run_of_ours_names_the_users_ini_in_what_to_do_next():
    """Its figures are of our application, so the next commands are about the reader's."""
    run = make.ladder_run({"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)}, blocks=4)
    assert ".venv/bin/lab run ~/shop/uwsgi.ini safety" in shown(summarise(run))


def test_a_run_of_asgi_servers_names_no_ini():
    """uWSGI, which reads inis, cannot serve their application."""
    run = make.ladder_run({"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)}, blocks=4)
    arms = [
        replace(arm, profile=make.started_by(replace(arm.profile, server="theirs"), command))
        for arm in run.plan.arms
        for command in [("uvicorn", "a:b")]
    ]
    text = shown(summarise(replace(run, plan=replace(run.plan, arms=tuple(arms)))))
    assert "uwsgi.ini" not in text
    assert "lab run uvicorn granian-asgi --app shop:app --path /items/3" in text


@pytest.mark.parametrize(
    ("path", "altered", "next_step"),
    [
        (
            "/srv/shop/uwsgi.ini",
            (Alteration("socket", "a", "b"),),
            "lab lint /srv/shop/uwsgi.ini",
        ),
        ("/srv/lab/profiles/tuned.ini", (), None),
        ("/srv/shop/gunicorn-k-uvicorn_worker.U-e7c0", (), None),
    ],
)
def test_a_command_in_quotes_and_a_profile_of_ours_are_no_files_to_lint(path, altered, next_step):
    """The path of a command is its folder and its name; ours serves their application."""
    run = make.ladder_run({"a": (2000, 480e-6), "b": (2400, 380e-6)}, blocks=4)
    copy = PrivateCopy(Path("/srv/shop"), altered)
    arms = [
        replace(arm, profile=replace(arm.profile, path=Path(path), private_copy=copy))
        for arm in run.plan.arms
    ]
    text = shown(summarise(replace(run, plan=replace(run.plan, arms=tuple(arms)))))
    assert re.findall(r"lab lint \S+", text) == ([next_step] if next_step else [])


@pytest.mark.parametrize(("status", "said"), [(0, "measured"), (3, "inconclusive")])
def test_the_exit_status_is_said_in_words(status, said):
    """As the last line, below all else."""
    assert opening.exit_text(status).startswith(f"exit {status}: ")
    assert said in opening.exit_text(status)


def test_an_inconclusive_run_names_its_reason():
    """Noise, trials that do not count, or a limit."""
    quiet = make.ladder_run({"a": (2000, 480e-6), "b": (2400, 380e-6)}, blocks=9)
    noisy = make.ladder_run({"a": (2000, 480e-6), "b": (2400, 380e-6)}, noise=0.4, blocks=9)
    short = replace(quiet, trials=quiet.trials[:3])
    for run, reason in ((noisy, "too noisy"), (short, "too few valid trials")):
        conclusion = conclude_run([summarise(run)])
        assert opening.exit_text(conclusion.status, conclusion) == f"exit 3: inconclusive: {reason}"
    limited = conclude_run([summarise(short)], [parse("cpu(b/a) > 0.79")])
    assert opening.exit_text(limited.status, limited).endswith("trials and a limit is inconclusive")


def test_nobody_is_told_to_try_what_was_done():
    """An ini of one's own for who gave --app, and a fixed rate after a noisy run."""
    run = make.ladder_run({"a": (2000, 480e-6), "b": (2400, 380e-6)}, noise=0.4, blocks=4)
    assert "TRY ON" in shown(summarise(run))
    app_run = replace(run, command="lab run a b --app shop:app --path /")
    assert "TRY ON" not in shown(summarise(app_run))


def test_a_step_is_listed_in_one_of_five_ways(sustained):
    """A step is changed, alike, without a gain, open or not counted, and is listed once."""
    the_opening = conclude(summarise(sustained)).opening
    unlike = (*the_opening.changed, *the_opening.no_gain, *the_opening.inconclusive)
    changes = (*unlike, *the_opening.uncounted)
    names = [change.changed for change in changes if not change.together]
    names += [pair.changed for pairs in the_opening.no_difference.values() for pair in pairs]
    assert sorted(names) == sorted(step.profile for step in summarise(sustained).steps)


def test_one_core_is_told_where_numbers_of_workers_differ(summary):
    """With the same numbers there is nothing for a second core to show."""
    profiles = [replace(one, options=(("threads", "2"),)) for one in summary.run.plan.profiles]

    def caveats(count_of):
        """Return the caveats of the run, whose profiles have so many processes."""
        trials = []
        for trial in summary.run.trials:
            arm = trial.slot.arm
            number = next(n for n, one in enumerate(profiles) if one.name == arm.profile.name)
            arm = replace(arm, profile=profiles[number])
            facts = {**trial.facts, "processes": str(count_of(number))}
            trials.append(replace(trial, slot=replace(trial.slot, arm=arm), facts=facts))
        run = replace(summary.run, trials=tuple(trials))
        conclusion = replace(conclude(summary), summary=replace(summary, run=run), on_one_core=True)
        return [*of_cores(conclusion)]

    assert caveats(lambda number: 3) == []
    assert caveats(lambda number: 3 + number) == [ONE_CORE]


@pytest.mark.parametrize(
    ("void", "counts"),
    [
        (lambda slot: True, {"a": "10 of 10", "b": "5 of 5"}),
        (lambda slot: slot.arm.name == "a", {"a": "10 of 10"}),
        (lambda slot: slot.arm.role is Role.AA, {"a": "5 of 10"}),
        (lambda slot: slot.block == 0, {"a": "2 of 10", "b": "1 of 5"}),
    ],
)
def test_what_does_not_count_is_counted_of_all_trials(void, counts):
    """The reference has two trials in each block."""
    run = make.ladder_run({"a": (2000, 480e-6), "b": (2400, 380e-6)}, blocks=5)
    trials = [
        replace(trial, windows=(), failed=Failure.SERVER, failure="x")
        if void(trial.slot)
        else trial
        for trial in run.trials
    ]
    table = opening.uncounted(conclude(summarise(replace(run, trials=tuple(trials)))))
    cells = {row[0].text: row[1].text for row in table.rows}
    assert {name: cells[name].partition(" trials")[0] for name in counts} == {
        name: f"server died, {share}" for name, share in counts.items()
    }


def test_an_advice_that_is_the_same_for_all_profiles_is_given_once():
    """Each profile has its reason."""
    walkthrough = conclude_run(summaries(read_run(project.runs() / "walkthrough"))).points[0]
    by_throughput = replace(walkthrough, metric="throughput")
    rows = [row[1].text for row in opening.uncounted(by_throughput).rows]
    assert len(rows) > 5
    advice = rows[0].partition(". ")[2]
    assert [row for row in rows if advice in row] == rows[:1]
