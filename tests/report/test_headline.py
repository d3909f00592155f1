"""The sentence that a report opens with."""

import re
from dataclasses import replace

import pytest

from lab.analysis import health
from lab.analysis.compare import floor
from lab.analysis.conclude import conclude, judged_by
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.model.comparison import Estimate
from lab.model.diagnosis import Cause, Diagnosis, Standing
from lab.report import figures, headline, html_page, markdown, svg, terminal
from lab.report.caveats import ONE_CORE
from lab.report.plots import forest
from lab.report.tables import document
from lab.report.warnings import with_status
from tests.kit import builders as make

LADDER = {"baseline": (2000, 480e-6), "listen": (2000, 480e-6), "tuned": (8000, 60e-6)}


@pytest.fixture
def bound():
    """Return the summary of a run in which the generator is the limit of `tuned`."""
    run = make.ladder_run(LADDER)
    trials = [
        replace(
            trial,
            windows=(replace(trial.windows[0], cpu=1.99, wait=0.0),),
            readings=trial.readings | {"server.busiest": 0.5},
        )
        if trial.slot.arm.name == "tuned"
        else trial
        for trial in run.trials
    ]
    return summarise(replace(run, trials=tuple(trials)))


@pytest.fixture
def crowded():
    """Return the summary of a run of which no valid trial: other programs used the CPU."""
    run = make.ladder_run(LADDER)
    trials = (
        replace(trial, readings=trial.readings | {"machine.foreign_cpu": 1.68})
        for trial in run.trials
    )
    return summarise(replace(run, trials=tuple(trials)))


def test_why_nothing_counts_is_said_first(crowded):
    """With the figure, and no advice that cannot help: more blocks would count as little."""
    page = document(conclude(crowded))
    assert "(machine: other programs used 1.68 cores (limit 0.50))" in page.headline
    (banner,) = page.banners
    assert banner.startswith("Nothing can be compared")
    assert "ore blocks will not help" in banner


def test_tables_without_a_value_are_left_out(crowded):
    """What was measured says how many trials count, and why."""
    assert [table.title for table in document(conclude(crowded)).tables] == ["Measured"]
    assert "Each step, against the profile above it" not in html_page.render(conclude(crowded))


def test_without_a_noise_check_no_floor_is_known(crowded):
    """The least that it may be is no reading."""
    floors = {fact.label: fact.value for fact in headline.facts(conclude(crowded))}
    assert floors["Floor"] == "-, -"


def test_who_is_not_spoken_of_is_named_first(bound):
    """`tuned` is four times as fast, and says nothing of what the others allow to be said."""
    assert judged_by(bound) == "throughput"
    sentence = headline.sentence(conclude(bound))
    assert sentence.startswith(
        "Requests/s of tuned do not count (generator-bound). No measurable difference"
    )


def test_a_reference_line_is_not_missed(bound):
    """Its throughput is no profile's."""
    plan = bound.run.plan
    *others, tuned = plan.profiles
    line = replace(tuned, reply="Pong!")
    summary = summarise(replace(bound.run, plan=make.altered(plan, profiles=(*others, line))))
    assert headline.sentence(conclude(summary)).startswith("No measurable difference from baseline")


def test_a_run_has_one_figure_of_its_noise(bound):
    """In the sentence, in the warning, in the table and in the picture: what the floor is of."""
    wide = replace(bound.aa["throughput"], ratio=Estimate(1.055, 0.93, 1.2, 10))
    aa = bound.aa | {"throughput": wide}
    warned = health.warnings(bound.run, aa, (), ("baseline", "tuned"), (1, 1), failing={})
    conclusion = conclude(replace(bound, aa=aa, warnings=warned))
    picture = figures.of_changes(conclusion)["throughput"]
    texts = (
        headline.sentence(conclusion),
        *map(with_status, warned),
        " ".join(cell.text for table in document(conclusion).tables for cell in table.rows[0]),
        *picture.caveats,
        " ".join(text.get_text() for axes in picture.figure.axes for text in axes.texts),
    )
    assert len(warned) == len(picture.caveats) - 1 == 1
    assert [text for text in texts if "14%" not in text] == [ONE_CORE]
    assert floor(wide) == pytest.approx(0.136, abs=0.001)


def test_what_can_be_found_is_what_would_get_a_verdict(bound):
    """Told from 1 is not enough: a verdict needs the floor as well."""
    step = replace(bound.steps[0].step["throughput"], detectable=1.1)
    steps = (replace(bound.steps[0], step={"throughput": step}),)
    summary = replace(bound, steps=steps, floors=bound.floors | {"throughput": 0.2})
    assert {fact.label: fact.value for fact in headline.facts(conclude(summary))}[
        "Smallest detectable change"
    ] == "1.32x"


RUNGS = {
    "baseline": (2000, 480e-6),
    "safety": (4000, 240e-6),
    "tuned": (8000, 120e-6),
    "granian": (10_000, 100e-6),
}
OURS, ARTICLES = "app.wsgi:app", "loadtests.workloads.fib._article:app"


def served(applications, names=None):
    """Return the summary of a ladder whose profiles serve *applications*, one each in order."""
    run = make.ladder_run({name: RUNGS[name] for name in names or RUNGS}, noise=0.001)
    serving = dict(zip(names or RUNGS, applications, strict=True))
    return summarise(make.serving(run, serving))


def opening(summary):
    """Return what the sentence says of the changes, without the intervals."""
    sentence = re.sub(r" \[[\d., ]+\]", "", headline.sentence(conclude(summary)))
    return re.split("; (?:[a-z-]+ is probably limited|noise check)", sentence)[0]


def test_settings_and_another_application_are_two_factors():
    """A server's settings twice, another application twice: never one factor of four."""
    names = ["baseline", "safety", "tuned"]
    summary = served([ARTICLES, ARTICLES, OURS], names)
    assert opening(summary) == (
        "By settings, safety serves 2.00x the requests/s of baseline; "
        "by another application, tuned serves 2.00x the requests/s of safety"
    )
    assert headline.sentence(conclude(summary)).count("x [") == 2
    for report in (
        terminal.render(conclude(summary), 400),
        markdown.render(conclude_run([summary])),
    ):
        assert headline.sentence(conclude(summary)) in report


def test_what_follows_another_application_is_a_factor_of_its_own():
    """A peer that serves what `tuned` serves is told from `tuned`, not from the baseline."""
    sentence = opening(served([ARTICLES, ARTICLES, OURS, OURS]))
    assert sentence.endswith("of safety; granian serves 1.25x the requests/s of tuned")


def test_without_the_profile_between_the_factors_are_not_told_apart():
    """The sentence then says that more than the application differs, and what is missing."""
    summary = served([ARTICLES, ARTICLES, OURS], ["baseline", "safety", "tuned"])
    plan = summary.run.plan
    run = replace(
        summary.run,
        plan=make.altered(plan, profiles=(plan.profiles[0], plan.profiles[2])),
        trials=tuple(trial for trial in summary.run.trials if trial.slot.arm.name != "safety"),
    )
    assert opening(summarise(run)) == (
        "By another application and more (safety is not in this run), "
        "tuned serves 4.00x the requests/s of baseline"
    )


def test_one_step_to_another_application_is_that_alone():
    """With the profile that it is a step from as the first there are no settings to speak of."""
    sentence = opening(served([ARTICLES, OURS], ["safety", "tuned"]))
    assert sentence == "By another application, tuned serves 2.00x the requests/s of safety"


def test_a_profile_named_before_the_one_that_it_is_against_has_a_sentence():
    """The second is against the third, which is against none of the run."""
    summary = served(["one", "two", "three"], ["baseline", "safety", "tuned"])
    first, second, third = summary.run.plan.profiles
    profiles = (first, replace(second, against="tuned"), replace(third, against="connect"))
    plan = make.altered(summary.run.plan, profiles=profiles)
    sentence = opening(summarise(replace(summary.run, plan=plan)))
    assert sentence.endswith("tuned serves 4.00x the requests/s of baseline")


def test_one_application_everywhere_is_not_mentioned():
    """As in a run with --app, whatever the profiles themselves would serve."""
    same = served([OURS] * 4)
    assert opening(same).startswith("granian serves 5.00x the requests/s of baseline, for 0.20")
    mixed = served([ARTICLES, ARTICLES, OURS, OURS])
    plan = mixed.run.plan
    workload = replace(plan.workload, name="shop:app", app="shop:app")
    summary = summarise(replace(mixed.run, plan=make.altered(plan, workload=workload)))
    for report in (
        terminal.render(conclude(same)),
        terminal.render(conclude(summary)),
        markdown.render(conclude_run([summary])),
    ):
        assert "another application" not in report


def test_tables_mark_each_comparison_with_another_application():
    """A step by its own pair, and all steps together by the baseline's."""
    text = terminal.render(conclude(served([ARTICLES, ARTICLES, OURS, OURS])), 160)
    steps, together = text.split("All steps together")
    assert re.findall(r"^(\w+) \(another application\)", steps, re.MULTILINE) == ["tuned"]
    marked = re.findall(r"^(\w+) \(another application\)", together, re.MULTILINE)
    assert marked == ["tuned", "granian"]


def test_the_figure_marks_them_with_a_diamond_and_in_words():
    """Filled where a step goes to another application, hollow where all steps together do."""
    summary = served([ARTICLES, ARTICLES, OURS, OURS])
    rows = forest._rows(summary, "throughput")
    assert [(row.step_differs, row.baseline_differs) for row in rows[1:]] == [
        (False, False),
        (True, True),
        (False, True),
    ]
    picture = figures.pictures(conclude(summary))["forest"]
    marks = [line.get_marker() for axes in picture.figure.axes for line in axes.get_lines()]
    assert marks.count(forest.OTHER) == 3  # `tuned` twice, and `granian` once
    drawn = svg.standalone("forest", picture)
    assert drawn.count("another application") >= 3  # the row, the key, the description
    plain = figures.pictures(conclude(served([OURS] * 4)))["forest"]
    assert "another application" not in svg.standalone("forest", plain)


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (Standing.CONFIRMED, "; http-socket is limited by router; noise check passed: "),
        (Standing.CONSISTENT, "; http-socket is probably limited by router; noise"),
        (Standing.WITHDRAWN, "the CPU per request; noise check passed: "),
    ],
)
def test_the_sentence_says_what_limits_what_changed_most(summary, standing, said):
    """And how far that is proved; nothing where a counter-run has refuted it."""
    diagnosis = Diagnosis("http-socket", Cause("router", "evidence"), 9, 10, standing)
    other = Diagnosis("baseline", Cause("logging", "evidence"), 9, 10, Standing.CONFIRMED)
    diagnoses = {"http-socket": (diagnosis,), "baseline": (other,)}
    assert said in headline.sentence(conclude(replace(summary, diagnoses=diagnoses)))


def test_where_nothing_changed_it_says_what_limits_the_baseline(bound):
    """So that the reader knows where to look next."""
    diagnosis = Diagnosis("baseline", Cause("router", "evidence"), 9, 10, Standing.CONFIRMED)
    sentence = headline.sentence(conclude(replace(bound, diagnoses={"baseline": (diagnosis,)})))
    assert (
        "No measurable difference from baseline by requests/s; baseline is limited by r" in sentence
    )


def test_the_sentence_says_whether_the_noise_check_passed(bound):
    """By the same rule as the run's banner and its exit status."""
    off = replace(bound.aa["throughput"], ratio=Estimate(1.3, 1.2, 1.4, 10))
    noisy = replace(bound, aa=bound.aa | {"throughput": off})
    assert "noise check passed: " in headline.sentence(conclude(bound))
    assert "noise check failed: 40% noise in requests/s, same server twice, more than wanted" in (
        headline.sentence(conclude(noisy))
    )


def test_two_pairs_that_leave_everything_open_are_no_noise_check(bound):
    """A quick run on a busy machine had two valid pairs, and printed "23788% noise"."""
    off = replace(bound.aa["throughput"], ratio=Estimate(1.3, 0.01, 200.0, 2))
    noisy = replace(bound, aa=bound.aa | {"throughput": off})
    sentence = headline.sentence(conclude(noisy))
    assert "the noise of this machine is unknown" in sentence
    assert "noise in" not in sentence
