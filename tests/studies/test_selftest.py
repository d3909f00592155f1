"""The self-test: planted faults are made, judged, counted and shown."""

import os
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from lab.analysis.causes import CAUSES
from lab.bench.store.folder import read_json, write_json
from lab.bench.trials import runner
from lab.errors import ResultsError, UsageError
from studies.selftest import run, surroundings
from studies.selftest.cases import CASES, UNEXPLAINED
from studies.selftest.judging import case_result
from studies.selftest.result import CaseResult, EffectResult, SelfTestResult
from studies.selftest.run import examine, selftest
from studies.selftest.show import show
from studies.selftest.surroundings import lossy, lossy_problem, strangers
from tests.kit import builders
from tools.pages.proofs import selftest_text

GATES = {"errors", "starvation", "machine", "quantised"}

ROUTER = CaseResult("HTTP router", "router", "Put the router in front", {"router": 10})
MORE = EffectResult("20 % more work", "worse", "worse", (1.19, 1.18, 1.2), 10, True)


def result(*cases, effects=(MORE,), quick=False):
    """Return a stored self-test."""
    return SelfTestResult(1, quick, {"kernel": {"release": "6.8"}}, cases or (ROUTER,), effects)


def test_every_case_expects_something_that_can_be_said():
    """A cause, a gate, or that nothing explains it; and no two have the same name."""
    for case in CASES:
        assert case.expected in {*CAUSES, *GATES, UNEXPLAINED}
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_planted_profile_is_one_that_uwsgi_takes(case):
    """And obeys the port that the lab gives it."""
    (profile,) = case.plan().profiles
    assert any("{port}" in value for _, value in profile.options)


SHORT = ("HTTP router", "failing application", "nothing wrong")
"""A cause, a gate, and none; `make test-slow` makes all of the quick form."""


@pytest.mark.slow
def test_planted_faults_are_found(monkeypatch):
    """Some of the quick form's, a trial of each: real servers, the rules that judge any run."""
    monkeypatch.setattr(run, "TRIALS_QUICK", 1)
    monkeypatch.setattr(runner, "REPEATS", 0)  # a busy machine may take no longer
    names = [case.name for case in CASES if case.name in SHORT]
    selftest_result = examine(quick=True, names=names, console=Console(quiet=True))
    assert [case.name for case in selftest_result.cases] == names
    # A disturbed trial is not judged, and no disturbance hides that an application fails.
    assert [case for case in selftest_result.cases if case.wrong] == []
    assert {case.name: case.found for case in selftest_result.cases}["failing application"] == {
        "errors": 1
    }


def _crowded(cores):
    return builders.trial(readings=builders.READINGS | {"machine.foreign_cpu": cores})


SOUND, SLIGHT, SEVERE = builders.trial(), _crowded(0.15), _crowded(0.9)
"""Of a server that uses its core, while others use none, a little, or nearly all of it."""


@pytest.mark.parametrize(
    ("name", "attempts", "found", "disturbed"),
    [
        ("nothing wrong", [SOUND], {"server CPU": 1}, 0),
        ("nothing wrong", [SEVERE, SEVERE, SOUND], {"server CPU": 1}, 2),
        ("nothing wrong", [SEVERE, SEVERE, SEVERE], {}, 3),
        ("nothing wrong", [SLIGHT, SLIGHT, SLIGHT], {"server CPU": 1}, 3),
        ("nothing wrong", [builders.trial(windows=(), failure="it ended")], {"no trial": 1}, 0),
        ("strangers on the CPU", [SEVERE], {"machine": 1}, 0),
    ],
)
def test_of_a_trial_and_its_repeats_the_last_counts(name, attempts, found, disturbed):
    """Unless others had the CPU then, too, and had not been planted there."""
    (case,) = (case for case in CASES if case.name == name)
    counted = case_result(case, builders.plan(), [attempts], None)
    assert (counted.found, counted.disturbed) == (found, disturbed)
    assert [miss.found for miss in counted.misses] == [key for key in found if key == "no trial"]


def test_a_fault_that_disturbs_is_planted_once(monkeypatch):
    """To repeat its trial would change nothing: strangers are what is planted."""
    judged = []
    monkeypatch.setattr(run, "run", lambda _plan, parts, _: judged.append(parts.judge(SEVERE)))
    for name in ("nothing wrong", "strangers on the CPU"):
        (case,) = (case for case in CASES if case.name == name)
        run.measure(case, builders.plan(), ((), ()))
    assert [any(finding.gate.outside for finding in findings) for findings in judged] == [
        True,
        False,
    ]


@pytest.mark.slow
def test_the_quick_form_passes_here(tmp_path):
    """Or says that this machine was too busy to tell."""
    path = tmp_path / "selftest.json"
    assert selftest(quick=True, console=Console(quiet=True), output=path) in {0, 3}
    assert read_json(path, SelfTestResult).quick


def test_an_unknown_case_is_refused():
    """With the names that there are."""
    with pytest.raises(UsageError, match='no case "ruoter"; there are "accept queue"'):
        selftest(names=["ruoter"], console=Console(quiet=True))


@pytest.mark.parametrize(
    ("found", "status"),
    [({"router": 9, "server CPU": 1}, 0), ({"router": 8, "server CPU": 2}, 1), ({}, 3)],
    ids=["9 of 10", "8 of 10", "none"],
)
def test_nine_of_ten_must_be_right(found, status):
    """Of each case; and a case of which no valid trial is not proved."""
    assert result(ROUTER, replace(ROUTER, found=found)).status == status


@pytest.mark.parametrize(("right", "status"), [(True, 0), (False, 1), (None, 3)])
def test_planted_differences_must_be_told(right, status):
    """An open verdict proves nothing."""
    assert result(effects=(replace(MORE, right=right),)).status == status


def test_the_quick_form_forgives_one_miss():
    """With two trials of each there is no share to speak of."""
    once = replace(ROUTER, found={"router": 1, "server CPU": 1})
    assert result(once, effects=(), quick=True).status == 0
    assert result(once, once, effects=(), quick=True).status == 1


def test_a_skipped_case_does_not_count():
    """A machine without iptables can pass; the table says what was not tried."""
    skipped = replace(ROUTER, found={}, skipped="iptables is not installed")
    whole = result(ROUTER, skipped)
    assert whole.status == 0
    assert "iptables is not installed" in selftest_text(whole)


def test_a_self_test_without_a_judged_case_proves_nothing():
    """Whether the cases could not be made here, or every trial was disturbed."""
    skipped = replace(ROUTER, found={}, skipped="there is one CPU")
    for quick in (False, True):
        for case in (skipped, replace(ROUTER, found={}, disturbed=10)):
            assert result(case, effects=(), quick=quick).status == 3
    assert selftest_text(result(skipped)).startswith(
        "Not proved, too little could be judged here: 0"
    )


def test_a_result_is_stored_and_shown(tmp_path):
    """What is read equals what was written, and the page has every number."""
    path = tmp_path / "selftest.json"
    missed = replace(ROUTER, found={"router": 9, "server CPU": 1}, disturbed=2)
    write_json(path, result(missed))
    assert read_json(path, SelfTestResult) == result(missed)
    text = selftest_text(read_json(path, SelfTestResult))
    assert "| router | 9 of 10 (2 disturbed) | 1 x server CPU |" in text
    assert "1.19x [1.18, 1.2], 10 blocks" in text
    assert "Passed: 9 of 10 trials of 1 planted cases" in text
    console = Console(width=120)
    with console.capture() as shown:
        show(read_json(path, SelfTestResult), console, verbose=True)
    assert "1 x server CPU" in shown.get()


def test_what_is_no_result_is_refused(tmp_path):
    """With the file's name."""
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(ResultsError, match=r"other\.json: is no result of a self-test"):
        read_json(path, SelfTestResult)


def test_strangers_are_nobodys_children_and_leave():
    """The lab must take them for foreign, and no later trial may meet them."""
    cpu = min(os.sched_getaffinity(0))

    def spinning():
        return [p.pid for p in psutil.process_iter(["cmdline"]) if _spins(p)]

    before = set(spinning())
    with strangers((cpu,)):
        ours = set(spinning()) - before
        assert ours
        children = {child.pid for child in psutil.Process().children(recursive=True)}
        assert not ours & children
    assert not set(spinning()) - before


def _spins(process):
    return any(word.endswith("selftest/spin.py") for word in process.info["cmdline"] or ())


def test_root_without_the_right_to_a_network_is_told(monkeypatch):
    """As in most containers: a case that cannot be made is skipped, with the reason."""

    def refused():
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(surroundings.os, "geteuid", lambda: 0)
    monkeypatch.setattr(surroundings.shutil, "which", lambda name: name)
    monkeypatch.setattr(surroundings, "own_network", refused)
    assert lossy_problem() == "a network of its own is refused: Operation not permitted"


def test_a_lossy_network_is_left_again():
    """Whatever is done there, the next trial is at home."""
    if (why := lossy_problem()) is not None:
        pytest.skip(why)
    network = Path("/proc/thread-self/ns/net")
    home = network.readlink()
    with lossy():
        assert network.readlink() != home
    assert network.readlink() == home
