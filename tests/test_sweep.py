"""A sweep: several values in every block, told value by value and all together."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from lab.analysis.points import summaries
from lab.analysis.swept import reading
from lab.cli.report import report_command
from lab.cli.run import run_command
from lab.errors import UsageError
from lab.experiment.plan import arm_of
from lab.experiment.sweep import Sweep, parse_sweep
from lab.model import Load, Runtime
from lab.report import figures, html_page, summary_json
from lab.report.sweep import document, documents, sentence
from lab.runs.folder import read_run
from lab.workloads import workload
from lab.workloads.question import Question
from tests.kit import builders as make
from tests.kit.lab_process import SMALL, compare, trials

VALUES = ("1", "20", "300", "1000")


def swept(values=VALUES, **speeds):
    """Return a run of profiles at *values* connections: name -> requests/s at each of them."""
    whole = []
    for number, value in enumerate(values):
        each = make.ladder_run({name: (at[number], 4e-4) for name, at in speeds.items()}, blocks=5)
        load = Load(connections=64)

        def moved(arm, value=value, load=load):
            at = arm_of(arm.profile, arm.workload, load, {"connections": value})
            return replace(at, role=arm.role)

        of = tuple(
            replace(
                trial,
                slot=replace(
                    trial.slot,
                    arm=moved(trial.slot.arm),
                    position=trial.slot.position + number * (len(speeds) + 1),
                ),
            )
            for trial in each.trials
        )
        whole.append((tuple(map(moved, each.plan.arms)), of, each))
    first = whole[0][2]
    plan = replace(first.plan, arms=tuple(arm for arms, _, _ in whole for arm in arms))
    return replace(first, plan=plan, trials=tuple(t for _, of, _ in whole for t in of))


@pytest.fixture
def crossing():
    """Return a run in which b is slower than a with one connection, and faster with more."""
    return summaries(swept(a=(2000, 2000, 2000, 2000), b=(1000, 2000, 6000, 6000)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "write a quantity and its values, as in connections=1,20,100"),
        ("users=1,2", "write a quantity and its values"),
        ("connections", "write a quantity and its values"),
        ("connections=", "a value is missing"),
        ("connections=1,,2", "a value is missing"),
        ("connections=1,2,1", "1 is there twice"),
        ("connections=1,many", "many is no number of connections"),
        ("connections=-1", "-1 is no number of connections"),
    ],
)
def test_what_is_no_sweep_is_refused_with_an_example(text, problem):
    """The message names the text, what is wrong, or how a sweep is written."""
    with pytest.raises(UsageError, match=re.escape(problem)):
        parse_sweep(text)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("connections=1,2", "--connections", "5"), "--connections 5: say one of them"),
        (("rate=100,200", "--rate", "300"), "--rate 300: say one of them"),
        (("connections=1,2", "--rate", "50%"), "a sweep has one rate"),
        (("connections=1,2", "--minutes", "5"), "say --blocks instead"),
        (("rate=fast"), "--rate 'fast'"),
        (("rate=50,100"), "write 50% for a share"),
    ],
)
def test_a_sweep_that_contradicts_another_option_is_refused(monkeypatch, arguments, problem):
    """In one line, and before anything starts."""
    monkeypatch.setattr("lab.cli.run.conduct", pytest.fail)
    words = [arguments] if isinstance(arguments, str) else arguments
    with pytest.raises(UsageError, match=re.escape(problem)):
        run_command.main(["tuned", "--sweep", *words], standalone_mode=False)


@pytest.mark.parametrize(
    ("sweep", "problem"),
    [
        (Sweep("connections", ("20000",)), "--connections 20000: between 1 and 10,000"),
        (Sweep("connections", ("0",)), "--connections 0"),
        (Sweep("size", ("1k",)), "fib has one size"),
    ],
)
def test_a_value_that_the_load_or_workload_cannot_have_is_refused(sweep, problem):
    """By the same rule as where it is the only one."""
    with pytest.raises(UsageError, match=re.escape(problem)):
        list(sweep.points(Load(), workload("fib")))


def test_sizes_are_the_variants_of_a_workload():
    """Each is asked for its own reply; one that is not there is named with those that are."""
    points = list(Sweep("size", ("1k", "10k")).points(Load(), workload("payload-1k")))
    assert [(p.at, p.workload.path) for p in points] == [
        ({"size": "1k"}, "/1024"),
        ({"size": "10k"}, "/10240"),
    ]
    with pytest.raises(UsageError, match="payload is there in 1k, 10k, 100k"):
        list(Sweep("size", ("7k",)).points(Load(), workload("payload-1k")))


def test_a_size_is_asked_for_with_the_headers_that_are_given():
    """And of the host; only a path is refused beside it, because the size is one."""
    asked = Question(headers=("X-Id: 7",), cookies=("a=b",), host="shop.example.org")
    for point in Sweep("size", ("1k", "10k")).points(Load(), workload("payload-1k", asked)):
        (request,) = point.workload.requests
        assert request.path == point.workload.path
        assert request.headers.reveal() == (("X-Id", "7"), ("Cookie", "a=b"))
        assert request.expect.body == b"x" * int(request.path[1:])
        assert point.workload.host == "shop.example.org"
    for paths in (("/1024", "/2048"), ("/2048",)):
        given = workload("payload-1k", Question(paths=paths))
        with pytest.raises(UsageError, match=r"--sweep size=1k: .*; leave out --path"):
            list(Sweep("size", ("1k",)).points(Load(), given))


def test_a_size_is_served_by_what_is_asked_for():
    """An environment of the user's is that of every value."""
    theirs = replace(workload("payload-1k"), runtime=Runtime(pinned=False))
    (point,) = Sweep("size", ("10k",)).points(Load(), theirs)
    assert point.workload.runtime == theirs.runtime


def test_one_value_is_the_comparison_without_a_sweep():
    """Nothing is named after the value, and the load is the one that it says."""
    (point,) = Sweep("connections", ("7",)).points(Load(), workload("fib"))
    assert (point.at, point.load) == ({}, Load(connections=7))


def test_the_sentence_says_where_each_profile_differs(crossing):
    """From which value on it pays, where most, and at how many values the noise check passed."""
    assert re.fullmatch(
        r"b is better than a at connections 300, 1000 \(most at \d+: 3\.\d+x \[.*\]\); "
        r"b is worse than a at connections 1 \(most at 1: 0\.\d+x \[.*\]\) by requests/s; "
        r"noise check passed at \d of 4 values\.",
        sentence(crossing),
    )


def test_a_table_has_a_row_for_each_value(crossing):
    """And a column for each profile; the ratios are of the same value."""
    measured = document(crossing).tables[0]
    assert [row[0].text for row in measured.rows] == list(VALUES)
    assert [column.title for column in measured.columns] == ["connections", "a", "b"]
    throughputs = next(t for t in document(crossing).tables if "against a" in t.title)
    assert throughputs.rows[0][1].text.endswith("worse")
    assert throughputs.rows[2][1].text.endswith("better")


def test_what_does_not_count_is_drawn_and_said(crossing):
    """A gate withholds the figure: the mark is hollow, the cell empty, and a note has the gate."""
    run = swept(a=(2000, 2000), b=(1000, 6000), values=("1", "20"))
    crowded = tuple(
        replace(t, readings={**t.readings, "machine.foreign_cpu": 1.5})
        if t.slot.arm.name == "b@20"
        else t
        for t in run.trials
    )
    found = summaries(replace(run, trials=crowded))
    assert not reading(found[1], "b", "throughput").counts
    assert reading(found[0], "b", "throughput").counts
    said = document(found)
    assert said.tables[0].rows[1][2].text == "-"
    assert any(note.startswith("machine (b at 20, 5/5)") for note in said.notes)


def test_a_run_that_ended_early_says_what_is_missing():
    """All finished trials are shown; the note names the values that lack some."""
    run = swept(a=(2000, 2000), b=(1000, 6000), values=("1", "20"))
    kept = [
        t for t in run.trials if not (t.slot.block == 4 and t.slot.arm.at["connections"] == "20")
    ]
    said = document(summaries(replace(run, trials=tuple(kept))))
    assert "Trials are missing, as the run ended early: connections 20 has 12 of 15." in said.notes


def test_the_chart_is_described_for_whoever_cannot_see_it(crossing):
    """With the ends of each line; the page holds it, and the tables below."""
    picture = figures.of_sweep(crossing)
    assert picture.title == "What connections changed"
    assert "By connections, from 1 to 1000. a, requests/s:" in picture.description
    page = html_page.render_sweep(crossing)
    assert page.count("<svg") == 1
    assert "<td>300</td>" in page


def test_of_many_values_each_is_asked_for_by_itself(crossing):
    """The report shows all together, and says how to see one; the file has all of them."""
    assert len(list(documents(crossing))) == 5
    assert any("--at 1`" in note for note in document(crossing).notes)


def test_a_sweep_is_run_and_told(tmp_path):
    """One folder, its trials mixed; the overview, each value's report, and one by itself."""
    compare(
        "lab", "run", "tuned", "--sweep", "connections=1,4", *SMALL, cwd=tmp_path, also=1
    )  # fmt: skip
    (folder,) = (tmp_path / "results").iterdir()
    assert {t["slot"]["arm"] for t in trials(tmp_path)} == {"tuned@1", "tuned@4"}
    written = (folder / "summary.json").read_text()
    assert [each["load"]["connections"] for each in json.loads(written)] == [1, 4]
    assert summary_json.render(*summaries(read_run(folder))) == written
    report = (folder / "report.md").read_text()
    assert [line for line in report.splitlines() if line.startswith("# ")] == [
        "# fib: connections 1, 4",
        "# fib: /9000, connections 1",
        "# fib: /9000, connections 4",
    ]
    assert {path.name for path in folder.glob("*.html")} == {
        "report.html",
        "report-1.html",
        "report-4.html",
    }
    with pytest.raises(UsageError, match="--at 9: one of 1, 4"):
        report_command.main([str(folder), "--at", "9"], standalone_mode=False)


def test_where_nothing_can_be_compared_the_sentence_says_so():
    """No difference and no comparison are two things; a table without a figure is left out."""
    run = swept(a=(2000, 2000), b=(1000, 6000), values=("1", "20"))
    crowded = {"machine.foreign_cpu": 1.5}
    trials = tuple(replace(t, readings={**t.readings, **crowded}) for t in run.trials)
    said = document(summaries(replace(run, trials=trials)))
    assert said.headline.startswith("Nothing can be compared by requests/s")
    assert said.tables == ()
