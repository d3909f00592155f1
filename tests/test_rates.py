"""Arrival rates as they are written, and the capacity that a share is of."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.analysis.conclude import conclude
from lab.analysis.points import points, summaries
from lab.analysis.summary import summarise
from lab.analysis.sweep import RunConclusion, conclude_run
from lab.bench.store.folder import read_run
from lab.bench.trials.conduct import Outcome
from lab.bench.trials.plan import arm_of
from lab.bench.trials.rates import Rate, capacity, parse_rates
from lab.bench.trials.runner import run
from lab.cli.run.command import run_command
from lab.errors import UnmeasuredError, UsageError
from lab.model.plan import Role
from lab.report import summary_json
from tests.kit import builders as make
from tests.kit.lab_process import compare, trials
from tests.kit.scripted import Script, arm, plan


def test_rates_are_a_number_or_a_share():
    """Several in one option, separated by commas."""
    assert parse_rates("50%, 2000,80.5%") == (
        Rate(0.5, is_share=True),
        Rate(2000, is_share=False),
        Rate(0.805, is_share=True),
    )


def test_a_share_is_of_the_capacity():
    """And a number stays what it is."""
    assert [rate.of(3000) for rate in parse_rates("50%,100")] == [1500, 100]


@pytest.mark.parametrize("text", ["", "fast", "0", "50%%", "-3", "900%", "1000,"])
def test_what_is_no_rate_is_refused_with_an_example(text):
    """The message shows how a rate is written, or what a share may be."""
    with pytest.raises(UsageError, match=r"--rate .*(50%|between 1%)"):
        parse_rates(text)


@pytest.mark.parametrize("text", ["200000", "50%,0.5/s"])
def test_a_rate_that_cannot_be_kept_is_refused_before_any_run(text):
    """A share beside it would have its capacity measured first, for minutes."""
    with pytest.raises(UsageError, match=r"--rate .*: between 1 and 100,000"):
        parse_rates(text)


def test_the_capacity_is_the_slowest_profiles_and_names_those_that_are_not_known():
    """A profile without a throughput may be slower still, so it is not passed over in silence."""
    run = make.ladder_run({"a": (3000, 3e-4), "b": (2000, 4e-4), "c": (1000, 9e-4)}, blocks=3)
    dropped = {"listener.drops": 9.0, "tcp.TCPSynRetrans": 9.0}
    trials = tuple(
        replace(trial, readings=trial.readings | dropped) if trial.slot.arm.name == "c" else trial
        for trial in run.trials
    )
    known_capacity = capacity(summarise(replace(run, trials=trials)))
    assert (known_capacity.profile, known_capacity.unknown) == ("b", ("c",))
    assert known_capacity.rate == pytest.approx(2000, rel=0.05)
    assert str(known_capacity).endswith(" a second; not known, and left out: c")


def test_a_capacity_that_cannot_be_measured_is_no_wrong_usage():
    """It is the machine's doing: status 3, with the reason and what to do."""
    run = make.ladder_run({"a": (3000, 3e-4), "b": (2000, 4e-4)}, blocks=3)
    crowded = {"machine.foreign_cpu": 1.5}
    trials = tuple(replace(trial, readings={**trial.readings, **crowded}) for trial in run.trials)
    with pytest.raises(UnmeasuredError, match=r"machine: other programs .*--rate 2000/s") as caught:
        capacity(summarise(replace(run, trials=trials)))
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--rate", "50%", "--load", "walkthrough"), "this --load counts its requests"),
        (("--rate", "50%", "--fail-if", "rps(tuned/baseline) < 1"), "in an open loop the plan"),
        (("--rate", "50%,fast"), "--rate 'fast'"),
        (("--rate", ""), "--rate ''"),
    ],
)
def test_what_no_open_loop_can_do_is_refused_before_its_capacity_is_measured(
    monkeypatch, arguments, problem
):
    """A run of minutes would come first."""
    monkeypatch.setattr("lab.cli.run.comparison.conduct", pytest.fail)
    with pytest.raises(UsageError, match=re.escape(problem)):
        run_command.main(["baseline", "tuned", *arguments], standalone_mode=False)


@pytest.mark.parametrize("rates", ["100", "100,200"])
def test_several_rates_print_one_json_document(monkeypatch, capsys, rates):
    """A list of summaries, one for each rate; one rate, the summary itself."""
    summary = summarise(make.ladder_run({"a": (2000, 4e-4), "b": (2000, 4e-4)}, blocks=3))
    monkeypatch.setattr(
        "lab.cli.options.execution.prepare",
        lambda *_: SimpleNamespace(generators=1, plan=summary.run.plan),
    )
    monkeypatch.setattr("lab.cli.options.execution.announcement", lambda _: ())
    conclusion = RunConclusion((conclude(summary),) * len(rates.split(",")), None)
    monkeypatch.setattr("lab.cli.run.comparison.conduct", lambda *_: Outcome(Path("x"), conclusion))
    run_command.main(["--rate", rates, "--json"], standalone_mode=False)
    printed = json.loads(capsys.readouterr().out)
    assert [document["run"] for document in (printed if "," in rates else [printed])] == [
        summary.run.name
    ] * len(rates.split(","))


@pytest.fixture
def at_two_rates():
    """Return the trials of a scripted run of two profiles at two rates, and its plan."""
    arms = tuple(
        arm_of(the_arm.profile, the_arm.workload, replace(the_arm.load, rate=rate), {"rate": name})
        for name, rate in (("50%", 1000.0), ("80%", 1600.0))
        for the_arm in map(arm, "ab")
    )
    script = Script()
    whole = replace(plan("a"), arms=arms, blocks=3)
    run(whole, script.parts(), script)
    return make.run(whole, script.trials)


def test_every_block_holds_every_rate(at_two_rates):
    """With the reference twice at each, in an order of the block's own."""
    for block in range(3):
        slots = [t.slot for t in at_two_rates.trials if t.slot.block == block]
        assert sorted((s.arm.name, s.arm.role, s.arm.load.rate) for s in slots) == [
            ("a@50%", Role.AA, 1000.0),
            ("a@50%", Role.PROFILE, 1000.0),
            ("a@80%", Role.AA, 1600.0),
            ("a@80%", Role.PROFILE, 1600.0),
            ("b@50%", Role.PROFILE, 1000.0),
            ("b@80%", Role.PROFILE, 1600.0),
        ]


def test_each_rate_is_told_as_a_run_of_its_own(at_two_rates):
    """Its arms have their profiles' names, and its noise is that of its own A/A arm."""
    low, high = points(at_two_rates)
    assert [(point.plan.load.rate, len(point.trials)) for point in (low, high)] == [
        (1000.0, 9), (1600.0, 9),
    ]  # fmt: skip
    assert [the_arm.name for the_arm in high.plan.arms] == ["a", "b"]
    assert {t.slot.arm.name for t in high.trials} == {"a", "b"}
    assert [summary.planned for summary in summaries(at_two_rates)] == [9, 9]


def test_a_run_at_one_rate_is_its_own_point():
    """Nothing is renamed where there is nothing to tell apart."""
    single = make.ladder_run({"a": (2000, 4e-4)}, blocks=2)
    assert points(single) == (single,)


@pytest.mark.slow
def test_several_rates_are_one_run_with_a_report_for_each(tmp_path):
    """One folder whose trials are mixed; its report has each rate, and can be repeated."""
    compare(
        "lab", "run", "tuned", "--rate", "100,200", "--blocks", "1", "--window", "0.3",
        "--no-confirm", cwd=tmp_path, also=1,
    )  # fmt: skip
    (folder,) = (tmp_path / "results").iterdir()
    assert {t["slot"]["arm"] for t in trials(tmp_path)} == {"tuned@100/s", "tuned@200/s"}
    written = (folder / "summary.json").read_text()
    assert [point["load"]["rate"] for point in json.loads(written)] == [100.0, 200.0]
    report = (folder / "report.md").read_text()
    assert [line for line in report.splitlines() if line.startswith("# ")] == [
        "# fib: /9000, rate 100/s", "# fib: /9000, rate 200/s",
    ]  # fmt: skip
    assert {path.name for path in folder.glob("*.html")} == {"report-100.html", "report-200.html"}
    assert summary_json.render(conclude_run(summaries(read_run(folder)))) == written
