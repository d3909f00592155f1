"""`lab list` shows what was measured of a profile, as long as it is the profile of today."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from lab.bench import profiles
from lab.bench.store.effects import effects
from lab.bench.store.encoding import encode
from lab.model.comparison import Estimate

FOUND = [profiles.read(name) for name in ("master", "max-worker-lifetime-delta", "http-socket")]
STEP = {"ratio": 0.44, "low": 0.42, "high": 0.46, "n": 10}


@pytest.fixture
def store(tmp_path):
    """Return a function that stores a run's summary, with whatever is to be different in it."""

    def stored(name="ladder", step=STEP, digest="", **different):
        folder = tmp_path / name
        folder.mkdir()
        made = [replace(profile, digest=digest) if digest else profile for profile in FOUND]
        run = {"plan": {"arms": [{"profile": profile} for profile in made]}}
        (folder / "run.json").write_bytes(encode(run))
        summary = {
            "exit_code": 0,
            "load": {"connections": 64},
            "path": "/9000",
            "steps": [
                {
                    "profile": "http-socket",
                    "before": "max-worker-lifetime-delta",
                    "step": {"cpu": step},
                }
            ],
        }
        (folder / "summary.json").write_text(json.dumps(summary | different))
        return tmp_path

    return stored


def test_the_effect_is_that_of_the_step(store):
    """The ratio with its interval; a profile without a measured step has none."""
    assert effects(store(), FOUND) == {"http-socket": Estimate(0.44, 0.42, 0.46, 10)}


def test_the_run_of_the_ladder_counts_before_others(store):
    """Whatever they are called, and however many pairs they have."""
    store("a", {**STEP, "ratio": 0.5, "n": 15})
    assert effects(store(), FOUND)["http-socket"].value == 0.44


def test_of_other_runs_the_first_by_name_counts(store):
    """Unless it has so few pairs that it was made to count something."""
    store("a", {**STEP, "ratio": 0.5, "n": 4})
    store("c", {**STEP, "ratio": 0.6, "n": 15})
    assert effects(store("b"), FOUND)["http-socket"].value == 0.44


@pytest.mark.parametrize(
    "different",
    [
        {"exit_code": 3},
        {"digest": "0" * 64},
        {"load": {"connections": 500, "requests": 5000}},
        {"load": {"connections": 64, "rate": 2000.0}},
        {"path": "/"},
        {"step": {"verdict": "invalid"}},
    ],
    ids=["noisy", "another profile", "counted requests", "a rate", "another path", "withheld"],
)
def test_a_run_that_says_nothing_of_it_is_not_quoted(store, different):
    """Too noisy, of another configuration or load, or without a ratio."""
    assert effects(store(**different), FOUND) == {}


def test_a_run_of_several_rates_is_not_quoted(store):
    """Its summary is a list of them."""
    folder = store()
    (folder / "ladder" / "summary.json").write_text("[{}, {}]")
    assert effects(folder, FOUND) == {}


def test_the_level_of_an_interval_is_the_run_s(store):
    """Not 95 % where a look has ended it."""
    assert effects(store(step=STEP | {"level": 0.995}), FOUND)["http-socket"].level == 0.995


def test_a_step_against_another_profile_is_not_quoted(store):
    """As in a run without the profile that it is written against."""
    folder = store()
    path = folder / "ladder" / "summary.json"
    path.write_text(re.sub('"before": "[^"]+"', '"before": "master"', path.read_text()))
    assert effects(folder, FOUND) == {}
