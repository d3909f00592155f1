"""Profiles that did not do the same work are not compared by what it costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from lab.model.comparison import Verdict
from lab.model.plan import Load, Role
from tests.kit import builders as make
from tests.kit.said import warned

LOGGED = replace(make.FIB, work="server.logged")
COUNTED = Load(connections=100, requests=10_000, keepalive=False)


def made(logged, *, workload=LOGGED, load=None, blocks=3):
    """Return the summary of a run: profile -> bytes of log per reply; None where not read."""
    profiles = [make.profile(name) for name in logged]
    plan = make.altered(make.plan(*profiles, blocks=blocks, load=load), workload=workload)
    trials = []
    for block in range(blocks):
        roles = [(profile, Role.PROFILE) for profile in profiles] + [(profiles[0], Role.AA)]
        for position, (profile, role) in enumerate(roles):
            bytes_ = logged[profile.name]
            # 2,000 replies per second for the 2.1 s of the readings; a counted load has 4,000.
            replies = 4200 if load is None else 4000
            extra = {} if bytes_ is None else {"server.logged": bytes_ * replies}
            trial = make.trial(
                block=block,
                position=position,
                of=profile,
                role=role,
                load=load,
                readings=make.READINGS | extra,
            )
            arm = replace(trial.slot.arm, workload=workload)
            trials.append(replace(trial, slot=replace(trial.slot, arm=arm)))
    return summarise(make.run(plan, trials))


def test_work_that_one_profile_puts_off_is_found():
    """As published: the load has ended before the work of the second was due."""
    summary = made({"blocking": 190.0, "asyncio": 130.0}, load=COUNTED)
    (banner,) = [banner for banner in warned(summary) if banner.startswith("Not the same work")]
    assert "server.logged per reply is blocking 190, asyncio 130" in banner
    ratios = {
        name: summary.compare(name, "asyncio", "blocking") for name in ("throughput", "cpu", "p50")
    }
    assert {comparison.verdict for comparison in ratios.values()} == {Verdict.INVALID}
    assert summary.compare("memory", "asyncio", "blocking").ratio is not None
    assert summary.aa["cpu"].ratio is not None


@pytest.mark.parametrize(
    ("other", "same"), [(119.0, True), (84.0, True), (121.0, False), (83.0, False)]
)
def test_a_fifth_more_or_less_is_the_same(other, same):
    """In either direction, over the probes' own interval."""
    summary = made({"one": 100.0, "other": other})
    assert (summary.compare("cpu", "other", "one").ratio is not None) == same
    assert (not any("same work" in banner for banner in warned(summary))) == same


def test_only_the_profiles_that_are_apart_are_not_compared():
    """Two others of the same run did the same."""
    summary = made({"one": 100.0, "other": 50.0, "third": 101.0})
    assert summary.compare("cpu", "third", "one").ratio is not None
    assert summary.compare("cpu", "other", "third").ratio is None
    assert "one 100, other 50, third 101" in warned(summary)[-1]


@pytest.mark.parametrize("other", [None, 0.0])
def test_work_that_was_never_done_is_not_work_that_was_not_read(other):
    """Nothing is concluded from a reading that is absent; none at all is a reading."""
    summary = made({"one": 100.0, "other": other})
    assert (summary.compare("cpu", "other", "one").ratio is None) == (other == 0.0)


def test_a_workload_that_names_no_work_is_compared_as_ever():
    """A request log is a part of what is measured there."""
    summary = made({"one": 100.0, "other": 0.0}, workload=make.FIB)
    assert summary.compare("cpu", "other", "one").ratio is not None
    assert summary.warnings == ()
