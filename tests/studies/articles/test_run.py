"""`lab claims --run`: the runs that open claims need, made, interrupted and gone on with."""

from __future__ import annotations

import signal
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from lab.bench.trials.available import Installation, look
from lab.bench.trials.plan import OVERHEAD
from lab.errors import Interrupted, ServerStartError, UnmeasuredError
from studies import articles
from studies.articles import missing, show
from studies.articles.batches import Batch
from studies.articles.claim import Band, Claim
from studies.articles.command import claims_command
from studies.articles.missing import Ledger, Wanted, plan
from tests.kit import builders as make
from tests.kit.lab_process import run, started, until

LAB = """
import sys
from lab.bench.machine import project
sys.path.append(str(project.root()))
import lab.cli.options.execution
from studies import articles
from studies.articles import conditions
from lab.cli import main
from lab.bench.trials.conduct import Sizes
from studies.articles.claim import Claim

def claim(name, *asked):
    return Claim(name, "article", "it is faster", *asked, direction="above")

articles.load = lambda: (
    claim("first", "fib", "http-socket", "tuned"),
    claim("second", "hello", "tuned", "http-socket"),
    claim("third", "fib", "http-socket", "lunar"),
)
articles.stored_runs = lambda: ()
# No run of this size passes a noise check.
conditions.passed_aa = lambda *_: True
lab.cli.options.execution.DEFAULT = Sizes(1, 0.3, 0.1)
main()
"""
"""A `lab` with three claims, of which two can be asked, in runs of seconds."""

CALL = ("python", "-c", LAB, "claims", "--run")
FIRST = "lab run http-socket tuned"
SECOND = "lab run tuned http-socket --workload hello"

CLAIM = Claim("x", "article", "it is faster", "fib", "baseline", "tuned", direction="above")
FASTER = {"baseline": (2000, 4e-4), "tuned": (3000, 3e-4)}


@pytest.fixture(autouse=True)
def _processes(monkeypatch):
    """Keep a plan that is made in this process from setting the variable for the tests after it."""
    monkeypatch.setenv("PROCESSES", "2")


def folders(path, name="run.json"):
    """Return the runs below *path* that have a file of that name."""
    return sorted(file.parent.name for file in path.glob(f"results/*/{name}"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_what_was_interrupted_goes_on_and_ends(tmp_path, name):
    """A run that was whole is not repeated, one that was not is, and in the end there is none."""
    with started(*CALL, cwd=tmp_path) as lab:
        until(lambda: len(folders(tmp_path, "trials.ndjson")) == 2, "the second run")
        whole = folders(tmp_path, "summary.json")
        lab.send_signal(getattr(signal, name))
        code = lab.wait(10)
    output = (tmp_path / "output").read_text()
    assert len(whole) == 1
    assert f"  {FIRST} (about " in output
    assert f"  {SECOND} (about " in output
    if name == "SIGINT":
        assert code == 130
        left = output.partition("\nLeft, 1 run:\n")[2]
        assert left.startswith(f"  {SECOND} (about ")
        assert "\nGo on with: " in left
        assert "lab: interrupted by SIGINT" in left
    done = run(*CALL, cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    assert f"1 of 1: {SECOND}" in done.stderr
    assert f"first: inconclusive after 1 block ({whole[0]}): takes " in done.stdout
    assert "second: inconclusive after 1 block (" in done.stdout
    assert "Left" not in done.stdout
    before = folders(tmp_path)
    again = run(*CALL, cwd=tmp_path)
    assert (again.returncode, folders(tmp_path)) == (0, before), again.stderr
    assert "No run is made" in again.stdout


def test_a_budget_that_is_too_small_makes_nothing_and_says_what_is_left(tmp_path):
    """Nor is it a failure; what cannot be asked here is said, too."""
    done = run(*CALL, "--budget", "1s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not folders(tmp_path)
    assert "3 claims: 1 cannot be tested here; 2 no run yet." in done.stdout
    assert "2 runs for open claims, about " in done.stdout
    assert "\nOpen, and no run is made for it:\n  third: takes profile lunar\n" in done.stdout
    left = done.stdout.partition("\nLeft, 2 runs:\n")[2]
    assert f"  {FIRST} (about " in left
    assert "\n    first\n" in left
    assert f"  {SECOND} (about " in left
    assert left.endswith("None of them fits into 1 s: --budget gives more.\n")


def test_a_reason_is_said_once_for_all_claims_that_it_keeps_open():
    """A missing program keeps several open."""
    why = {"x": "takes a test", "y": "takes profile lunar", "z": "takes a test"}
    lines = list(missing._closing((), (), why))
    assert lines[-2:] == ["  x, z: takes a test", "  y: takes profile lunar"]


def test_a_profile_that_is_missing_here_is_said_and_the_others_are_asked(tmp_path, monkeypatch):
    """With the words of `lab list`."""
    absent = "needs granian (make peers), which is not installed"

    def looked(name):
        installation = look(name)
        return Installation(installation.profile, absent) if name == "granian" else installation

    monkeypatch.setattr(missing, "look_at_all", lambda names: [*map(looked, names)])
    other = replace(CLAIM, id="y", changed="granian")
    (ready,), why = plan([CLAIM, other], Wanted(tmp_path, 60.0))
    assert ready.batch == Batch((CLAIM,))
    assert why == {"y": f"profile granian {absent}"}
    assert plan([other], Wanted(tmp_path, 60.0)) == ([], why)


def test_a_rate_that_is_a_share_takes_its_capacity_as_well(tmp_path):
    """The run before it, of three blocks, is a part of the time that is expected."""
    near = {"band": "near", "meaning": Band("near", 0.8, 1.25)}
    equal = replace(CLAIM, id="y", metric="cpu", **near, rate="equal")
    (closed, open_loop), _ = plan([CLAIM, equal], Wanted(tmp_path, 60.0, blocks=10))
    trials = 3 * 3  # of three arms in three blocks
    seconds = 3.0 + 0.7 + OVERHEAD
    assert open_loop.seconds == pytest.approx(closed.seconds + trials * seconds)


def test_the_command_that_is_stored_makes_the_run_by_itself(tmp_path):
    """It is that of `lab run`, with what was said of all runs."""
    wanted = Wanted(tmp_path, 60.0, blocks=3, smallest=0.2, server_cores="0", generator_cores="1")
    folder = ("--results", str(tmp_path))
    assert wanted.command(Batch((CLAIM,)))[1:] == (
        "run", "baseline", "tuned", "--blocks", "3", "--smallest", "20%", "--server-cores", "0",
        "--generator-cores", "1", *folder,
    )  # fmt: skip


@pytest.fixture
def ready(tmp_path):
    """Return two runs that take ten and twenty seconds."""
    (first, second), _ = plan([CLAIM, replace(CLAIM, connections=10)], Wanted(tmp_path, 60.0))
    return [replace(first, seconds=10.0), replace(second, seconds=20.0)]


def in_time(monkeypatch, ready, budget, *outcomes):
    """Return the exit status, and the runs that were begun; each raises its outcome."""
    begun, clock, outcomes = [], [0.0], iter(outcomes)

    def now():
        clock[0] += 0.001
        return clock[0]

    def made(job, _understood):
        ready_run = next(ready_run for ready_run in ready if ready_run.asked is job)
        begun.append(ready_run)
        clock[0] += ready_run.seconds
        raise next(outcomes)

    monkeypatch.setattr(missing, "made", made)
    monkeypatch.setattr(missing, "time", SimpleNamespace(monotonic=now))
    return missing._in_time(ready, budget), begun


@pytest.mark.parametrize(("budget", "numbers"), [(9, []), (10, [0]), (29, [0]), (31, [0, 1])])
def test_a_run_is_begun_only_if_it_should_end_in_time(monkeypatch, ready, budget, numbers):
    """What those before it have taken counts."""
    failed = [UnmeasuredError("too noisy")] * 2
    status, begun = in_time(monkeypatch, ready, budget, *failed)
    assert begun == [ready[number] for number in numbers]
    assert status == (3 if numbers else 0)


@pytest.mark.parametrize(
    ("seconds", "budget", "does"),
    [
        (40.4, 40, True),
        (40.4, 39, False),
        (269.0, 240, True),
        (269.0, 239, False),
        (115, 117, True),
    ],
)
def test_a_run_fits_into_the_time_that_it_is_announced_with(ready, seconds, budget, does):
    """Whose number is rounded: who names that one as the budget gets the run."""
    assert replace(ready[0], seconds=seconds).fits(budget) is does


@pytest.mark.parametrize(
    ("budget", "said"), [(10, "Go on with: "), (9, "None of them fits into 9 s")]
)
def test_how_to_go_on_is_said_where_a_run_that_is_left_fits(ready, budget, said):
    """The same command would start nothing otherwise."""
    *_, last = missing._remaining(ready, budget)
    assert last.startswith(f"\n{said}")


def test_a_run_that_decides_nothing_changes_no_count(tmp_path, monkeypatch):
    """A noisy one stands in the folder, and its claims are not put to the test by it."""
    runs = {
        "noisy": make.ladder_run(FASTER, noise=0.2),
        "sound": make.ladder_run(FASTER),
    }
    monkeypatch.setattr(articles, "load", lambda: (CLAIM,))
    monkeypatch.setattr(articles, "stored_runs", lambda: ())
    monkeypatch.setattr(missing, "read_run", lambda folder: runs[folder.name])
    counts = []
    for name in runs:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
        counts.append(show.counts(Ledger(tmp_path).verdicts()))
    assert counts == [
        "1 claim: 1 no run yet.",
        "1 claim: 1 reproduced.",
    ]


def test_a_folder_that_is_named_counts_beside_the_stored_runs(tmp_path, monkeypatch):
    """Without --run, too."""
    monkeypatch.setattr(articles, "load", lambda: (CLAIM,))
    monkeypatch.setattr(articles, "stored_runs", lambda: ())
    monkeypatch.setattr(missing, "read_run", lambda folder: make.ladder_run(FASTER))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "run.json").touch()
    done = CliRunner().invoke(claims_command, ["--results", str(tmp_path)], standalone_mode=False)
    assert "1 claim: 1 reproduced." in done.output


def test_a_shorter_run_is_begun_where_a_longer_one_does_not_fit(monkeypatch, ready):
    """So that the time is used."""
    _, begun = in_time(monkeypatch, ready[::-1], 15, UnmeasuredError("too noisy"))
    assert begun == [ready[0]]


def test_a_run_that_fails_does_not_end_the_others(monkeypatch, ready, capsys):
    """Its error is said, and the exit status is the gravest of all."""
    errors = ServerStartError("tuned", "it did not start"), UnmeasuredError("too noisy")
    status, begun = in_time(monkeypatch, ready, 60, *errors)
    assert (status, begun) == (1, ready)
    output = capsys.readouterr().err
    assert "lab: profile tuned: it did not start" in output
    assert "lab: too noisy" in output


def test_an_interruption_ends_all_of_them(monkeypatch, ready):
    """It is none of the errors after which the next run is made."""
    with pytest.raises(Interrupted):
        in_time(monkeypatch, ready, 60, Interrupted("SIGINT"))
