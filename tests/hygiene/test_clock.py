"""A wall clock that is set while a window is open is read as such, and costs the trial."""

from __future__ import annotations

import time

import pytest

from lab.analysis.gates import judge
from lab.bench.probes import clock, probes
from lab.model.protocols import Subject
from tests.kit import builders as make

SUBJECT = Subject(server=1, port=1)


def trial(**readings):
    """Return a sound trial with *readings* as well."""
    return make.trial(readings=make.READINGS | readings)


def test_every_trial_has_the_reading():
    """The probe is one of those that a run starts."""
    assert any(isinstance(probe, clock.ClockProbe) for probe in probes())


def test_a_clock_that_runs_on_was_not_set():
    """Two clocks that go alike differ by less than a tenth of the limit."""
    probe = clock.ClockProbe()
    stop = probe.start(SUBJECT)
    assert abs(stop()["machine.clock_step"]) < 0.005


@pytest.mark.parametrize("step", [-3600.0, -0.2, 0.2, 3600.0])
def test_a_step_is_read(monkeypatch, step):
    """Forwards and back, with its size."""
    probe = clock.ClockProbe()
    stop = probe.start(SUBJECT)
    real = time.time
    monkeypatch.setattr(clock.time, "time", lambda: real() + step)
    reading = stop()["machine.clock_step"]
    assert reading == pytest.approx(step, abs=0.005)


def test_a_busy_machine_is_no_step(monkeypatch):
    """When the CPU is taken away between the two clocks, they are read again."""
    probe = clock.ClockProbe()
    stop = probe.start(SUBJECT)
    real, calls = time.time, []

    def interrupted():
        calls.append(None)
        if len(calls) <= 2:
            time.sleep(0.2)
        return real()

    monkeypatch.setattr(clock.time, "time", interrupted)
    assert abs(stop()["machine.clock_step"]) < 0.005
    assert len(calls) >= 3


@pytest.mark.parametrize("when", ["start", "stop"])
def test_clocks_that_cannot_be_read_together_give_no_reading(monkeypatch, when):
    """Else the time for which the CPU was away would be taken for a step."""
    monkeypatch.setattr(clock, "ATTEMPTS", 3)
    probe, real = clock.ClockProbe(), time.time

    def interrupted():
        time.sleep(clock.USABLE + 0.01)
        return real()

    with monkeypatch.context() as busy:
        if when == "start":
            busy.setattr(clock.time, "time", interrupted)
        stop = probe.start(SUBJECT)
    if when == "stop":
        monkeypatch.setattr(clock.time, "time", interrupted)
    assert stop() == {}


@pytest.mark.parametrize("step", [-0.051, 0.051])
def test_a_step_discards_the_trial(step):
    """From 50 ms on nothing of it counts, and it is repeated."""
    (finding,) = judge(trial(**{"machine.clock_step": step}))
    assert (finding.gate.name, finding.withholds, finding.gate.outside) == ("machine", None, True)
    assert f"the wall clock jumped by {step:+.3g} s" in finding.reason


@pytest.mark.parametrize("readings", [{}, {"machine.clock_step": 0.049}])
def test_what_is_no_step_is_no_finding(readings):
    """Nor is a reading that was not taken, as in runs of before."""
    assert not [finding for finding in judge(trial(**readings)) if finding.gate.name == "machine"]
