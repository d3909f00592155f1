"""Throughput where the generator is at its limit: it counts, and is the least that it can be."""

import json
import re
from dataclasses import replace

import pytest

from lab.analysis.across import across
from lab.analysis.conclude import conclude
from lab.analysis.gates import judge
from lab.analysis.gates.effort import limiting_share
from lab.analysis.judging import judge_run
from lab.analysis.looks import settled
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.analysis.thresholds import parse
from lab.model.comparison import MayBe, Verdict
from lab.model.numbers import ratio
from lab.model.plan import Load
from lab.report import across as across_report
from lab.report import figures, headline, html_page, markdown, summary_json, svg, terminal
from lab.report.plots import forest
from lab.report.thresholds import why
from tests.kit import builders as make

AT, BELOW = {"cpu": 1.5, "wait": 0.3}, {"cpu": 1.5, "wait": 0.298}
"""Of a window of 2 s: exactly 90 % of it, and 89.9 %."""


def ladder(busy, of=5, generator="engine"):
    """Return a run of three profiles; the generator is full in the first *of* blocks of *busy*."""
    run = make.ladder_run({"a": (2000, 480e-6), "b": (4000, 240e-6), "c": (4100, 235e-6)}, blocks=5)
    trials = []
    for trial in run.trials:
        full = trial.slot.arm.name in busy and trial.slot.block < of
        windows = tuple(replace(window, **AT) for window in trial.windows)
        trials.append(replace(trial, windows=windows) if full else trial)
    return replace(run, trials=tuple(trials), generator=generator)


def marked(busy, of=5):
    """Return the names of the profiles of such a run whose throughput is the least."""
    rows = summarise(ladder(busy, of)).rows
    return [row.profile.name for row in rows if row.at_least("throughput")]


def test_the_mark_begins_at_90_percent():
    """Of the busiest process: what the others do beside it is nothing to it."""
    idle = make.window(cpu=0.1, wait=0.0)
    for windows, share in (
        ((make.window(**AT),), 0.9),
        ((idle, make.window(**AT)), 0.9),
        ((make.window(**BELOW),), 0.899),
        ((idle, make.window(**BELOW)), 0.899),
    ):
        assert limiting_share([make.trial(*windows)]) == pytest.approx(share, abs=1e-9)
    run = make.ladder_run({"a": (2000, 480e-6)}, blocks=2)
    for change, is_marked in ((AT, True), (BELOW, False)):
        trials = [
            replace(trial, windows=(replace(trial.windows[0], **change),)) for trial in run.trials
        ]
        (row,) = summarise(replace(run, trials=tuple(trials))).rows
        assert row.at_least("throughput") is is_marked
        assert not row.at_least("cpu")


def test_a_trial_with_both_at_their_limit_counts():
    """No gate fires, and that is why there is a mark."""
    assert judge(make.trial(make.window(**AT))) == ()


def test_half_of_the_trials_make_the_mark():
    """Fewer may have met a neighbour that took the generator's core for a while."""
    assert marked({"b"}, of=5) == marked({"b"}, of=3) == ["b"]
    assert marked({"b"}, of=2) == []


def test_an_open_loop_that_keeps_its_rate_is_not_marked():
    """Its throughput is the plan's; one that falls behind shows a limit, and may be anyone's."""
    load = Load(64, rate=1000.0)
    kept = make.window(ok=2000, planned=2000, queued=0, unfinished=0, **AT)
    behind = make.window(
        ok=1000, planned=2000, queued=900, latency={900_000: 1000}, service={900: 1000}, **AT
    )
    assert limiting_share([make.trial(kept, load=load)]) == 0
    assert limiting_share([make.trial(behind, load=load)]) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("busy", "may_be", "cell"),
    [
        (set(), None, "| {} better |"),
        ({"b"}, MayBe.LARGER, "| at least {} better |"),
        ({"a"}, MayBe.SMALLER, "| at most {} inconclusive |"),
        ({"a", "b"}, MayBe.EITHER, "| {} inconclusive, both limited |"),
    ],
)
def test_a_ratio_says_what_else_it_may_be(busy, may_be, cell):
    """By the sides that were kept from more: in its cell, in a remark and in the JSON."""
    summary = summarise(ladder(busy))
    comparisons = summary.steps[0].step
    assert comparisons["throughput"].may_be == may_be
    assert comparisons["cpu"].may_be is None
    text = markdown.render(conclude_run([summary]))
    assert cell.format(ratio(comparisons["throughput"].ratio)) in text
    content = json.loads(summary_json.render(conclude_run([summary])))
    assert content["steps"][0]["step"]["throughput"].get("may_be") == may_be
    values = {row["name"]: row["values"] for row in content["profiles"]}
    assert {name for name in values if values[name]["throughput"].get("at_least")} == busy
    assert not any("at_least" in values[name]["cpu"] for name in values)
    if may_be is MayBe.EITHER:
        both = "both saturated the load generator: the ratio may be larger or smaller (b / a)"
        assert both in text
    else:
        assert ("the ratio may be" in text) == (may_be is not None)


def test_a_run_at_the_generators_limit_is_judged_by_cpu_per_request():
    """The ratio of two lower bounds says nothing, and more blocks change nothing."""
    summary = summarise(ladder({"a", "b", "c"}))
    assert all(settled(step.step["throughput"]) for step in summary.steps)
    sentence = headline.sentence(conclude(summary))
    assert sentence.startswith(
        "Requests/s of a and 2 more are the generator's limit, so CPU per request decides. "
    )
    assert "the CPU per request of a" in sentence
    assert "requests/s of" not in sentence


@pytest.mark.parametrize(
    ("busy", "side", "said", "verdict"),
    [({"b"}, MayBe.LARGER, "at least", " better"), ({"a"}, MayBe.SMALLER, "at most", "")],
)
def test_the_figure_of_the_ladder_says_it_too(busy, side, said, verdict):
    """By a hollow mark that points to where the ratio may lie, in the key, and in words."""
    picture = figures.of_changes(conclude(summarise(ladder(busy))))["throughput"]
    drawn = svg.standalone("forest", picture)
    assert re.search(rf">{said} 2\.0\dx{verdict}<", drawn)
    assert f">{said}: load generator saturated<" in drawn
    assert f"b {said} 2.0" in picture.description
    marks = {line.get_marker() for line in picture.figure.axes[0].get_lines()}
    assert forest.BOUNDS[side] in marks
    free = figures.of_changes(conclude(summarise(ladder(set()))))["throughput"]
    assert not re.search("at (least|most)", svg.standalone("forest", free))


def test_every_form_of_the_report_says_at_least():
    """The terminal's, Markdown, the page and its first sentence; one remark says what to do."""
    summary = summarise(ladder({"b", "c"}))
    for text in (
        terminal.render(conclude(summary)),
        markdown.render(conclude_run([summary])),
        html_page.render(conclude(summary)),
    ):
        line = " ".join(text.split())
        assert (
            line.count("at least: the load generator was saturated, its busiest process for 90%")
            == 1
        )
        assert "(b 90%, c 90%)" in line
        assert (
            "Use --generators 2 if the load generator has a CPU for each, or read CPU per" in line
        )
        assert "at least 4,0" in line
    assert "c serves at least 2.0" in headline.sentence(conclude(summary))


@pytest.mark.parametrize(
    ("generator", "processes", "remedy"),
    [
        ("engine", 1, "Use --generators 2 if"),
        ("engine x2", 2, "Use --generators 3 if"),
        ("locust", 1, "Use --processes 2 if"),
        ("locust fasthttp x4", 4, "Use --processes 5 if"),
        ("ab", 1, "Use the lab's engine instead of ab"),
    ],
)
def test_the_remark_names_what_gives_the_load_more(generator, processes, remedy):
    """By the door that the run came through, and how many processes it had."""
    run = ladder({"b"}, generator=generator)
    trials = tuple(replace(trial, windows=trial.windows * processes) for trial in run.trials)
    assert remedy in markdown.render(conclude_run([summarise(replace(run, trials=trials))]))


@pytest.mark.parametrize(
    ("cores", "gate", "remark"),
    [
        ({"machine.cores": 4.0, "server.cores": 2.0}, "--generators 2", "Use --generators 2 if"),
        (
            {"machine.cores": 2.0, "server.cores": 1.0},
            "process: use fewer",
            "Use a machine with more cores, or",
        ),
    ],
)
def test_no_process_is_advised_that_would_be_refused(cores, gate, remark):
    """Where each core has its process there is other advice."""
    others = {name: value for name, value in make.READINGS.items() if name != "server.cores"}
    idle = others | {"server.cpu_user": 0.5, "server.busiest": 0.4}
    trial = make.trial(make.window(**AT), readings=idle | cores)
    (advice,) = [
        finding.advice for finding in judge(trial) if finding.gate.name == "generator-bound"
    ]
    assert gate in advice
    assert ("--generators" in advice) == ("--generators" in gate)
    run = ladder({"b"})
    trials = tuple(replace(trial, readings=others | cores) for trial in run.trials)
    assert remark in markdown.render(conclude_run([summarise(replace(run, trials=trials))]))


def test_a_threshold_and_a_comparison_of_runs_say_it_too():
    """A script that fails on a ratio prints why that may be another one."""
    limited, free = summarise(ladder({"b"})), summarise(ladder(set()))
    judged = judge_run(parse("rps(b/a) < 2.5"), limited)
    assert why(judged).endswith("b saturated the load generator: the ratio may be larger")
    assert "limit:" not in why(judge_run(parse("rps(b/a) < 2.5"), free))
    notes = across_report.document(across(free, limited), ()).notes
    assert sum("the load generator was saturated with b" in note for note in notes) == 1


def echoing(generator, server):
    """Return a run of two echo servers that are equally fast, at such shares of their cores."""
    speeds = {"echo-go": (20000, 4e-5), "echo-uvloop": (20000, 4e-5)}
    run = make.ladder_run(speeds, blocks=10, noise=0.004)
    used = {"server.cpu_user": 2.1 * server, "server.cpu_system": 0.0, "server.busiest": server}
    return replace(
        run,
        trials=tuple(
            replace(
                trial,
                windows=tuple(replace(w, cpu=2 * generator, wait=0.0) for w in trial.windows),
                readings={**trial.readings, **used},
            )
            for trial in run.trials
        ),
    )


@pytest.mark.parametrize(
    ("generator", "server", "verdict"),
    [
        (0.5, 0.95, Verdict.NO_DIFFERENCE),
        # Generator-bound: throughput does not count.
        (0.95, 0.5, Verdict.INVALID),
        # Both at their limit: it counts, and either server may be faster.
        (0.95, 0.95, Verdict.INCONCLUSIVE),
    ],
)
def test_fast_servers_are_not_called_the_same_by_a_full_generator(generator, server, verdict):
    """In no report; the first case shows that they could be."""
    (step,) = summarise(echoing(generator, server)).steps
    assert step.step["throughput"].verdict is verdict
