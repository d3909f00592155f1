"""A sweep: several values in every block, told value by value and all together."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.points import summaries
from lab.analysis.sweep import conclude_run, conclude_sweep
from lab.analysis.sweep_values import exit_code, reading
from lab.analysis.warning import Noise, NoiseUnknown
from lab.bench.store.folder import read_run
from lab.bench.trials.conduct import prepare
from lab.bench.trials.plan import arm_of
from lab.bench.trials.sweep import Sweep, parse_sweep
from lab.bench.workloads import workload
from lab.bench.workloads.question import Question
from lab.cli.options.execution import application, understand
from lab.cli.options.table import Job
from lab.cli.report import report_command
from lab.cli.run.command import run_command
from lab.config.scale import scaled
from lab.errors import UsageError
from lab.model.measurement import Failure
from lab.model.plan import Load, Role
from lab.model.runtime import Runtime
from lab.report import figures, html_page, summary_json
from lab.report.plots.sweep import LEAST
from lab.report.sweep import document, documents, first, sentence
from lab.report.warnings import STATUS_3
from tests.kit import builders as make
from tests.kit.lab_process import SMALL, compare, trials
from tools.pages import files

VALUES = ("1", "20", "300", "1000")


def swept(values=VALUES, name="connections", **speeds):
    """Return a run of profiles at *values* of a quantity: name -> requests/s at each of them."""
    whole = []
    for number, value in enumerate(values):
        point_run = make.ladder_run(
            {who: (at[number], 4e-4) for who, at in speeds.items()}, blocks=5
        )
        load = Load(connections=64)

        def moved(arm, value=value, load=load):
            at = arm_of(arm.profile, arm.workload, load, {name: value})
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
            for trial in point_run.trials
        )
        whole.append((tuple(map(moved, point_run.plan.arms)), of, point_run))
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
        ("workers=1,two", "two is no number of workers"),
        ("threads=1,02", "02 is no number of threads"),
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
    monkeypatch.setattr("lab.cli.run.comparison.conduct", pytest.fail)
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


@pytest.mark.parametrize("transport", ["", "unix-"])
def test_a_size_keeps_the_rest_of_what_is_asked(transport):
    """Over a UNIX socket every size goes over a UNIX socket."""
    the_workload = workload(f"echo-{transport}10k")
    points = Sweep("size", ("1k", "100k")).points(Load(), the_workload)
    assert [(p.workload.name, p.workload.size, p.workload.transport) for p in points] == [
        (f"echo-{transport}1k", 1024, the_workload.transport),
        (f"echo-{transport}100k", 102_400, the_workload.transport),
    ]


@pytest.mark.parametrize("name", ["fib", "outbound-slow", "echo-lines-1k"])
def test_a_size_is_refused_where_there_is_none_to_choose(name):
    """A number, a delay and lines are no size; those that have one are named."""
    with pytest.raises(UsageError, match="--sweep size=10k: "):
        list(Sweep("size", ("10k",)).points(Load(), workload(name)))


def test_a_size_is_asked_for_with_the_headers_that_are_given():
    """And of the host; only a path is refused beside it, because the size is one."""
    question = Question(headers=("X-Id: 7",), cookies=("a=b",), host="shop.example.org")
    for point in Sweep("size", ("1k", "10k")).points(Load(), workload("payload-1k", question)):
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
        sentence(conclude_sweep(crossing)),
    )


def test_a_table_has_a_row_for_each_value(crossing):
    """And a column for each profile; the ratios are of the same value."""
    measured = document(conclude_sweep(crossing)).tables[0]
    assert [row[0].text for row in measured.rows] == list(VALUES)
    assert [column.title for column in measured.columns] == ["connections", "a", "b"]
    throughputs = next(
        t for t in document(conclude_sweep(crossing)).tables if "against a" in t.title
    )
    assert throughputs.rows[0][1].text.endswith("worse")
    assert throughputs.rows[2][1].text.endswith("better")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("echo-unix-1k", "echo-unix: size 1k to 10k, 2 values"),
        ("payload-1k", "payload: size 1k to 10k, 2 values"),
    ],
)
def test_the_title_says_what_was_asked_in_every_size(name, title):
    """Without the size of the first, and with the socket."""
    run = swept(values=("1k", "10k"), name="size", a=(2000, 2000))
    arms = tuple(replace(arm, workload=workload(name)) for arm in run.plan.arms)
    trials = tuple(
        replace(t, slot=replace(t.slot, arm=replace(t.slot.arm, workload=workload(name))))
        for t in run.trials
    )
    run = replace(run, plan=replace(run.plan, arms=arms), trials=trials)
    assert document(conclude_sweep(summaries(run))).title == title


def test_what_does_not_count_is_drawn_and_said(crossing):
    """A gate withholds the figure: the mark is hollow, the cell empty, and a note has the gate."""
    run = swept(a=(2000, 2000), b=(1000, 6000), values=("1", "20"))
    crowded = tuple(
        replace(t, readings={**t.readings, "machine.foreign_cpu": 1.5})
        if t.slot.arm.name == "b@20"
        else t
        for t in run.trials
    )
    swept_summaries = summaries(replace(run, trials=crowded))
    assert not reading(swept_summaries[1], "b", "throughput").counts
    assert reading(swept_summaries[0], "b", "throughput").counts
    report = document(conclude_sweep(swept_summaries))
    assert report.tables[0].rows[1][2].text == "-"
    assert any(note.startswith("machine (b at 20, 5/5)") for note in report.notes)


def test_a_run_that_ended_early_says_what_is_missing():
    """All finished trials are shown; the note names the values that lack some."""
    run = swept(a=(2000, 2000), b=(1000, 6000), values=("1", "20"))
    kept = [
        t for t in run.trials if not (t.slot.block == 4 and t.slot.arm.at["connections"] == "20")
    ]
    report = document(conclude_sweep(summaries(replace(run, trials=tuple(kept)))))
    assert (
        "Trials are missing because the run ended early: connections 20 has 12 of 15."
        in report.notes
    )


def test_the_chart_is_described_for_whoever_cannot_see_it(crossing):
    """With the ends of each line; the page holds it, and the tables below."""
    picture = figures.of_sweep(conclude_sweep(crossing))
    assert picture.title == "What connections changed"
    assert picture.description.startswith("By connections, from 1 to 1000. ")
    assert " a, requests/s: " in picture.description
    page = html_page.render_sweep(conclude_sweep(crossing))
    assert page.count("<svg") == 1
    assert "<td>300</td>" in page


def test_what_the_load_limited_and_where_noise_was_is_drawn():
    """A hollow triangle is the least that it can be; a value without a passed check is grey."""
    conclusion = conclude_sweep(files.swept("payload-sizes"))
    figure = figures.of_sweep(conclusion).figure
    marks = {line.get_marker() for axes in figure.axes for line in axes.get_lines()}
    assert LEAST["marker"] in marks
    words = {text.get_text() for key in figure.legends for text in key.texts}
    assert {"at least: load generator saturated", "noise check not passed"} <= words
    grey = [patch for patch in figure.axes[0].patches if patch.get_width() > 0]
    assert len(grey) == len(conclusion.noisy) == 1


@pytest.mark.parametrize("name", ["gunicorn-connections", "outbound-connections", "db-connections"])
def test_the_values_that_are_grey_are_those_that_the_warnings_name(name):
    """One noise check for a value, by CPU per request and by requests/s where they count."""
    conclusion = conclude_sweep(files.swept(name))
    warned = [at for at, notice in conclusion.warned if isinstance(notice, Noise | NoiseUnknown)]
    assert [*conclusion.noisy] == warned


def test_the_page_of_a_sweep_opens_with_what_differs_most(crossing):
    """One sentence; all differences stand below the chart."""
    conclusion = conclude_sweep(crossing)
    page = html_page.render_sweep(conclusion)
    lead = re.search(r'<p class="lead">(.*?)</p>', page)[1].replace("\u00a0", " ")
    assert lead == first(conclusion)
    assert page.index("one core") < page.index("<svg") < page.index("What differs")


def test_a_long_name_has_room_in_the_key():
    """Each name is drawn whole."""
    name = "a-profile-with-a-long-name-and-a-few-letters-more"
    speeds = {"a": (1000, 2000, 3000, 4000), name: (4000, 3000, 2000, 1000)}
    figure = figures.of_sweep(conclude_sweep(summaries(swept(**speeds)))).figure
    figure.canvas.draw()
    names = [text for key in figure.legends for text in key.texts if text.get_text() == name]
    assert names
    assert max(text.get_window_extent().x1 for text in names) <= figure.bbox.x1


ARTICLE = ("1", "5", *map(str, range(20, 301, 20)))
"""Seventeen values that one of the articles has, close to each other at one end."""


def test_no_word_of_a_chart_is_written_over_another():
    """Values along the axis are left out where they are too close."""
    speeds = dict.fromkeys(("a", "b", "c", "d"), (2000.0,) * 17)
    figure = figures.of_sweep(conclude_sweep(summaries(swept(ARTICLE, **speeds)))).figure
    figure.canvas.draw()
    values = [label for label in figure.axes[0].get_xticklabels() if label.get_text()]
    assert [values[0].get_text(), values[-1].get_text()] == ["1", "300"]
    boxes = [label.get_window_extent() for label in values]
    assert not [1 for a, b in itertools.pairwise(boxes) if a.overlaps(b)]


def test_of_many_values_each_is_asked_for_by_itself(crossing):
    """The report shows all together, and says how to see one; the file has all of them."""
    assert len(list(documents(conclude_run(crossing)))) == 5
    assert any("--at 1`" in note for note in document(conclude_sweep(crossing)).notes)


def test_a_sweep_is_run_and_told(tmp_path):
    """One folder, its trials mixed; the overview, each value's report, and one by itself."""
    compare(
        "lab", "run", "tuned", "--sweep", "connections=1,4", *SMALL, cwd=tmp_path, also=1
    )  # fmt: skip
    (folder,) = (tmp_path / "results").iterdir()
    assert {t["slot"]["arm"] for t in trials(tmp_path)} == {"tuned@1", "tuned@4"}
    written = (folder / "summary.json").read_text()
    assert [point["load"]["connections"] for point in json.loads(written)] == [1, 4]
    assert summary_json.render(conclude_run(summaries(read_run(folder)))) == written
    report = (folder / "report.md").read_text()
    assert [line for line in report.splitlines() if line.startswith("# ")] == [
        "# fib: connections 1 to 4, 2 values",
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
    report = document(conclude_sweep(summaries(replace(run, trials=trials))))
    assert report.headline.startswith("Nothing can be compared by requests/s")
    assert report.tables == ()


def counted(counts, quantity="workers", values=("1", "2", "4"), **speeds):
    """Return what is said of a sweep over workers or threads that had *counts* in all."""
    speeds = speeds or {"a": (1000, 1900, 3600)}
    run = swept(values, name=quantity, **speeds)
    fact = {"workers": "processes", "threads": "threads"}[quantity]
    of = dict(zip(values, counts, strict=True))
    trials = tuple(replace(t, facts={fact: str(of[t.slot.arm.at[quantity]])}) for t in run.trials)
    return summaries(replace(run, trials=trials))


def drawn(swept_summaries, profile="a"):
    """Return at which values a profile's mark is full."""
    return [reading(summary, profile, "throughput").counts for summary in swept_summaries]


@pytest.mark.parametrize(
    ("counts", "full"),
    [
        ((2, 3, 5), [True, True, True]),
        # Two processes for each, as of two instances.
        ((4, 6, 10), [True, True, True]),
        # Whatever the value, the same: of none is it known.
        ((5, 5, 5), [False, False, False]),
        # It grows no further than to two.
        ((2, 3, 3), [True, True, False]),
    ],
)
def test_a_value_without_effect_does_not_count(counts, full):
    """The mark is hollow, and a note says what the probes counted."""
    swept_summaries = counted(counts)
    assert drawn(swept_summaries) == full
    notes = [
        note
        for note in document(conclude_sweep(swept_summaries)).notes
        if note.startswith("no effect")
    ]
    assert len(notes) == (not all(full))
    if counts == (2, 3, 3):
        assert "workers = 4 asks for 3 more than workers = 1, and its server had 3 " in notes[0]


def test_what_could_not_be_counted_is_not_judged():
    """A server of another user, whose processes are hidden, is drawn as any other."""
    assert drawn(summaries(swept(("1", "2"), name="workers", a=(1000, 1900)))) == [True, True]


def test_what_served_stands_beside_the_figures():
    """The processes as counted, and the memory, which is what more workers cost."""
    report = document(conclude_sweep(counted((2, 3, 5))))
    titles = [table.title for table in report.tables]
    served = next(table for table in report.tables if table.title.startswith("Processes of each"))
    assert [row[1].text for row in served.rows] == ["2", "3", "5"]
    assert "memory (PSS)" in titles
    threads = document(conclude_sweep(counted((2, 3, 5), quantity="threads"))).tables
    assert any(table.title.startswith("Threads of each server") for table in threads)


def test_each_value_is_compared_with_the_first():
    """With an interval, from the same blocks, so that one profile alone is worth a sweep."""
    report = document(conclude_sweep(counted((2, 3, 5))))
    table = next(
        t for t in report.tables if t.title == "requests/s against workers 1, profile by profile"
    )
    assert [row[0].text for row in table.rows] == ["2", "4"]
    assert all(row[1].text.endswith("better") for row in table.rows)
    assert re.search(
        r"a is better at workers 2, 4 than at 1 \(most at 4: 3\.\d+x \[", report.headline
    )
    flat = document(conclude_sweep(counted((2, 3, 5), a=(1000, 1000, 1000))))
    assert "a: no value differs measurably from workers 1 by requests/s" in flat.headline
    assert not any(
        "profile by profile" in t.title for t in document(conclude_sweep(crossed())).tables
    )


def crossed():
    """Return what is said of a sweep over connections."""
    return summaries(swept(("1", "20"), a=(2000, 2000), b=(1000, 6000)))


@pytest.mark.parametrize(("cores", "first"), [(1.0, True), (2.0, False)])
def test_one_server_core_is_said_first(cores, first):
    """It shows nothing of what more workers do on several; a sweep of connections needs no word."""
    run = swept(("1", "2"), name="workers", a=(1000, 1900))
    trials = tuple(replace(t, readings={**t.readings, "server.cores": cores}) for t in run.trials)
    headline = document(conclude_sweep(summaries(replace(run, trials=trials)))).headline
    effect = "the effect of more workers on several cores"
    opening = f"With one server core this does not show {effect}. "
    assert headline.startswith(opening) is first
    assert not document(conclude_sweep(crossed())).headline.startswith(opening)


def test_a_value_that_an_interruption_left_without_a_trial_is_said():
    """Ctrl-C in the first block: what was measured is shown, and what is missing has a note."""
    run = swept(("1", "20"), a=(2000, 2000), b=(1000, 6000))
    kept = tuple(t for t in run.trials if t.slot.arm.at["connections"] == "1")
    swept_summaries = summaries(replace(run, trials=kept))
    report = document(conclude_sweep(swept_summaries))
    assert (
        "Trials are missing because the run ended early: connections 20 has 0 of 15."
        in report.notes
    )
    assert "Ended early: 15 of 30 planned trials were measured." in report.banners
    assert sentence(conclude_sweep(swept_summaries)).endswith(
        "noise check passed at 1 of 1 value, and could not be made at 1."
    )
    assert [row[1].text for row in report.tables[0].rows][1] == "-"
    assert html_page.render_sweep(conclude_sweep(swept_summaries)).count("<svg") == 1


@pytest.mark.parametrize(
    ("swept_by", "said"),
    [
        ({"sweep": "connections=7"}, {"connections": 7}),
        ({"sweep": "rate=500/s"}, {"rate": "500/s"}),
        ({"sweep": "size=1k", "workload": "payload-10k"}, {"workload": "payload-1k"}),
    ],
)
def test_a_sweep_of_one_value_is_the_run_without_one(swept_by, said):
    """Field by field: options, and the plan with its arms, times, looks and cores."""
    one, other = (
        Job(profiles=("tuned",), seed=1, pin=False, **words) for words in (swept_by, said)
    )
    understood = [understand(job) for job in (one, other)]
    same = [
        replace(checked, options=replace(checked.options, sweep=None, load=Load()))
        for checked in understood
    ]
    assert same[0] == same[1]
    assert understood[0].options.confirm
    prepared = [
        prepare(checked.options, application(job))
        for checked, job in zip(understood, (one, other), strict=True)
    ]
    assert prepared[0] == prepared[1]


UWSGI, GUNICORN = (
    make.profile("mine"),
    make.started_by(make.profile("theirs", server="command"), ("gunicorn", "a:b")),
)


def with_options(*pairs):
    """Return a profile of uWSGI."""
    return replace(UWSGI, options=pairs)


def with_command(*words, **options):
    """Return a profile of a command."""
    pairs = (("run", json.dumps(words)), *options.items())
    return replace(make.started_by(GUNICORN, words), options=pairs)


@pytest.mark.parametrize(
    ("profile", "quantity", "why"),
    [
        (
            with_options(("cheaper", "2")),
            "workers",
            "mine has cheaper = 2, which starts and stops workers",
        ),
        (with_options(("gevent", "100")), "threads", "mine has gevent = 100, which serves"),
        (with_options(("asyncio", "2")), "threads", "mine has asyncio = 2, which serves"),
        (
            with_command("python3", "a.py", "{port}"),
            "workers",
            "theirs has no workers to vary: its",
        ),
        (
            with_command("env", "A=1", "./go"),
            "threads",
            "not contain {threads} in place of the number",
        ),
        (with_command("waitress-serve", "a:b"), "workers", "waitress-serve has no option for them"),
        (with_command("uvicorn", "a:b"), "threads", "uvicorn has no option for them"),
        (
            with_command("granian", "--interface", "asgi", "a:b"),
            "threads",
            "an ASGI application runs in an event loop",
        ),
        (
            with_command("gunicorn", "-k", "gevent", "a:b"),
            "threads",
            "its worker class, gevent, uses an event loop",
        ),
    ],
)
def test_a_profile_without_such_a_number_is_refused(profile, quantity, why):
    """In one line, with the reason."""
    with pytest.raises(UsageError, match=re.escape(why)) as raised:
        scaled(profile, quantity, 2)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("number", [0, 257])
def test_a_number_that_no_server_should_have_is_refused(number):
    """As many as a counter-run may ask for."""
    with pytest.raises(UsageError, match=f"--sweep workers={number}: between 1 and 256"):
        scaled(UWSGI, "workers", number)


@pytest.mark.parametrize(
    ("command", "quantity", "told"),
    [
        ("gunicorn -w 3 -w3 --workers=3 a:b", "workers", "gunicorn --workers 7 a:b"),
        ("env A=1 {venv}/gunicorn -w3 --threads 2 a:b", "threads",
         "env A=1 {venv}/gunicorn --threads 7 -w3 a:b"),
        ("granian --workers {workers} a:b", "workers", "granian --workers 7 a:b"),
        ("granian --interface wsgi a:b", "threads",
         "granian --blocking-threads 7 --interface wsgi a:b"),
        ("waitress-serve --threads=2 a:b", "threads", "waitress-serve --threads 7 a:b"),
        ("env WEB_CONCURRENCY={workers} ./start", "workers", "env WEB_CONCURRENCY=7 ./start"),
        ("uwsgi --ini a.ini -p 4", "workers", "uwsgi --ini a.ini --processes 7"),
        ("uwsgi a.ini", "threads", "uwsgi --ini a.ini --threads 7 --enable-threads"),
    ],
)  # fmt: skip
def test_a_command_is_told_the_number_once(command, quantity, told):
    """Behind the program, where it wins; uWSGI's last, behind its ini."""
    scaled_profile = scaled(with_command(*command.split()), quantity, 7)
    assert " ".join(scaled_profile.commands[0]) == told
    assert json.loads(dict(scaled_profile.options)["run"]) == told.split()


def test_an_ini_has_the_number_in_place_of_its_own():
    """However it is spelt; another number is another digest."""
    mine = with_options(("workers", "2"), ("threads", "3"))
    two, four = (scaled(mine, "workers", number) for number in (2, 4))
    assert dict(four.options) == {"processes": "4", "threads": "3"}
    assert four.private_copy
    assert len({mine.digest, two.digest, four.digest}) == 3
    assert dict(scaled(mine, "threads", 8).options) == {
        "workers": "2",
        "threads": "8",
        "enable-threads": "true",
    }


@pytest.mark.slow
def test_workers_are_swept_for_real(tmp_path):
    """The arms' own processes, as counted, differ by what the values differ by."""
    compare("lab", "run", "tuned", "--sweep", "workers=1,3", *SMALL, cwd=tmp_path, also=1)
    (folder,) = (tmp_path / "results").iterdir()
    low, high = summaries(read_run(folder))
    seen = [int(row.facts["processes"]) for summary in (low, high) for row in summary.rows]
    assert seen[1] - seen[0] == 2
    assert [dict(summary.run.plan.profiles[0].options)["processes"] for summary in (low, high)] == [
        "1",
        "3",
    ]
    assert "## Processes of each server as counted" in (folder / "report.md").read_text()


SEVENTEEN = tuple(map(str, range(1, 18)))
"""Values, as many as one of the articles has."""


def noisy(spread, dearer=1.0):
    """
    Return what a run of seventeen values found, of servers that are all alike.

    Args:
        spread: Of the logarithm of a trial's CPU per request.
        dearer: What the reference's second run takes beside that.
    """
    chance = np.random.default_rng(7)
    run = swept(SEVENTEEN, a=(2000,) * 17, b=(2000,) * 17)

    def told(trial):
        times = math.exp(spread * chance.standard_normal())
        times *= dearer if trial.slot.arm.role is Role.AA else 1
        changed = {
            key: value * times if key.startswith("server.cpu_") else value
            for key, value in trial.readings.items()
        }
        return replace(trial, readings=changed)

    return summaries(replace(run, trials=tuple(map(told, run.trials))))


def test_the_noise_of_a_sweep_is_judged_over_all_values():
    """One check in twenty fails by chance, and of seventeen nearly always one: that is no noise."""
    swept_summaries = noisy(0.025)
    assert 0 < sum(summary.exit_code == 3 for summary in swept_summaries) < 9
    assert exit_code(swept_summaries) == 0
    assert conclude_run(swept_summaries).status == 0
    banners = document(conclude_sweep(swept_summaries)).banners
    assert not [banner for banner in banners if "Exit status 3" in banner]
    assert "Noisy machine: the same server compared with itself" in banners[0]


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ({"spread": 0.12}, r"the noise of one value is \d+%: smaller differences cannot"),
        ({"spread": 0.001, "dearer": 1.06}, r"over all values, .* CPU per request 1.06x"),
    ],
)
def test_a_machine_too_noisy_for_a_sweep_ends_it_with_3(noise, said):
    """Where one value's noise is large, and where the same server twice is not the same."""
    swept_summaries = noisy(**noise)
    assert exit_code(swept_summaries) == 3
    first = document(conclude_sweep(swept_summaries)).banners[0]
    assert re.search(said, first)
    assert first.endswith(STATUS_3)


def test_a_run_for_large_differences_passes_with_noise_below_them():
    """What may not be overlooked is said before the run, and the same noise passes or does not."""
    swept_summaries = noisy(0.12)
    assert exit_code(swept_summaries) == 3
    run = swept_summaries[0].run
    coarse = summaries(replace(run, plan=replace(run.plan, smallest=0.2)))
    assert exit_code(coarse) == 0
    assert not [banner for banner in document(conclude_sweep(coarse)).banners if "Noisy" in banner]
    assert "for differences of 20% or more" in document(conclude_sweep(coarse)).context[0]


def test_servers_that_died_at_one_value_end_a_sweep_with_1():
    """However quiet the machine is, and whatever the other values say."""
    swept_summaries = noisy(0.001)
    assert exit_code(swept_summaries) == 0
    run = swept_summaries[0].run
    dead = tuple(
        replace(trial, windows=(), failure="the server died", failed=Failure.SERVER)
        for trial in run.trials
    )
    assert exit_code((*summaries(replace(run, trials=dead)), *swept_summaries[1:])) == 1
