"""What make's targets do: which layer of the set-up they need."""

import os
import subprocess

import pytest

from .conftest import ROOT

LAYERS = {
    "tools/setup.sh": ["setup", "compare", "serve", "image"],
    "tools/setup.sh tests": ["test", "test-slow", "check", "endure"],
}


OURS = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARGS", "QUICK", "PYTHON", "FIB_BUILD"}
"""What `make test ARGS=...` itself leaves in the environment of these tests."""


def make(*words):
    """Run make here, as from a new terminal."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return subprocess.run(
        ["make", *words],
        cwd=ROOT, env=kept, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


def layers(target):
    """Return the set-ups that a target runs when all that they read has changed."""
    changed = ("-W", "requirements/service.txt", "-W", "requirements/dev.txt")
    done = make("-n", *changed, target)
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


def test_new_tools_of_the_tests_leave_the_first_layer_alone():
    """A change of `requirements/dev.txt` compiles and installs nothing for `make compare`."""
    done = make("-n", "-o", ".venv/setup.stamp", "-W", "requirements/dev.txt", "compare")
    assert "tools/setup.sh" not in done.stdout


def test_make_lists_every_target():
    """`make` alone prints each target that is meant for people."""
    named = {line.split()[1] for line in make().stdout.splitlines()}
    assert named >= {target for targets in LAYERS.values() for target in targets}
