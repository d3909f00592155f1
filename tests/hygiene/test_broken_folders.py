"""Folders of other versions, and broken ones: refused in a line, but for a torn last line."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.kit import in_process
from tests.kit.lab_process import ROOT

STORED = ROOT / "docs" / "runs" / "lifetime"
"""A small run."""

TRIALS = "trials.ndjson"


def torn(folder):
    """Cut the last line off in its middle, as a crash does."""
    text = (folder / TRIALS).read_bytes()
    (folder / TRIALS).write_bytes(text[:-1000])


def shortened(folder):
    """Leave the last line out."""
    *lines, _ = (folder / TRIALS).read_bytes().splitlines(keepends=True)
    (folder / TRIALS).write_bytes(b"".join(lines))


def change(**changes):
    """Return what changes fields of run.json."""

    def apply(folder):
        header = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps(header | changes))

    return apply


def replace(name, content):
    """Return what gives a file other content; None removes it."""

    def apply(folder):
        if content is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content)

    return apply


def stranger(folder):
    """Let a trial be one of a profile that the run does not have."""
    lines = (folder / TRIALS).read_text().splitlines()
    trial = json.loads(lines[1])
    trial["slot"]["arm"] = "nobody"
    lines[1] = json.dumps(trial)
    (folder / TRIALS).write_text("\n".join(lines) + "\n")


def twice(folder):
    """Append the second line again, as two runs' journals put together have it."""
    lines = (folder / TRIALS).read_bytes().splitlines(keepends=True)
    (folder / TRIALS).write_bytes(b"".join([*lines, lines[1]]))


def spoil(*keys, value):
    """Return what changes a value of the second trial."""

    def apply(folder):
        lines = (folder / TRIALS).read_text().splitlines()
        trial = place = json.loads(lines[1])
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        lines[1] = json.dumps(trial)
        (folder / TRIALS).write_text("\n".join(lines) + "\n")

    return apply


WINDOW = ("windows", 0)
IMPOSSIBLE = {
    "digest": (spoil("digest", value="0" * 64), "it ran another version of .* digest 000000000000"),
    "block": (spoil("slot", "block", value=99), "block 99 of "),
    "attempt": (spoil("attempt", value=-1), "Expected `int` >= 0 - at `.*attempt`"),
    "wall": (spoil(*WINDOW, "wall", value=-3.0), "Expected `float` > 0.* - at `.*wall`"),
    "ok": (spoil(*WINDOW, "ok", value=-1), "Expected `int` >= 0 - at `.*ok`"),
    "more ok": (spoil(*WINDOW, "ok", value=9_999_999), "ok is 9,999,999, and its connections had"),
    "replies": (spoil(*WINDOW, "replies", value=[-1]), "Expected `int` >= 0 - at `.*replies"),
    "errors": (spoil(*WINDOW, "errors", value={"reset": -2}), "Expected `int` >= 0 - at `.*errors"),
    "latency": (spoil(*WINDOW, "latency", value={"100": 5}), "ok is .*, and 5 latencies"),
    "before 0": (
        spoil(*WINDOW, "latency", value={"-5": 5}),
        "Expected `int` >= 0 - at `key` in .*latency",
    ),
    "retried": (spoil(*WINDOW, "retried", value=-7), "Expected `int` >= 0 - at `.*retried"),
    "queued": (spoil(*WINDOW, "queued", value=1000), "1,000 of .* unfinished requests were queued"),
    "cpu": (spoil(*WINDOW, "cpu", value=-0.5), "Expected `float` >= 0.* - at `.*cpu"),
    "elapsed": (spoil("readings", "elapsed", value=-1), "readings: elapsed is -1"),
}
"""What is JSON of the right kind, and cannot be true: field -> how it is made, and what is said."""

THIS = "this lab reads format 3."
OLD = f"{THIS} Read it with version 0.2.0 of the lab, or run it again."

REFUSED = {
    "format 1": (change(format=1), f"run.json: is a run of format 1; {OLD}"),
    "format 2": (change(format=2), f"run.json: is a run of format 2; {OLD}"),
    "newer": (change(format=99), f"run.json: is a run of format 99; {THIS} Run it again."),
    "no format": (change(format=None), f"run.json: is a run of format None; {THIS} Run it again."),
    "no plan": (change(plan={}), "run.json: damaged: "),
    "path is a number": (change(plan={"arms": [{"profile": {"path": 1}}]}), "run.json: damaged: "),
    "empty header": (replace("run.json", b""), "run.json: damaged: "),
    "garbage header": (replace("run.json", bytes(range(256))), "run.json: damaged: "),
    "a list": (replace("run.json", b"[]"), "run.json: damaged: "),
    "brackets": (replace("run.json", b"[" * 100_000), "run.json: damaged: "),
    "no trials": (replace(TRIALS, None), "trials.ndjson: cannot be read: No such file"),
    "garbage trials": (replace(TRIALS, b"\xff\x00\n{}\n"), "trials.ndjson:1: damaged: "),
    "a line twice": (twice, "trials.ndjson:21: damaged: the trial of line 2 a second time (block"),
    "another profile": (stranger, "trials.ndjson:2: damaged: run.json has no profile nobody"),
}
COMMANDS = {
    "report": ("report", "{run}"),
    "compare": ("compare", str(STORED), "{run}"),
    "claims": ("claims", "{run}"),
}


@pytest.fixture
def copy(tmp_path):
    """Return a copy of the stored run, to be spoilt."""
    return shutil.copytree(STORED, tmp_path / "copy")


@pytest.fixture
def lab(monkeypatch, capsys):
    """Return what runs a command and gives its exit status, output and errors."""

    def run(command, folder):
        words = [word.format(run=folder) for word in COMMANDS[command]]
        return in_process.lab(monkeypatch, capsys, *words)

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_a_torn_run_says_what_it_said_before_the_tear(lab, tmp_path, command):
    """As a run without the torn trial does."""
    reports = []
    for name, change in (("torn", torn), ("shortened", shortened)):
        folder = shutil.copytree(STORED, tmp_path / name / STORED.name)
        change(folder)
        status, out, _ = lab(command, folder)
        # Its last lines name the folder.
        reports.append((status, out.replace(str(folder), "FOLDER")))
    assert reports[0] == reports[1]
    assert out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("spoil", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused(lab, copy, command, spoil, message):
    """With file, line where there is one, and reason; a traceback would come out of main()."""
    spoil(copy)
    status, out, err = lab(command, copy)
    assert (status, out) == (1, "")
    assert err.startswith(f"lab: {copy}/{message}")


@pytest.mark.parametrize(("make", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_be_true_is_refused(lab, copy, make, message):
    """With file and line, and not averaged with what can."""
    make(copy)
    status, out, err = lab("report", copy)
    assert (status, out) == (1, "")
    assert re.search(rf"^lab: {copy}/trials\.ndjson:2: damaged: .*{message}", err), err


def test_a_torn_line_is_no_line_that_is_there_twice(lab, copy):
    """What a crash left of a trial that was repeated is passed over, as any torn line is."""
    with (copy / TRIALS).open("ab") as file:
        file.write((copy / TRIALS).read_bytes().splitlines()[1][:-10])
    status, _, err = lab("report", copy)
    assert status == lab("report", STORED)[0], err


@pytest.mark.parametrize("command", ["report", "claims"])
def test_a_run_without_a_trial_is_reported(lab, copy, command):
    """As one that a SIGKILL ended in its first trial: nothing was measured."""
    (copy / TRIALS).write_bytes(b"")
    status, out, err = lab(command, copy)
    assert status in {0, 3}, err
    assert out
