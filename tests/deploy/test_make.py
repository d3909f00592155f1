"""What make's targets do: which layer of the set-up they need, what their exit status means."""

import os
import re
import subprocess
import tomllib

import pytest

from tests.kit.lab_process import ROOT

LAYERS = {
    "tools/setup.sh": ["setup", "compare", "serve", "image", "framework"],
    "tools/setup.sh tests": [
        "test",
        "fast",
        "test-studies",
        "t F=tests/fib",
        "coverage",
        "test-costly",
        "test-slow",
        "test-docker",
        "test-cluster",
        "lint",
        "check",
        "endure",
    ],
    "tools/setup.sh peers": ["peers", "test-peers"],
}


OURS = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARGS", "F", "QUICK", "PYTHON", "FIB_BUILD"}
"""What `make test ARGS=...` itself leaves in the environment of these tests."""


def make(*words):
    """Run make here, as from a new terminal."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return subprocess.run(
        ["make", *words],
        cwd=ROOT, env=kept, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


@pytest.fixture
def compare(tmp_path):
    """Return a function that runs `make compare` with a lab that ends as it is told."""

    def run(status, *words, ready=True):
        lab = tmp_path / "lab"
        check = f'[ "$1" != check ] || {{ echo "one core"; exit {int(not ready)}; }}'
        lab.write_text(f'#!/bin/sh\n{check}\necho "ran $*"\nexit {status}\n')
        lab.chmod(0o755)
        # -o: the set-up is taken for done.
        return make("-o", "setup", "compare", f"LAB={lab}", *words)

    return run


def layers(target):
    """Return the set-ups that a target runs when all that they read has changed."""
    changed = ("-W", "requirements/service.txt", "-W", "requirements/dev.txt")
    done = make("-n", *changed, *target.split())
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("tools/setup.sh")]


@pytest.mark.parametrize("target", LAYERS["tools/setup.sh"])
def test_who_runs_or_compares_needs_no_tools_of_the_tests(target):
    """What only tests need is not installed for `make compare`."""
    assert layers(target) == ["tools/setup.sh"]


@pytest.mark.parametrize("target", LAYERS["tools/setup.sh tests"])
def test_who_tests_needs_both_layers(target):
    """First what runs, then what tests it."""
    assert layers(target) == ["tools/setup.sh", "tools/setup.sh tests"]


@pytest.mark.parametrize("target", LAYERS["tools/setup.sh peers"])
def test_who_runs_peers_needs_their_layer(target):
    """It looks each time what is missing, as nginx may be; beside it only what the target needs."""
    tests = ["tools/setup.sh tests"] if target.startswith("test") else []
    assert layers(target) == ["tools/setup.sh", *tests, "tools/setup.sh peers"]
    assert "tools/setup.sh peers\n" in make("-n", target).stdout


def test_what_make_fast_leaves_out_is_there():
    """A folder or a file that moved would be run, or its tests lie elsewhere."""
    command = make("-n", "-o", ".venv/tests.stamp", "fast").stdout
    left_out = re.findall(r"--ignore=(\S+)", command)
    assert len(left_out) > 50
    assert [path for path in left_out if not (ROOT / path).exists()] == []


def test_new_tools_of_the_tests_leave_the_first_layer_alone():
    """A change of `requirements/dev.txt` compiles and installs nothing for `make compare`."""
    rules = make("-n", "--print-data-base", "setup").stdout
    [read] = re.findall(r"^\.venv/setup\.stamp: (.*)", rules, re.MULTILINE)
    assert "requirements/locust.txt" in read.split()
    assert "requirements/dev.txt" not in read.split()


@pytest.mark.parametrize("words", [(), ("QUICK=1",)])
def test_a_noisy_machine_is_no_failure_of_make_compare(compare, words):
    """Status 3 of `lab run` ends with 0, and with one line that says what it means."""
    done = compare(3, *words)
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith("compare: done, but this machine was too noisy, or too few valid trials")
    assert "(status 3 of lab run)" in line
    assert line.endswith("make compare ARGS='--minutes 30'")


def test_a_machine_that_is_not_ready_is_named_before_the_run_of_make_compare(compare):
    """As `lab check` names it; of a ready machine nothing is printed."""
    done = compare(0, ready=False)
    assert (done.returncode, done.stdout.split("\n")[:2]) == (0, ["one core", "ran run"])
    assert "compare: this machine is not ready to measure (above)" in done.stderr


@pytest.mark.parametrize("status", [1, 2, 99, 130])
def test_every_other_status_is_an_error_of_make_compare(compare, status):
    """A broken server, wrong usage, a crossed limit, an interruption: make fails and says which."""
    done = compare(status)
    assert done.returncode == 2
    assert f"Error {status}" in done.stderr
    assert "compare:" not in done.stderr.replace("compare] Error", "")


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        ((), "ran run"),
        (("QUICK=1",), "ran run --quick"),
        (("QUICK=1", "ARGS=tuned --blocks 2"), "ran run --quick tuned --blocks 2"),
    ],
)
def test_what_make_compare_is_told_reaches_the_lab(compare, words, ran):
    """QUICK=1 is `--quick`, and ARGS are what they say; it ends with 0 and no word of its own."""
    done = compare(0, *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, ran + "\n", "")


def test_make_lists_every_target():
    """`make` alone prints each target that is meant for people."""
    named = {line.split()[1] for line in make().stdout.splitlines()}
    assert named >= {target.split()[0] for targets in LAYERS.values() for target in targets}


def test_ci_runs_all_tests_though_make_test_leaves_some_out():
    """Three targets share them; CI runs these, `make check` does as much."""
    whole, rest, product, costly, studies = (
        line.rstrip().partition(" -m pytest ")[2]
        for target, lines in {"check": 2, "test": 1, "test-costly": 1, "test-studies": 1}.items()
        for line in make("-n", target).stdout.splitlines()[-lines:]
    )
    assert product == f"{whole} --ignore=tests/studies"
    assert costly == f"{rest} --ignore=tests/studies"
    assert rest == f"{whole} -m 'costly and not slow'"
    assert studies == f"{whole} tests/studies"
    addopts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert "-m 'not costly and not slow and" in addopts["addopts"]
    steps = (ROOT / ".ci" / "run").read_text()
    assert all(f"make {target} ||" in steps for target in ("test", "test-costly", "test-studies"))
