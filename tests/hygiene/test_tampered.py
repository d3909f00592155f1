"""Runs that somebody has changed: they are refused, or read; nothing else comes of them."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from lab.analysis.comparable import MismatchError, require_comparable
from lab.analysis.points import summaries
from lab.analysis.sweep import conclude_run
from lab.bench.store.folder import read_run
from lab.errors import LabError, ResultsError
from lab.report import markdown, opening
from lab.report.files import files
from lab.report.sweep import documents
from lab.report.terminal import render_document
from tests.kit.lab_process import ROOT
from tests.kit.tampered import Tampered, Tamperer

STORED = [
    ROOT / "docs/runs" / name
    for name in (
        "lifetime", "keep-alive", "open-loop", "echo-sizes", "walkthrough", "numbers",
        "tuned-granian-close", "payload-rate",
    )
]  # fmt: skip
"""A closed loop, one of minutes with a counter-run, an open loop at several rates, a sweep, a
counted load, peers, a short one, and an open loop at one rate."""

NO_NUMBER = re.compile(r"(?<![\w./-])(?:nan|inf)(?![\w./-])", re.IGNORECASE)
NEXT_STEPS = opening.NextSteps("lab", "run")
SEED = 47


def outcome(run: Tampered, folder: Path, *, whole: bool) -> str:
    """
    Return what comes of a run that is read and reported: "read", "refused", or what is wrong.

    Args:
        run: What is read.
        folder: Where it is written.
        whole: Whether pages and figures are made of it as well.
    """
    run.write(folder)
    try:
        conclusion = conclude_run(summaries(read_run(folder)))
        texts = [markdown.render(conclusion)]
        texts += map(render_document, documents(conclusion))
        texts += map(render_document, opening.documents(conclusion, NEXT_STEPS))
        if whole:
            texts += [text for name, text in files(conclusion) if not name.endswith("html")]
    except LabError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - it is what is looked for
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = trace and f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        return f"{type(error).__name__} at {place}"
    if any(match := NO_NUMBER.search(text) for text in texts):
        return (
            f"no number: {match and match.string[max(0, match.start() - 60) : match.end() + 20]!r}"
        )
    return "read, and contradicts itself" if run.contradicts else "read"


def judged(count: int, folder: Path, *, whole: bool) -> Counter[tuple[str, str]]:
    """Return how often each kind of change had which outcome, in *count* runs."""
    outcomes: Counter[tuple[str, str]] = Counter()
    wrong = []
    for number, stored in enumerate(STORED):
        share = count // len(STORED) + (number < count % len(STORED))
        for run in Tamperer(stored, SEED).runs(share):
            result = outcome(run, folder, whole=whole)
            outcomes[run.kind, result] += 1
            if result not in ("read", "refused"):
                wrong.append(f"{stored.name}: {run.change}: {result}")
    assert not wrong, "\n".join(wrong)
    return outcomes


@pytest.mark.costly
def test_a_tampered_run_is_refused_or_read(tmp_path):
    """Nothing but an error of the lab's comes of it, and no figure that is no number."""
    outcomes = judged(60, tmp_path / "run", whole=False)
    assert {result for _, result in outcomes} == {"read", "refused"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_thousand_tampered_runs_are_refused_or_read(tmp_path):
    """The same in each form of a report."""
    judged(2000, tmp_path / "run", whole=True)


@pytest.fixture
def run(tmp_path):
    """Return a copy of a stored run."""
    return Path(shutil.copytree(STORED[0], tmp_path / "run"))


@pytest.mark.parametrize("name", ["run.json", "trials.ndjson"])
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "folder", "bytes"])
def test_a_file_that_is_none_of_a_run_is_refused(run, name, kind):
    """It neither waits for a pipe's writer, nor fills the memory; and text is UTF-8."""
    file = run / name
    content = file.read_bytes()
    file.unlink()
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case "bytes":
            file.write_bytes(content.replace(b'"', b'"\xff\xfe', 1))
        case _:
            file.symlink_to(kind)
    with pytest.raises(ResultsError, match=name):
        read_run(run)


def change(run, line, **readings):
    """Change readings of a trial, by its line from 0."""
    trials = run / "trials.ndjson"
    lines = [json.loads(text) for text in trials.read_text().splitlines()]
    lines[line]["readings"].update(readings)
    trials.write_text("".join(json.dumps(trial) + "\n" for trial in lines))


@pytest.mark.parametrize(
    ("readings", "says"),
    [
        ({"server.cpu_user": 50.0}, "the server used"),
        ({"machine.foreign_cpu": 40.0}, "server, load and others used"),
        ({"server.cores": 2.5, "machine.cores": 2.0}, "server.cores is 2.5, and machine.cores 2"),
        ({"machine.idle": 9.0}, "cores were busy, idle or stolen"),
        ({"machine.busy": -1.9}, "machine.busy is -1.9"),
        ({"pressure.cpu_some": -0.74}, "pressure.cpu_some is -0.74"),
    ],
)
def test_readings_that_contradict_each_other_are_refused(run, readings, says):
    """With the line, and both figures."""
    change(run, 3, **readings)
    with pytest.raises(ResultsError, match=rf"trials.ndjson:4: damaged: readings: .*{says}"):
        read_run(run)


def test_what_a_hypervisor_took_is_counted_in_cores(run):
    """It is stored as a share: a machine that lost half of its time had half a core too few."""
    readings = json.loads((run / "trials.ndjson").read_text().splitlines()[3])["readings"]
    change(run, 3, **{"machine.idle": readings["machine.idle"] - 1.02, "machine.steal": 0.51})
    read_run(run)


@pytest.mark.parametrize("gone", [0, 2, 5])
def test_a_trial_that_was_taken_out_is_missed(run, gone):
    """Or one could choose which of them count; a run that was interrupted lacks only the last."""
    trials = run / "trials.ndjson"
    lines = trials.read_text().splitlines(keepends=True)
    trials.write_text("".join(lines[:gone] + lines[gone + 1 :]))
    with pytest.raises(
        ResultsError, match=rf"trials.ndjson:{gone + 1}: damaged: a trial is missing"
    ):
        read_run(run)
    trials.write_text("".join(lines[:-2]))
    assert len(read_run(run).trials) == len(lines) - 2


@pytest.mark.parametrize("limit", ["cpu\n::error::x", "cpu(nobody/http) > 1.05", ""])
def test_a_stored_limit_that_is_none_is_refused_in_a_line(run, limit):
    """It was shown with a pointer below it, as what is typed, and its line ends were its own."""
    header = json.loads((run / "run.json").read_text())
    header["plan"]["thresholds"] = [limit]
    (run / "run.json").write_text(json.dumps(header))
    with pytest.raises(ResultsError, match=r"damaged: plan\.thresholds: --fail-if: ") as error:
        conclude_run(summaries(read_run(run)))
    assert len(str(error.value).splitlines()) == 1


def test_a_difference_of_two_runs_is_told_in_a_line(run):
    """A stored text began a line of its own in it."""
    header = json.loads((run / "run.json").read_text())
    for facts in header["environments"].values():
        facts["cpu"]["model"] = "x\n::error::y"
    (run / "run.json").write_text(json.dumps(header))
    with pytest.raises(MismatchError) as error:
        require_comparable(read_run(STORED[0]), read_run(run))
    assert [line for line in str(error.value).splitlines() if line.startswith("::")] == []


def edit(run, place, value):
    """Put a value into the window of a trial, or into the trial: those of the first profile."""
    trials = run / "trials.ndjson"
    lines = [json.loads(text) for text in trials.read_text().splitlines()]
    for trial in lines:
        (trial if place in trial else trial["windows"][0])[place] = value
    trials.write_text("".join(json.dumps(trial) + "\n" for trial in lines))


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        ("failed", "server", r"it failed \(server\), and no failure says why"),
        ("wait", 1e3, "its process ran or waited for"),
        ("connections", 10**9, "1,000,000,000 connections were opened, for"),
        ("unfinished", 10**9, "1,000,000,000 requests were unfinished, on 64 connections"),
        ("received", 100, "of 164 bytes received are of correct replies"),
    ],
)
def test_a_trial_that_cannot_be_is_refused(run, place, value, says):
    """Each of these was counted, or shown."""
    edit(run, place, value)
    with pytest.raises(ResultsError, match=rf"trials.ndjson:1: damaged: .*{says}"):
        read_run(run)


def test_a_reply_may_have_had_its_last_byte_before_the_window(run):
    """It ends with its connection, so there may be one for each connection."""
    window = {"received": 0, "ok": 9, "replies": [9, *[0] * 63], "latency": {"1000": 9}}
    sent = {"connections": 9, "retried": 0, "unfinished": 0}
    for place, value in {**window, **sent, "latency_sum": 0.009}.items():
        edit(run, place, value)
    read_run(run)


def test_a_queue_that_no_rate_makes_is_refused(tmp_path):
    """A request leaves it after the timeout of the load."""
    run = Path(shutil.copytree(ROOT / "docs/runs/open-loop", tmp_path / "run"))
    edit(run, "queued", 10**9)
    edit(run, "unfinished", 10**9)
    with pytest.raises(
        ResultsError, match=r"1,000,000,000 requests were queued, and [\d,]+ were due"
    ):
        read_run(run)


def test_each_reply_needs_a_connection_without_keep_alive(tmp_path):
    """None was opened, beside thousands of replies."""
    run = Path(shutil.copytree(ROOT / "docs/runs/tuned-granian-close", tmp_path / "run"))
    edit(run, "connections", 0)
    with pytest.raises(ResultsError, match="on 0 opened connections of one request each"):
        read_run(run)


def test_a_trial_that_was_left_out_has_no_windows(run):
    """It was counted as a valid one."""
    edit(run, "failed", "left out")
    edit(run, "failure", "not started again")
    with pytest.raises(ResultsError, match=r"it failed \(left out\), which leaves no windows"):
        read_run(run)


def named(header):
    """Return the name of the plan's first profile."""
    return header["plan"]["arms"][0]["profile"]["name"]


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (lambda run: run.update(skipped={named(run): "no such"}), "is among what was not run"),
        (
            lambda run: run["plan"].update(server_cores="0-99999999"),
            "its server_cores are 100,000,000 CPUs, and its machine has 2",
        ),
        (lambda run: run["plan"].update(window=1e-9), "its window is 1e-09 s: no run has one"),
        (lambda run: run["plan"].update(server_cores="all"), "its server_cores are no list of CPU"),
    ],
)
def test_a_header_that_contradicts_the_run_is_refused(run, tamper, says):
    """In a sentence."""
    header = json.loads((run / "run.json").read_text())
    tamper(header)
    (run / "run.json").write_text(json.dumps(header))
    with pytest.raises(ResultsError, match=says):
        read_run(run)
